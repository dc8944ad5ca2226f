import { useEffect, useRef, useState } from 'preact/hooks'
import { api, ok, type Schema } from '../../lib/api/api.ts'
import { ApiError } from '../../lib/api/api-error.ts'
import { download } from '../../lib/api/download.ts'
import type { Resource } from '../../lib/api/resource.ts'
import { upload } from '../../lib/api/upload.ts'
import { bytes, moment, percent } from '../../lib/format/format.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { useDirty } from '../../lib/session/use-unsaved-changes.ts'
import { Button } from '../../ui/button.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { ErrorMessage } from '../../ui/error-message.tsx'
import { FileField } from '../../ui/fields.tsx'
import { saveVersioned } from '../../ui/form.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Section } from '../../ui/page.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { handedIn, type Item, missingOf, typeNames, typeOf, unfit } from './application.domain.ts'
import { t } from './i18n.ts'
import type { Held } from './versioned-application.ts'

type Document = Schema<'LendingDocument'>

const pathOf = (id: string, key: string) => `/lending-application/${encodeURIComponent(id)}/documents/${encodeURIComponent(key)}`
/** As the checklist says it: its megabytes are of 1,048,576 bytes. */
const sizeText = ({ maxSizeMb }: Item) => bytes(maxSizeMb * 1_000_000)

/** The checklist: what is asked for, what is there, and where each file goes. */
export function Documents({
  held,
  items,
  files,
  onChanged,
}: {
  held: Held
  items: readonly Item[]
  files: Resource<{ data: Document[] }>
  onChanged: () => Promise<unknown>
}) {
  const known = files.data.value?.data
  const failure = files.error.value
  const there = handedIn(held.data)
  const required = items.filter((item) => item.required).length
  const done = required - missingOf(items, there).length
  return (
    <Section title={t('documents')} hint={t('documentsHint')} wide>
      <p role="status">{t('progress', { n: required, done })}</p>
      {failure !== undefined && !known && <ErrorMessage error={failure} retry={files.reload} />}
      <ul class="documents" aria-label={t('documents')}>
        {items.map((item) => (
          <Asked
            key={item.key}
            held={held}
            item={item}
            isThere={there.has(item.key)}
            file={known?.find(({ key }) => key === item.key)}
            onChanged={onChanged}
          />
        ))}
      </ul>
    </Section>
  )
}

/** The document that is there now for a key. Which file it is says its id: another file is another document. */
async function thereNow(id: string, key: string): Promise<{ data: Document | undefined; etag: string }> {
  const { data } = await ok(api.GET('/lending-application/{id}/documents', { params: { path: { id } } }))
  const document = data.find((one) => one.key === key)
  return { data: document, etag: document?.id ?? '' }
}

const said = (document: Document | undefined): string =>
  document ? [document.originalName ?? t('handedIn'), moment(document.uploadedAt)].join(', ') : t('missing')

/**
 * Puts one document in the place of that which was shown, or takes it away, and asks where somebody else handed in another one since. The version
 * of the application cannot say that: every document of it raises it, one's own that are on their way at the same time too. So this is a look
 * before, and no lock: what comes between the look and the sending is replaced unseen.
 * @param shown the ids that it may have
 * @returns undefined where nothing was sent: `onTheirs` tells of one who wants to look at what is there
 */
const unlessAnother = <Answer,>(
  { id, key, label }: { id: string; key: string; label: string },
  shown: readonly (string | undefined)[],
  { send, mine, removes = false, onTheirs }: { send: () => Promise<Answer>; mine: string; removes?: boolean; onTheirs: () => void },
): Promise<Answer | undefined> =>
  saveVersioned<Answer, Document | undefined>('', {
    save: async (seen) => {
      const { data: now } = await thereNow(id, key)
      if (now && now.id !== seen && !shown.includes(now.id)) throw new ApiError(412, '', undefined, null, null)
      return send()
    },
    theirs: () => thereNow(id, key),
    differences: (now) => [[label, mine, said(now)]],
    onTheirs,
    removes,
  })

type AskedProps = { held: Held; item: Item; isThere: boolean; file: Document | undefined; onChanged: () => Promise<unknown> }

function Asked({ held, item, isThere, file, onChanged }: AskedProps) {
  const { id, status } = held.data
  const { key, label, description, required } = item
  const isDraft = status === 'DRAFT'
  // The list is read behind what was sent: until it has come, or where it does not, one's own is no other.
  const own = useRef<string | undefined>(undefined)
  // Once submitted, what is missing may be added, and nothing replaced.
  const mayHandIn = isDraft || ((status === 'SUBMITTED' || status === 'UNDER_REVIEW') && !isThere)
  async function remove(): Promise<void> {
    const body = <p>{t('removeText', { what: label })}</p>
    if (!(await confirm({ title: t('removeTitle'), body, action: common('remove'), danger: true }))) return
    try {
      await unlessAnother({ id, key, label }, [file?.id, own.current], {
        send: () => api.DELETE('/lending-application/{id}/documents/{key}', { params: { path: { id, key } } }),
        mine: common('remove'),
        removes: true,
        onTheirs: () => undefined,
      })
    } finally {
      await onChanged()
    }
  }
  async function onSent(document: Document | undefined): Promise<void> {
    if (document) {
      own.current = document.id
      notify(t('uploaded', { what: label }))
    }
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
            <StatusBadge of="OK" text={t('handedIn')} />
          ) : (
            <StatusBadge of={required ? 'PENDING' : 'NONE'} text={t(required ? 'missing' : 'notNeeded')} />
          )}
          <small class="faint">{t(required ? 'required' : 'optional')}</small>
          {isThere && file && (
            <small>
              {file.originalName !== null && (
                <>
                  <bdi>{file.originalName}</bdi>,{' '}
                </>
              )}
              {bytes(file.size)}, <Moment at={file.uploadedAt} />
            </small>
          )}
        </p>
        {isThere && (
          <div class="row tight">
            <Button kind="quiet" icon="download" onPress={() => download(pathOf(id, key), key)}>
              {t('download')}
              <span class="unseen">: {label}</span>
            </Button>
            {isDraft && (
              <Button kind="quiet" icon="close" onPress={remove}>
                {common('remove')}
                <span class="unseen">: {label}</span>
              </Button>
            )}
          </div>
        )}
      </div>
      {mayHandIn && <HandIn id={id} item={item} isThere={isThere} shown={() => [file?.id, own.current]} onSent={onSent} />}
    </li>
  )
}

type HandInProps = {
  id: string
  item: Item
  isThere: boolean
  shown: () => readonly (string | undefined)[]
  /** Whatever came of it: a document where one was sent. */
  onSent: (document: Document | undefined) => Promise<void>
}

const left = 'the page was left'

/** Takes one file, says how far it is, and what went wrong with it. */
function HandIn({ id, item, isThere, shown, onSent }: HandInProps) {
  const { key, label } = item
  const [part, setPart] = useState<number | undefined>(undefined)
  const [error, setError] = useState<unknown>(undefined)
  const last = useRef<File | undefined>(undefined)
  const stopping = useRef<AbortController | undefined>(undefined)
  useDirty(part !== undefined, 'on its way')
  useEffect(() => () => stopping.current?.abort(left), [])
  async function send(file: File): Promise<void> {
    last.current = file
    const why = unfit(file, item)
    if (why) {
      last.current = undefined
      return setError(new Error(why === 'tooLarge' ? common('tooLarge', { max: sizeText(item) }) : t(why, { types: typeNames(item) })))
    }
    const stop = new AbortController()
    stopping.current = stop
    setError(undefined)
    setPart(0)
    let [document, isLookedAt] = [undefined as Document | undefined, false]
    try {
      document = await unlessAnother({ id, key, label }, shown(), {
        send: () =>
          upload<Document>(pathOf(id, key), file, {
            method: 'PUT',
            type: typeOf(file),
            signal: stop.signal,
            onProgress: setPart,
            // Headers hold Latin letters only.
            headers: { 'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(file.name)}` },
          }),
        mine: file.name,
        onTheirs: () => {
          isLookedAt = true
        },
      })
      // The question was closed: the file is still at hand.
      if (!document && !isLookedAt && !stop.signal.aborted) setError(new Error(common('conflictTitle')))
    } catch (refusal) {
      if (!stop.signal.aborted) setError(refusal)
    } finally {
      setPart(undefined)
      if (stop.signal.reason !== left) await onSent(document)
    }
  }
  const again = last.current
  return (
    <div class="stack">
      {part === undefined ? (
        <FileField
          label={`${t('file')}: ${label}`}
          accept={item.acceptedMimeTypes.join(',')}
          onFiles={([file]) => file && void send(file)}
          hint={[t('takes', { types: typeNames(item), max: sizeText(item) }), isThere && t('replaceHint')].filter(Boolean).join('. ')}
        />
      ) : (
        <div class="row">
          <progress value={part} max={1} aria-label={`${label}: ${common('sending', { percent: percent(part) })}`} />
          <Button kind="quiet" icon="close" onPress={() => stopping.current?.abort()}>
            {t('stop')}
          </Button>
        </div>
      )}
      {error !== undefined && <ErrorMessage error={error} {...(again && { retry: () => send(again) })} />}
    </div>
  )
}
