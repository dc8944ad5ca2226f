import { api, ok, type Schema } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { common } from '../../lib/i18n/common.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { canManage, shopPath } from '../../lib/session/current-shop.ts'
import { CreateLink } from '../../ui/button.tsx'
import { CsvButton } from '../../ui/csv-button.tsx'
import { ListTable } from '../../ui/list-view.tsx'
import { Moment } from '../../ui/moment.tsx'
import { EmptyState, Page } from '../../ui/page.tsx'
import { Picture } from '../../ui/picture.tsx'
import type { Column } from '../../ui/table.tsx'
import { t } from './i18n.ts'
import { PublicationBadge } from './publication-badge.tsx'

type Collection = Schema<'Collection'>

const columns = (): readonly Column<Collection>[] => [
  {
    title: common('title'),
    main: true,
    cell: ({ title, image }) => (
      <span class="named">
        <Picture url={image?.url} />
        <bdi class="cut">{title}</bdi>
      </span>
    ),
  },
  { title: t('published'), cell: ({ publishedAt }) => <PublicationBadge at={publishedAt} /> },
  { title: t('changed'), cell: ({ updatedAt }) => <Moment at={updatedAt} /> },
]

export default function Collections() {
  const query = useQuery()
  const collections = useResource(String(query.page), (signal) =>
    ok(api.GET('/collection-v2', { params: { query: { page: query.page } }, signal })),
  )
  const create = <CreateLink href={shopPath('collections', 'new')} text={t('new')} />
  return (
    <Page
      title={common('collections')}
      actions={
        canManage.value && (
          <>
            <CsvButton path="/collection-v2" name="collections" />
            {create}
          </>
        )
      }
    >
      <ListTable
        resource={collections}
        query={query}
        empty={<EmptyState icon="tag" title={t('none')} text={t('noneText')} action={canManage.value && create} />}
        caption={common('collections')}
        columns={columns()}
        href={({ id }) => shopPath('collections', id)}
      />
    </Page>
  )
}
