import { api, ok, type Schema } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { bytes, moment } from '../../lib/format/format.ts'
import { storedPicturePath } from '../../lib/format/media-url.ts'
import { truncate } from '../../lib/format/truncate.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { canManage } from '../../lib/session/current-shop.ts'
import { Button } from '../../ui/button.tsx'
import { CopyableText } from '../../ui/copyable-text.tsx'
import { CsvButton } from '../../ui/csv-button.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { ListView } from '../../ui/list-view.tsx'
import { Moment } from '../../ui/moment.tsx'
import { EmptyState, Page, Section } from '../../ui/page.tsx'
import { Picture } from '../../ui/picture.tsx'
import { Uploads } from '../../ui/uploads.tsx'
import { sizeText } from './dialog.tsx'
import { t } from './i18n.ts'

type Media = Schema<'Media'>

/** The shop's pictures. The API refuses to delete one that a product uses. */
export default function Pictures() {
  const query = useQuery()
  const pictures = useResource(String(query.page), (signal) =>
    ok(api.GET('/media', { params: { query: { page: query.page, limit: 24 } }, signal })),
  )
  async function remove(picture: Media): Promise<void> {
    const isConfirmed = await confirm({
      title: t('removeTitle'),
      body: (
        <>
          <Picture url={picture.url} large />
          <p>{t('removeText')}</p>
        </>
      ),
      action: common('delete'),
      danger: true,
    })
    if (!isConfirmed) return
    await ok(api.DELETE('/media/{name}', { params: { path: { name: picture.id } } }))
    notify(t('removed'))
    await pictures.reload()
  }
  return (
    <Page title={common('pictures')} subtitle={t('text')} actions={canManage.value && <CsvButton path="/media" name="pictures" />}>
      {canManage.value && (
        <Section title={t('add')}>
          <Uploads
            label={t('add')}
            onDone={(_, { name, wasStored }) => {
              if (wasStored) notify(t('isKnown', { name: truncate(name) }))
              void pictures.reload()
            }}
          />
        </Section>
      )}
      <ListView resource={pictures} query={query} empty={<EmptyState icon="upload" title={t('none')} text={t('noneText')} />}>
        {(list) => (
          <ul class="gallery" aria-label={common('pictures')}>
            {list.data.map((picture) => (
              <li key={picture.id} class="card tile">
                <a
                  href={storedPicturePath(picture.url) ?? picture.url}
                  target="_blank"
                  rel="noreferrer"
                  aria-label={`${t('open')}: ${moment(picture.createdAt)}`}
                >
                  <Picture url={picture.url} large />
                </a>
                <small class="faint">
                  <Moment at={picture.createdAt} /> · {sizeText(picture)} · {bytes(picture.bytes)}
                </small>
                <span class="row tight">
                  <CopyableText text={picture.url} label={t('url')} />
                  {canManage.value && (
                    <Button
                      kind="quiet"
                      icon="close"
                      label={t('remove', { at: moment(picture.createdAt) })}
                      onPress={() => remove(picture)}
                    />
                  )}
                </span>
              </li>
            ))}
          </ul>
        )}
      </ListView>
    </Page>
  )
}
