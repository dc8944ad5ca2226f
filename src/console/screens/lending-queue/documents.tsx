import { useEffect, useState } from 'preact/hooks'
import { fetchAuthorized, type Schema } from '../../lib/api/api.ts'
import { download } from '../../lib/api/download.ts'
import { bytes } from '../../lib/format/format.ts'
import { documentName } from '../../lib/format/lending-names.ts'
import { common } from '../../lib/i18n/common.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ErrorMessage } from '../../ui/error-message.tsx'
import { Moment } from '../../ui/moment.tsx'
import { EmptyState, Section } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { t } from './i18n.ts'
import { isPicture, withoutFile } from './review.domain.ts'

type Application = Schema<'AdminLendingApplication'>
type ApplicationFile = Application['documents'][number]

const pathOf = (id: string, key: string) => `/admin/lending-application/${encodeURIComponent(id)}/documents/${encodeURIComponent(key)}`

/** The files of an application: pictures are shown, others downloaded. The API logs each access. */
export function Documents({ application }: { application: Application }) {
  const [shownFile, setShownFile] = useState<ApplicationFile | undefined>(undefined)
  const withoutFiles = withoutFile(
    application.documentationCompleted,
    application.documents.map(({ key }) => key),
  )
  return (
    <Section title={t('documents')} hint={application.documents.length > 0 && t('documentsHint')}>
      {application.documents.length === 0 ? (
        <EmptyState icon="page" title={t('noDocuments')} text={t('noDocumentsText')} />
      ) : (
        <Table
          caption={t('documents')}
          rows={application.documents}
          rowKey={({ id }) => id}
          columns={[
            {
              title: t('document'),
              main: true,
              cell: ({ key, originalName }) => (
                <>
                  <bdi>{documentName(key)}</bdi>
                  {originalName !== null && (
                    <small class="faint">
                      <bdi class="cut">{originalName}</bdi>
                    </small>
                  )}
                </>
              ),
            },
            { title: common('size'), alignEnd: true, cell: ({ size }) => bytes(size) },
            { title: t('uploaded'), cell: ({ uploadedAt }) => <Moment at={uploadedAt} relative /> },
            {
              title: t('take'),
              cell: (file) => (
                <span class="row tight">
                  {isPicture(file.mimeType) && (
                    <Button label={t('showOf', { name: documentName(file.key) })} onPress={() => setShownFile(file)} text={t('show')} />
                  )}
                  <Button
                    icon="download"
                    label={t('takeOf', { name: documentName(file.key) })}
                    onPress={() => download(pathOf(application.id, file.key), `${file.key}${extensionOf(file.mimeType)}`)}
                  />
                </span>
              ),
            },
          ]}
        />
      )}
      {withoutFiles.length > 0 && (
        <>
          <h3>{t('said')}</h3>
          <ul class="bullets">
            {withoutFiles.map(({ key, status }, index) => (
              <li key={index}>
                <bdi>{documentName(key)}</bdi> {status && <bdi class="faint">{status}</bdi>}
              </li>
            ))}
          </ul>
        </>
      )}
      {shownFile && <DocumentDialog applicationId={application.id} file={shownFile} onClose={() => setShownFile(undefined)} />}
    </Section>
  )
}

const extensions: Readonly<Record<string, string>> = {
  'application/pdf': '.pdf',
  'text/csv': '.csv',
  'image/jpeg': '.jpg',
  'image/png': '.png',
}
const extensionOf = (mimeType: string) => extensions[mimeType] ?? ''

/** Shows a picture that needs the token; revokes its object URL on close. */
function DocumentDialog({ applicationId, file, onClose }: { applicationId: string; file: ApplicationFile; onClose: () => void }) {
  const [url, setUrl] = useState<string | undefined>(undefined)
  const [error, setError] = useState<unknown>(undefined)
  useEffect(() => {
    const controller = new AbortController()
    let objectUrl: string | undefined
    const read = async () => {
      const response = await fetchAuthorized(
        new Request(pathOf(applicationId, file.key), { credentials: 'omit', signal: controller.signal }),
      )
      const blob = await response.blob()
      if (controller.signal.aborted) return
      objectUrl = URL.createObjectURL(blob)
      setUrl(objectUrl)
    }
    read().catch((cause) => {
      if (!controller.signal.aborted) setError(cause)
    })
    return () => {
      controller.abort()
      if (objectUrl) URL.revokeObjectURL(objectUrl)
    }
  }, [applicationId, file.key])
  const name = documentName(file.key)
  return (
    <Dialog title={name} onClose={onClose} wide>
      {error !== undefined ? (
        <ErrorMessage error={error} />
      ) : url ? (
        <img class="document" src={url} alt={t('pictureOf', { name })} onError={() => setError(new Error(t('noPicture')))} />
      ) : (
        <p role="status">{common('loading')}</p>
      )}
    </Dialog>
  )
}
