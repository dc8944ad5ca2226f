/** Uploads pictures, several at once, with progress, errors and retry. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Schema } from '../lib/api/api.ts'
import { ApiError } from '../lib/api/api-error.ts'
import { upload } from '../lib/api/upload.ts'
import { bytes, percent } from '../lib/format/format.ts'
import { truncate } from '../lib/format/truncate.ts'
import { common } from '../lib/i18n/common.ts'
import { useDirty } from '../lib/session/use-unsaved-changes.ts'
import { Button } from './button.tsx'
import { ErrorText } from './error-message.tsx'
import { FileField } from './fields.tsx'

type Media = Schema<'Media'>
type UploadJob = {
  readonly id: number
  readonly file: File
  readonly state: 'waiting' | 'sending' | 'failed' | 'done'
  readonly part: number
  readonly error?: unknown
  readonly media?: Media
  readonly isKnown?: boolean
}

const pictureTypes = 'image/jpeg,image/png,image/webp,image/gif,image/avif'
/** The API's limit. */
const bytesMax = 10 * 1024 * 1024
const bytesText = () => bytes(10_000_000)
const atOnce = 3

/** @param onDone called with each stored picture, in the chosen order; `isKnown` if it was stored before */
export function Uploads({
  label,
  onDone,
  single,
  hint,
}: {
  label: string
  onDone: (media: Media, of: { name: string; isKnown: boolean }) => void
  single?: boolean
  hint?: string
}) {
  const [, redraw] = useState(0)
  const jobs = useRef<readonly UploadJob[]>([])
  const made = useRef(0)
  const stopping = useRef(new Map<number, AbortController>())
  const latest = useRef(onDone)
  latest.current = onDone

  function put(next: readonly UploadJob[]): void {
    // Reports pictures in order, once none before them is in progress.
    let rest = next
    while (rest.some(({ state }) => state === 'done')) {
      const at = rest.findIndex(({ state }) => state !== 'failed')
      const first = rest[at]
      if (first?.state !== 'done' || !first.media) break
      latest.current(first.media, { name: first.file.name, isKnown: first.isKnown ?? false })
      rest = rest.filter((job) => job !== first)
    }
    jobs.current = rest
    redraw((count) => count + 1)
  }
  const change = (id: number, change: Partial<UploadJob>) => put(jobs.current.map((job) => (job.id === id ? { ...job, ...change } : job)))
  function work(): void {
    const sending = jobs.current.filter(({ state }) => state === 'sending').length
    for (const job of jobs.current.filter(({ state }) => state === 'waiting').slice(0, Math.max(0, atOnce - sending))) void send(job)
  }
  async function send({ id, file }: UploadJob): Promise<void> {
    const stop = new AbortController()
    stopping.current.set(id, stop)
    change(id, { state: 'sending', part: 0, error: undefined })
    try {
      if (file.size > bytesMax) throw new ApiError(413, common('tooLarge', { max: bytesText() }), undefined, null, null)
      const { known, ...media } = await upload<Schema<'UploadedMedia'>>('/media', file, {
        type: file.type || 'application/octet-stream',
        signal: stop.signal,
        onProgress: (part) => change(id, { part }),
      })
      change(id, { state: 'done', media, isKnown: known })
    } catch (error) {
      if (!stop.signal.aborted) change(id, { state: 'failed', error })
    } finally {
      stopping.current.delete(id)
      work()
    }
  }
  function add(files: readonly File[]): void {
    const fresh = files.map((file): UploadJob => ({ id: ++made.current, file, state: 'waiting', part: 0 }))
    put([...jobs.current, ...fresh])
    work()
  }
  function drop(id: number): void {
    stopping.current.get(id)?.abort()
    put(jobs.current.filter((job) => job.id !== id))
    work()
  }
  function retry(id: number): void {
    change(id, { state: 'waiting', error: undefined })
    work()
  }
  useDirty(
    jobs.current.some(({ state }) => state === 'waiting' || state === 'sending'),
    'on its way',
  )
  useEffect(
    () => () => {
      for (const stop of stopping.current.values()) stop.abort()
    },
    [],
  )
  return (
    <div class="stack">
      <FileField
        label={label}
        accept={pictureTypes}
        multiple={!single}
        onFiles={add}
        hint={hint ?? common('pictureHint', { max: bytesText() })}
      />
      {jobs.current.length > 0 && (
        <ul class="stack" aria-label={label}>
          {jobs.current.map(({ id, file, state, part, error }) => (
            <li key={id} class="upload">
              <span class="upload-name">
                <bdi>{file.name}</bdi> <span class="faint">{bytes(file.size)}</span>
              </span>
              {state === 'failed' ? (
                <div role="alert">
                  <ErrorText error={error} />
                </div>
              ) : (
                <progress value={part} max={1} aria-label={`${file.name}: ${common('sending', { percent: percent(part) })}`} />
              )}
              <span class="row tight">
                {state === 'failed' && <Button kind="quiet" onPress={() => retry(id)} text={common('retry')} />}
                <Button kind="quiet" icon="close" label={`${common('remove')}: ${truncate(file.name)}`} onPress={() => drop(id)} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
