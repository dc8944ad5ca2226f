import { api, ok, type Schema } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { serverNow } from '../../lib/format/server-clock.ts'
import { common } from '../../lib/i18n/common.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { canManage, shopPath } from '../../lib/session/current-shop.ts'
import { CreateLink } from '../../ui/button.tsx'
import { CsvButton } from '../../ui/csv-button.tsx'
import { Filters } from '../../ui/filters.tsx'
import { ListTable } from '../../ui/list-view.tsx'
import { Moment } from '../../ui/moment.tsx'
import { EmptyState, Page } from '../../ui/page.tsx'
import { Picture } from '../../ui/picture.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import type { Column } from '../../ui/table.tsx'
import { blogState } from './blog.domain.ts'
import { t } from './i18n.ts'

type Blog = Schema<'Blog'>

export const BlogStateBadge = ({ blog }: { blog: Pick<Blog, 'status' | 'publishedAt'> }) => {
  const state = blogState(blog, serverNow())
  return state === 'SCHEDULED' ? <StatusBadge status={state} text={t('scheduled')} tone="info" /> : <StatusBadge status={state} />
}

const columns = (): readonly Column<Blog>[] => [
  { title: t('cover'), cell: ({ coverImage }) => coverImage && <Picture url={coverImage} /> },
  { title: common('title'), main: true, cell: ({ title }) => <bdi class="cut">{title}</bdi> },
  { title: common('status'), cell: (blog) => <BlogStateBadge blog={blog} /> },
  { title: t('publishedAt'), cell: ({ publishedAt }) => publishedAt && <Moment at={publishedAt} /> },
  { title: common('tags'), cell: ({ tags }) => <bdi class="cut">{tags.join(', ')}</bdi> },
]

export default function Articles() {
  const query = useQuery()
  const { q } = query.values
  const blogs = useResource(JSON.stringify([q, query.page]), (signal) =>
    ok(api.GET('/blogs', { params: { query: { ...(q && { q }), page: query.page } }, signal })),
  )
  const create = canManage.value && <CreateLink href={shopPath('blog', 'new')} text={t('add')} />
  return (
    <Page
      title={common('blog')}
      actions={
        canManage.value && (
          <>
            <CsvButton path="/blogs" query={{ q }} name="blog" />
            {create}
          </>
        )
      }
    >
      <Filters query={query} search={t('search')} filters={[]} />
      <ListTable
        resource={blogs}
        query={query}
        isFiltered={!!q || query.page > 1}
        empty={<EmptyState icon="book" title={t('none')} text={t('noneText')} action={create} />}
        caption={common('blog')}
        columns={columns()}
        href={({ id }) => shopPath('blog', id)}
      />
    </Page>
  )
}
