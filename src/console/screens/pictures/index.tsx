import { api, ok, type Schema } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { bytes, moment } from '../../lib/format/format.ts'
import { ownPicture } from '../../lib/format/media-url.ts'
import { truncate } from '../../lib/format/truncate.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { mayManage } from '../../lib/session/current-shop.ts'
import { Button } from '../../ui/button.tsx'
import { CopyableText } from '../../ui/copyable-text.tsx'
import { CsvButton } from '../../ui/csv-button.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { ListView } from '../../ui/list-view.tsx'
import { Moment } from '../../ui/moment.tsx'
import { EmptyState, Page, Section } from '../../ui/page.tsx'
import { Picture } from '../../ui/picture.tsx'
import { Uploads } from '../../ui/uploads.tsx'
import { sizeOf } from './dialog.tsx'
import { t } from './i18n.ts'

type Media = Schema<'Media'>

/** The shop's pictures. The API refuses to delete one that a product uses. */
export default function Pictures() {
  const query = useQuery()
  const pictures = useResource(String(query.page), (signal) =>
    ok(api.GET('/media', { params: { query: { page: query.page, limit: 24 } }, signal })),
  )
  async function remove(one: Media): Promise<void> {
    const sure = await confirm({
      title: t('removeTitle'),
      body: (
        <>
          <Picture url={one.url} large />
          <p>{t('removeText')}</p>
        </>
      ),
      action: common('delete'),
      danger: true,
    })
    if (!sure) return
    await ok(api.DELETE('/media/{name}', { params: { path: { name: one.id } } }))
    notify(t('removed'))
    await pictures.reload()
  }
  return (
    <Page title={common('pictures')} subtitle={t('text')} actions={mayManage.value && <CsvButton path="/media" name="pictures" />}>
      {mayManage.value && (
        <Section title={t('add')}>
          <Uploads
            label={t('add')}
            onDone={(_, { name, isKnown }) => {
              if (isKnown) notify(t('isKnown', { name: truncate(name) }))
              void pictures.reload()
            }}
          />
        </Section>
      )}
      <ListView of={pictures} query={query} empty={<EmptyState icon="upload" title={t('none')} text={t('noneText')} />}>
        {(list) => (
          <ul class="gallery" aria-label={common('pictures')}>
            {list.data.map((one) => (
              <li key={one.id} class="card tile">
                <a
                  href={ownPicture(one.url) ?? one.url}
                  target="_blank"
                  rel="noreferrer"
                  aria-label={`${t('open')}: ${moment(one.createdAt)}`}
                >
                  <Picture url={one.url} large />
                </a>
                <small class="faint">
                  <Moment at={one.createdAt} /> · {sizeOf(one)} · {bytes(one.bytes)}
                </small>
                <span class="row tight">
                  <CopyableText text={one.url} label={t('url')} />
                  {mayManage.value && (
                    <Button kind="quiet" icon="close" label={t('remove', { at: moment(one.createdAt) })} onPress={() => remove(one)} />
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
