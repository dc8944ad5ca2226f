import { useEffect, useRef, useState } from 'preact/hooks'
import { api, type Schema } from '../../lib/api.ts'
import { holdDirty } from '../../lib/dirty.ts'
import { download } from '../../lib/download.ts'
import { bytes, percent } from '../../lib/format.ts'
import { notify } from '../../lib/notices.ts'
import { upload } from '../../lib/upload.ts'
import { c } from '../../lib/words/common.ts'
import { State } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { FileField } from '../../ui/fields.tsx'
import { Section } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { handedIn, type Item, missingOf, typeNames, typeOf, unfit } from './application.domain.ts'
import { w } from './words.ts'

type Application = Schema<'LendingApplication'>
type Document = Schema<'LendingDocument'>

const pathOf = (id: string, key: string) => `/lending-application/${encodeURIComponent(id)}/documents/${encodeURIComponent(key)}`
/** As the checklist says it: its megabytes are of 1,048,576 bytes. */
const sizeText = ({ maxSizeMb }: Item) => bytes(maxSizeMb * 1_000_000)

/** The checklist: what is asked for, what is there, and where each file goes. */
export function Documents({
  application,
  items,
  onChanged,
}: {
  application: Application
  items: readonly Item[]
  onChanged: () => Promise<void>
}) {
  const there = handedIn(application)
  const required = items.filter((item) => item.required).length
  const done = required - missingOf(items, there).length
  return (
    <Section title={w('documents')} hint={w('documentsHint')} wide>
      <p role="status">{w('progress', { n: required, done })}</p>
      <ul class="documents" aria-label={w('documents')}>
        {items.map((item) => (
          <Asked key={item.key} application={application} item={item} isThere={there.has(item.key)} onChanged={onChanged} />
        ))}
      </ul>
    </Section>
  )
}

type AskedProps = { application: Application; item: Item; isThere: boolean; onChanged: () => Promise<void> }

function Asked({ application: { id, status }, item, isThere, onChanged }: AskedProps) {
  const { key, label, description, required } = item
  const [sent, setSent] = useState<Document | undefined>(undefined)
  const isDraft = status === 'DRAFT'
  // Once submitted, what is missing may be added, and nothing replaced.
  const mayHandIn = isDraft || ((status === 'SUBMITTED' || status === 'UNDER_REVIEW') && !isThere)
  async function remove(): Promise<void> {
    const body = <p>{w('removeText', { what: label })}</p>
    if (!(await confirm({ title: w('removeTitle'), body, action: c('remove'), danger: true }))) return
    await api.DELETE('/lending-application/{id}/documents/{key}', { params: { path: { id, key } } })
    setSent(undefined)
    await onChanged()
  }
  async function onSent(document: Document): Promise<void> {
    setSent(document)
    notify(w('uploaded', { what: label }))
    await onChanged()
  }
  return (
    <li>
      <div>
        <h3>
          <bdi>{label}</bdi>
        </h3>
        <p class="hint">
          <bdi>{description}</bdi>
        </p>
        <p class="row">
          {isThere ? (
            <State of="OK" text={w('handedIn')} />
          ) : (
            <State of={required ? 'PENDING' : 'NONE'} text={w(required ? 'missing' : 'notNeeded')} />
          )}
          <small class="faint">{w(required ? 'required' : 'optional')}</small>
          {isThere && sent?.originalName && (
            <small>
              <bdi>{sent.originalName}</bdi>, {bytes(sent.size)}
            </small>
          )}
        </p>
        {isThere && (
          <div class="row tight">
            <Button kind="quiet" icon="download" onPress={() => download(pathOf(id, key), key)}>
              {w('download')}
              <span class="unseen">: {label}</span>
            </Button>
            {isDraft && (
              <Button kind="quiet" icon="close" onPress={remove}>
                {c('remove')}
                <span class="unseen">: {label}</span>
              </Button>
            )}
          </div>
        )}
      </div>
      {mayHandIn && <HandIn id={id} item={item} isThere={isThere} onSent={onSent} />}
    </li>
  )
}

type HandInProps = { id: string; item: Item; isThere: boolean; onSent: (document: Document) => Promise<void> }

/** Takes one file, says how far it is, and what went wrong with it. */
function HandIn({ id, item, isThere, onSent }: HandInProps) {
  const { key, label } = item
  const [part, setPart] = useState<number | undefined>(undefined)
  const [error, setError] = useState<unknown>(undefined)
  const last = useRef<File | undefined>(undefined)
  const stopping = useRef<AbortController | undefined>(undefined)
  const name = useRef(Symbol('document'))
  useEffect(
    () => () => {
      stopping.current?.abort()
      holdDirty(name.current, false)
    },
    [],
  )
  async function send(file: File): Promise<void> {
    last.current = file
    const why = unfit(file, item)
    if (why) {
      last.current = undefined
      return setError(new Error(why === 'tooLarge' ? c('tooLarge', { max: sizeText(item) }) : w(why, { types: typeNames(item) })))
    }
    const stop = new AbortController()
    stopping.current = stop
    setError(undefined)
    setPart(0)
    holdDirty(name.current, true)
    try {
      const document = await upload<Document>(pathOf(id, key), file, {
        method: 'PUT',
        type: typeOf(file),
        signal: stop.signal,
        onProgress: setPart,
        // Headers hold Latin letters only.
        headers: { 'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(file.name)}` },
      })
      await onSent(document)
    } catch (refusal) {
      if (!stop.signal.aborted) setError(refusal)
    } finally {
      holdDirty(name.current, false)
      setPart(undefined)
    }
  }
  const again = last.current
  return (
    <div class="stack">
      {part === undefined ? (
        <FileField
          label={`${w('file')}: ${label}`}
          accept={item.acceptedMimeTypes.join(',')}
          onFiles={([file]) => file && void send(file)}
          hint={[w('takes', { types: typeNames(item), max: sizeText(item) }), isThere && w('replaceHint')].filter(Boolean).join('. ')}
        />
      ) : (
        <div class="row">
          <progress value={part} max={1} aria-label={`${label}: ${c('sending', { percent: percent(part) })}`} />
          <Button kind="quiet" icon="close" onPress={() => stopping.current?.abort()}>
            {w('stop')}
          </Button>
        </div>
      )}
      {error !== undefined && <Problem error={error} {...(again && { retry: () => send(again) })} />}
    </div>
  )
}
