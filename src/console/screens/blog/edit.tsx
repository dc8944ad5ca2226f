import { useLocation, useRoute } from 'preact-iso/router'
import { api, readVersioned, type Schema, type Versioned } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { canManage, shopPath } from '../../lib/session/current-shop.ts'
import { Button } from '../../ui/button.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { FactList } from '../../ui/fact-list.tsx'
import { HtmlPreview } from '../../ui/html-preview.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Page, ResourceView, Section } from '../../ui/page.tsx'
import { Picture } from '../../ui/picture.tsx'
import { BlogForm } from './form.tsx'
import { t } from './i18n.ts'
import { BlogStateBadge } from './list.tsx'

export default function Article() {
  const id = useRoute().params['id'] ?? ''
  return id === 'new' && canManage.value ? (
    <Page title={t('add')} back={{ href: shopPath('blog'), text: common('blog') }}>
      <BlogForm />
    </Page>
  ) : (
    <ExistingArticle id={id} />
  )
}

function ExistingArticle({ id }: { id: string }) {
  const { route } = useLocation()
  const blog = useResource(id, (signal) => readVersioned(api.GET('/blogs/{id}', { params: { path: { id } }, signal })))
  const current = blog.data.value
  async function remove({ data, etag }: Versioned<Schema<'Blog'>>) {
    const isConfirmed = await confirm({
      title: t('removeTitle'),
      body: (
        <>
          <p>
            <bdi class="cut">{data.title}</bdi>
          </p>
          <p>{t('removeText')}</p>
        </>
      ),
      action: common('delete'),
      danger: true,
    })
    if (!isConfirmed) return
    await api.DELETE('/blogs/{id}', { params: { path: { id }, header: { 'if-match': etag } } })
    notify(t('removed'))
    route(shopPath('blog'), true)
  }
  return (
    <Page
      title={current?.data.title ?? t('article')}
      back={{ href: shopPath('blog'), text: common('blog') }}
      subtitle={current && <BlogStateBadge blog={current.data} />}
      actions={current && canManage.value && <Button kind="danger" onPress={() => remove(current)} text={common('delete')} />}
    >
      <ResourceView resource={blog}>
        {(version) => (canManage.value ? <BlogForm current={version} resource={blog} /> : <ArticleView article={version.data} />)}
      </ResourceView>
    </Page>
  )
}

/** Shown to roles that cannot edit. */
const ArticleView = ({ article }: { article: Schema<'Blog'> }) => (
  <Section>
    {article.coverImage && <Picture url={article.coverImage} large />}
    <FactList
      facts={[
        [t('slug'), <bdi key="slug">{article.slug}</bdi>],
        [t('author'), article.author && <bdi>{article.author}</bdi>],
        [t('publishedAt'), article.publishedAt && <Moment at={article.publishedAt} />],
        [t('excerpt'), article.excerpt && <bdi>{article.excerpt}</bdi>],
        [common('tags'), <bdi key="tags">{article.tags.join(', ')}</bdi>],
      ]}
    />
    <HtmlPreview html={article.bodyHtml} label={common('preview')} />
  </Section>
)
