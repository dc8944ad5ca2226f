import { api, ok, type Schema } from '../../lib/api/api.ts'
import { download } from '../../lib/api/download.ts'
import { useResource } from '../../lib/api/resource.ts'
import { common } from '../../lib/i18n/common.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { at, mayManage } from '../../lib/session/current-shop.ts'
import { When } from '../../ui/bits.tsx'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { LoadedList } from '../../ui/list.tsx'
import { Empty, Page } from '../../ui/page.tsx'
import { Picture } from '../../ui/picture.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { t } from './i18n.ts'
import { Published } from './published.tsx'

type Collection = Schema<'Collection'>

const columns = (): readonly Column<Collection>[] => [
  {
    key: 'title',
    title: t('name'),
    main: true,
    cell: ({ title, image }) => (
      <span class="named">
        <Picture url={image?.url} />
        <bdi class="cut">{title}</bdi>
      </span>
    ),
  },
  { key: 'published', title: t('published'), cell: ({ publishedAt }) => <Published at={publishedAt} /> },
  { key: 'changed', title: t('changed'), cell: ({ updatedAt }) => <When at={updatedAt} /> },
]

export default function Collections() {
  const query = useQuery()
  const collections = useResource(String(query.page), (signal) =>
    ok(api.GET('/collection-v2', { params: { query: { page: query.page } }, signal })),
  )
  const create = (
    <ButtonLink icon="plus" kind="primary" href={at('collections', 'new')}>
      {t('new')}
    </ButtonLink>
  )
  return (
    <Page
      title={t('title')}
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
      <LoadedList
        of={collections}
        query={query}
        empty={<Empty icon="tag" title={t('none')} text={t('noneText')} action={mayManage.value && create} />}
      >
        {(list) => (
          <Table
            caption={t('title')}
            columns={columns()}
            rows={list.data}
            rowKey={({ id }) => id}
            href={({ id }) => at('collections', id)}
          />
        )}
      </LoadedList>
    </Page>
  )
}
