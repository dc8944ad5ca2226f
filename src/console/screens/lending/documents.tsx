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
  const documents = files.data.value?.data
  const failure = files.error.value
  const uploaded = uploadedKeys(current.data)
  const required = items.filter((item) => item.required).length
  const done = required - missingItems(items, uploaded).length
  return (
    <Section title={t('documents')} hint={t('documentsHint')} wide>
      <p role="status">{t('progress', { n: required, done })}</p>
      {failure !== undefined && !documents && <ErrorMessage error={failure} retry={files.reload} />}
      <ul class="documents" aria-label={t('documents')}>
        {items.map((item) => (
          <ChecklistItem
            key={item.key}
            current={current}
            item={item}
            isUploaded={uploaded.has(item.key)}
            file={documents?.find(({ key }) => key === item.key)}
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
  const document = data.find((document) => document.key === key)
  return { data: document, etag: document?.id ?? '' }
}

const documentText = (document: Document | undefined): string =>
  document ? [document.originalName ?? t('handedIn'), moment(document.uploadedAt)].join(', ') : t('missing')

/**
 * Replaces or deletes a document, and asks first if another file arrived since.
 * The application's version cannot tell, because each upload raises it. This is a check, not a lock: a file that
 * arrives after the check is replaced.
 * @param knownIds ids that do not conflict
 * @returns undefined if nothing was sent; `onViewCurrent` is called to view the other file
 */
const replaceIfUnchanged = <Answer,>(
  { id, key, label }: { id: string; key: string; label: string },
  knownIds: readonly (string | undefined)[],
  {
    send,
    yourText,
    isDelete = false,
    onViewCurrent,
  }: { send: () => Promise<Answer>; yourText: string; isDelete?: boolean; onViewCurrent: () => void },
): Promise<Answer | undefined> =>
  saveVersioned<Answer, Document | undefined>('', {
    save: async (acceptedId) => {
      const { data: current } = await readDocument(id, key)
      if (current && current.id !== acceptedId && !knownIds.includes(current.id)) throw new ApiError(412, '', undefined, null, null)
      return send()
    },
    readCurrent: () => readDocument(id, key),
    differences: (current) => [[label, yourText, documentText(current)]],
    onViewCurrent,
    isDelete,
  })

type ChecklistItemProps = {
  current: VersionedApplication
  item: Item
  isUploaded: boolean
  file: Document | undefined
  onChanged: () => Promise<unknown>
}

function ChecklistItem({ current, item, isUploaded, file, onChanged }: ChecklistItemProps) {
  const { id, status } = current.data
  const { key, label, description, required } = item
  const isDraft = status === 'DRAFT'
  // The own upload does not conflict before the list is reloaded.
  const uploadedId = useRef<string | undefined>(undefined)
  // After submission, missing documents can be added and none replaced.
  const canUpload = isDraft || ((status === 'SUBMITTED' || status === 'UNDER_REVIEW') && !isUploaded)
  async function remove(): Promise<void> {
    const body = <p>{t('removeText', { what: label })}</p>
    if (!(await confirm({ title: t('removeTitle'), body, action: common('remove'), danger: true }))) return
    try {
      await replaceIfUnchanged({ id, key, label }, [file?.id, uploadedId.current], {
        send: () => api.DELETE('/lending-application/{id}/documents/{key}', { params: { path: { id, key } } }),
        yourText: common('remove'),
        isDelete: true,
        onViewCurrent: () => undefined,
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
          {isUploaded ? (
            <StatusBadge status="OK" text={t('handedIn')} />
          ) : (
            <StatusBadge status={required ? 'PENDING' : 'NONE'} text={t(required ? 'missing' : 'notNeeded')} />
          )}
          <small class="faint">{t(required ? 'required' : 'optional')}</small>
          {isUploaded && file && (
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
        {isUploaded && (
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
      {canUpload && (
        <FileUpload id={id} item={item} isUploaded={isUploaded} knownIds={() => [file?.id, uploadedId.current]} onSent={onSent} />
      )}
    </li>
  )
}

type FileUploadProps = {
  id: string
  item: Item
  isUploaded: boolean
  knownIds: () => readonly (string | undefined)[]
  /** Called after each attempt, with the document if one was sent. */
  onSent: (document: Document | undefined) => Promise<void>
}

const pageLeft = 'the page was left'

/** Uploads one file with progress and errors. */
function FileUpload({ id, item, isUploaded, knownIds, onSent }: FileUploadProps) {
  const { key, label } = item
  const [fraction, setFraction] = useState<number | undefined>(undefined)
  const [error, setError] = useState<unknown>(undefined)
  const lastFile = useRef<File | undefined>(undefined)
  const controllerRef = useRef<AbortController | undefined>(undefined)
  useDirty(fraction !== undefined, 'upload')
  useEffect(() => () => controllerRef.current?.abort(pageLeft), [])
  async function send(file: File): Promise<void> {
    lastFile.current = file
    const problem = findFileProblem(file, item)
    if (problem) {
      lastFile.current = undefined
      return setError(
        new Error(problem === 'tooLarge' ? common('tooLarge', { max: sizeText(item) }) : t(problem, { types: typeNames(item) })),
      )
    }
    const controller = new AbortController()
    controllerRef.current = controller
    setError(undefined)
    setFraction(0)
    let [document, isTheirsViewed] = [undefined as Document | undefined, false]
    try {
      document = await replaceIfUnchanged({ id, key, label }, knownIds(), {
        send: () =>
          upload<Document>(pathOf(id, key), file, {
            method: 'PUT',
            type: typeOf(file),
            signal: controller.signal,
            onProgress: setFraction,
            // Header values are Latin-1, so the name is encoded.
            headers: { 'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(file.name)}` },
          }),
        yourText: file.name,
        onViewCurrent: () => (isTheirsViewed = true),
      })
      // The question was closed: the file can be sent again.
      if (!document && !isTheirsViewed && !controller.signal.aborted) setError(new Error(common('conflictTitle')))
    } catch (cause) {
      if (!controller.signal.aborted) setError(cause)
    } finally {
      setFraction(undefined)
      if (controller.signal.reason !== pageLeft) await onSent(document)
    }
  }
  const retryFile = lastFile.current
  return (
    <div class="stack">
      {fraction === undefined ? (
        <FileField
          label={`${t('file')}: ${label}`}
          accept={item.acceptedMimeTypes.join(',')}
          onFiles={([file]) => file && void send(file)}
          hint={[t('takes', { types: typeNames(item), max: sizeText(item) }), isUploaded && t('replaceHint')].filter(Boolean).join('. ')}
        />
      ) : (
        <div class="row">
          <progress value={fraction} max={1} aria-label={`${label}: ${common('sending', { percent: percent(fraction) })}`} />
          <Button kind="quiet" icon="close" onPress={() => controllerRef.current?.abort()} text={t('stop')} />
        </div>
      )}
      {error !== undefined && <ErrorMessage error={error} {...(retryFile && { retry: () => send(retryFile) })} />}
    </div>
  )
}
