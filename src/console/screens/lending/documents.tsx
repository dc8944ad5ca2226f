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
import { Moment } from '../../ui/moment.tsx'
import { Section } from '../../ui/page.tsx'
import { saveVersioned } from '../../ui/save-versioned.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import {
  findFileProblem,
  type Item,
  missingItems,
  typeNames,
  typeOf,
  uploadedKeys,
  type VersionedApplication,
} from './application.domain.ts'
import { t } from './i18n.ts'

type Document = Schema<'LendingDocument'>

const pathOf = (id: string, key: string) => `/lending-application/${encodeURIComponent(id)}/documents/${encodeURIComponent(key)}`
/** The checklist's megabytes have 1,048,576 bytes. */
const sizeText = ({ maxSizeMb }: Item) => bytes(maxSizeMb * 1_000_000)

/** The checklist with an upload for each document. */
export function Documents({
  current,
  items,
  files,
  onChanged,
}: {
  current: VersionedApplication
  items: readonly Item[]
  files: Resource<{ data: Document[] }>
  onChanged: () => Promise<unknown>
}) {
  const known = files.data.value?.data
  const failure = files.error.value
  const there = uploadedKeys(current.data)
  const required = items.filter((item) => item.required).length
  const done = required - missingItems(items, there).length
  return (
    <Section title={t('documents')} hint={t('documentsHint')} wide>
      <p role="status">{t('progress', { n: required, done })}</p>
      {failure !== undefined && !known && <ErrorMessage error={failure} retry={files.reload} />}
      <ul class="documents" aria-label={t('documents')}>
        {items.map((item) => (
          <ChecklistItem
            key={item.key}
            current={current}
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

/** Reads the present document of a key. Its id is its version, because each file is a new document. */
async function readDocument(id: string, key: string): Promise<{ data: Document | undefined; etag: string }> {
  const { data } = await ok(api.GET('/lending-application/{id}/documents', { params: { path: { id } } }))
  const document = data.find((one) => one.key === key)
  return { data: document, etag: document?.id ?? '' }
}

const documentText = (document: Document | undefined): string =>
  document ? [document.originalName ?? t('handedIn'), moment(document.uploadedAt)].join(', ') : t('missing')

/**
 * Replaces or removes a document, and asks first if another file arrived since.
 * The application's version cannot tell, because each upload raises it. This is a check, not a lock: a file that
 * arrives after the check is replaced.
 * @param shown ids that do not conflict
 * @returns undefined if nothing was sent; `onTheirs` is called to view the other file
 */
const replaceIfUnchanged = <Answer,>(
  { id, key, label }: { id: string; key: string; label: string },
  shown: readonly (string | undefined)[],
  { send, mine, removes = false, onTheirs }: { send: () => Promise<Answer>; mine: string; removes?: boolean; onTheirs: () => void },
): Promise<Answer | undefined> =>
  saveVersioned<Answer, Document | undefined>('', {
    save: async (seen) => {
      const { data: now } = await readDocument(id, key)
      if (now && now.id !== seen && !shown.includes(now.id)) throw new ApiError(412, '', undefined, null, null)
      return send()
    },
    theirs: () => readDocument(id, key),
    differences: (now) => [[label, mine, documentText(now)]],
    onTheirs,
    removes,
  })

type ChecklistItemProps = {
  current: VersionedApplication
  item: Item
  isThere: boolean
  file: Document | undefined
  onChanged: () => Promise<unknown>
}

function ChecklistItem({ current, item, isThere, file, onChanged }: ChecklistItemProps) {
  const { id, status } = current.data
  const { key, label, description, required } = item
  const isDraft = status === 'DRAFT'
  // The own upload does not conflict before the list is reloaded.
  const uploadedId = useRef<string | undefined>(undefined)
  // After submission, missing documents can be added and none replaced.
  const mayHandIn = isDraft || ((status === 'SUBMITTED' || status === 'UNDER_REVIEW') && !isThere)
  async function remove(): Promise<void> {
    const body = <p>{t('removeText', { what: label })}</p>
    if (!(await confirm({ title: t('removeTitle'), body, action: common('remove'), danger: true }))) return
    try {
      await replaceIfUnchanged({ id, key, label }, [file?.id, uploadedId.current], {
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
      uploadedId.current = document.id
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
      {mayHandIn && <FileUpload id={id} item={item} isThere={isThere} shown={() => [file?.id, uploadedId.current]} onSent={onSent} />}
    </li>
  )
}

type FileUploadProps = {
  id: string
  item: Item
  isThere: boolean
  shown: () => readonly (string | undefined)[]
  /** Called after each attempt, with the document if one was sent. */
  onSent: (document: Document | undefined) => Promise<void>
}

const pageLeft = 'the page was left'

/** Uploads one file with progress and errors. */
function FileUpload({ id, item, isThere, shown, onSent }: FileUploadProps) {
  const { key, label } = item
  const [part, setPart] = useState<number | undefined>(undefined)
  const [error, setError] = useState<unknown>(undefined)
  const last = useRef<File | undefined>(undefined)
  const stopping = useRef<AbortController | undefined>(undefined)
  useDirty(part !== undefined, 'on its way')
  useEffect(() => () => stopping.current?.abort(pageLeft), [])
  async function send(file: File): Promise<void> {
    last.current = file
    const why = findFileProblem(file, item)
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
      document = await replaceIfUnchanged({ id, key, label }, shown(), {
        send: () =>
          upload<Document>(pathOf(id, key), file, {
            method: 'PUT',
            type: typeOf(file),
            signal: stop.signal,
            onProgress: setPart,
            // Header values are Latin-1, so the name is encoded.
            headers: { 'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(file.name)}` },
          }),
        mine: file.name,
        onTheirs: () => (isLookedAt = true),
      })
      // The question was closed: the file can be sent again.
      if (!document && !isLookedAt && !stop.signal.aborted) setError(new Error(common('conflictTitle')))
    } catch (refusal) {
      if (!stop.signal.aborted) setError(refusal)
    } finally {
      setPart(undefined)
      if (stop.signal.reason !== pageLeft) await onSent(document)
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
          <Button kind="quiet" icon="close" onPress={() => stopping.current?.abort()} text={t('stop')} />
        </div>
      )}
      {error !== undefined && <ErrorMessage error={error} {...(again && { retry: () => send(again) })} />}
    </div>
  )
}
