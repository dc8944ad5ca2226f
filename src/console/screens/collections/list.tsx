import { api, ok, type Schema } from '../../lib/api/api.ts'
import { download } from '../../lib/api/download.ts'
import { useResource } from '../../lib/api/resource.ts'
import { common } from '../../lib/i18n/common.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { mayManage, shopPath } from '../../lib/session/current-shop.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { ListView } from '../../ui/list-view.tsx'
import { Moment } from '../../ui/moment.tsx'
import { EmptyState, Page } from '../../ui/page.tsx'
import { Picture } from '../../ui/picture.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { t } from './i18n.ts'
import { PublicationBadge } from './published.tsx'

type Collection = Schema<'Collection'>

const columns = (): readonly Column<Collection>[] => [
  {
    key: 'title',
    title: common('title'),
    main: true,
    cell: ({ title, image }) => (
      <span class="named">
        <Picture url={image?.url} />
        <bdi class="cut">{title}</bdi>
      </span>
    ),
  },
  { key: 'published', title: t('published'), cell: ({ publishedAt }) => <PublicationBadge at={publishedAt} /> },
  { key: 'changed', title: t('changed'), cell: ({ updatedAt }) => <Moment at={updatedAt} /> },
]

export default function Collections() {
  const query = useQuery()
  const collections = useResource(String(query.page), (signal) =>
    ok(api.GET('/collection-v2', { params: { query: { page: query.page } }, signal })),
  )
  const create = (
    <ButtonLink icon="plus" kind="primary" href={shopPath('collections', 'new')}>
      {t('new')}
    </ButtonLink>
  )
  return (
    <Page
      title={common('collections')}
      actions={
        mayManage.value && (
          <>
            <Button icon="download" onPress={() => download('/collection-v2', 'collections.csv', 'text/csv')}>
              {common('download')}
            </Button>
            {create}
          </>
        )
      }
    >
      <ListView
        of={collections}
        query={query}
        empty={<EmptyState icon="tag" title={t('none')} text={t('noneText')} action={mayManage.value && create} />}
      >
        {(list) => (
          <Table
            caption={common('collections')}
            columns={columns()}
            rows={list.data}
            rowKey={({ id }) => id}
            href={({ id }) => shopPath('collections', id)}
          />
        )}
      </ListView>
    </Page>
  )
}
