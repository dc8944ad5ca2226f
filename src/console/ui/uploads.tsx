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
  readonly fraction: number
  readonly error?: unknown
  readonly media?: Media
  readonly wasStored?: boolean
}

const pictureTypes = 'image/jpeg,image/png,image/webp,image/gif,image/avif'
/** The API's limit. */
const bytesMax = 10 * 1024 * 1024
const bytesText = () => bytes(10_000_000)
const parallelMax = 3

/** @param onDone called with each stored picture, in the chosen order; `wasStored` if it was stored before */
export function Uploads({
  label,
  onDone,
  single,
  hint,
}: {
  label: string
  onDone: (media: Media, details: { name: string; wasStored: boolean }) => void
  single?: boolean
  hint?: string
}) {
  const [, redraw] = useState(0)
  const jobs = useRef<readonly UploadJob[]>([])
  const lastId = useRef(0)
  const controllers = useRef(new Map<number, AbortController>())
  const latest = useRef(onDone)
  latest.current = onDone

  function setJobs(next: readonly UploadJob[]): void {
    // Reports pictures in order, once none before them is in progress.
    let rest = next
    while (rest.some(({ state }) => state === 'done')) {
      const index = rest.findIndex(({ state }) => state !== 'failed')
      const first = rest[index]
      if (first?.state !== 'done' || !first.media) break
      latest.current(first.media, { name: first.file.name, wasStored: first.wasStored ?? false })
      rest = rest.filter((job) => job !== first)
    }
    jobs.current = rest
    redraw((count) => count + 1)
  }
  const change = (id: number, change: Partial<UploadJob>) =>
    setJobs(jobs.current.map((job) => (job.id === id ? { ...job, ...change } : job)))
  function startWaiting(): void {
    const sending = jobs.current.filter(({ state }) => state === 'sending').length
    for (const job of jobs.current.filter(({ state }) => state === 'waiting').slice(0, Math.max(0, parallelMax - sending))) void send(job)
  }
  async function send({ id, file }: UploadJob): Promise<void> {
    const controller = new AbortController()
    controllers.current.set(id, controller)
    change(id, { state: 'sending', fraction: 0, error: undefined })
    try {
      if (file.size > bytesMax) throw new ApiError(413, common('tooLarge', { max: bytesText() }), undefined, null, null)
      const { known, ...media } = await upload<Schema<'UploadedMedia'>>('/media', file, {
        type: file.type || 'application/octet-stream',
        signal: controller.signal,
        onProgress: (fraction) => change(id, { fraction }),
      })
      change(id, { state: 'done', media, wasStored: known })
    } catch (error) {
      if (!controller.signal.aborted) change(id, { state: 'failed', error })
    } finally {
      controllers.current.delete(id)
      startWaiting()
    }
  }
  function add(files: readonly File[]): void {
    const newJobs = files.map((file): UploadJob => ({ id: ++lastId.current, file, state: 'waiting', fraction: 0 }))
    setJobs([...jobs.current, ...newJobs])
    startWaiting()
  }
  function removeJob(id: number): void {
    controllers.current.get(id)?.abort()
    setJobs(jobs.current.filter((job) => job.id !== id))
    startWaiting()
  }
  function retry(id: number): void {
    change(id, { state: 'waiting', error: undefined })
    startWaiting()
  }
  useDirty(
    jobs.current.some(({ state }) => state === 'waiting' || state === 'sending'),
    'upload',
  )
  useEffect(
    () => () => {
      for (const controller of controllers.current.values()) controller.abort()
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
          {jobs.current.map(({ id, file, state, fraction, error }) => (
            <li key={id} class="upload">
              <span class="upload-name">
                <bdi>{file.name}</bdi> <span class="faint">{bytes(file.size)}</span>
              </span>
              {state === 'failed' ? (
                <div role="alert">
                  <ErrorText error={error} />
                </div>
              ) : (
                <progress value={fraction} max={1} aria-label={`${file.name}: ${common('sending', { percent: percent(fraction) })}`} />
              )}
              <span class="row tight">
                {state === 'failed' && <Button kind="quiet" onPress={() => retry(id)} text={common('retry')} />}
                <Button kind="quiet" icon="close" label={`${common('remove')}: ${truncate(file.name)}`} onPress={() => removeJob(id)} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
