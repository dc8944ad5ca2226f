import { useLocation, useRoute } from 'preact-iso/router'
import { api, type Schema } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { at, mayManage } from '../../lib/session/current-shop.ts'
import { Facts, When } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { Preview } from '../../ui/html-preview.tsx'
import { Loaded, Page, Section } from '../../ui/page.tsx'
import { Picture } from '../../ui/picture.tsx'
import { BlogForm } from './form.tsx'
import { t } from './i18n.ts'
import { BlogStateOf } from './list.tsx'
import { type Held, readBlog } from './read.ts'

export default function Article() {
  const id = useRoute().params['id'] ?? ''
  return id === 'new' && mayManage.value ? (
    <Page title={t('add')} back={{ href: at('blog'), text: t('title') }}>
      <BlogForm />
    </Page>
  ) : (
    <Existing id={id} />
  )
}

function Existing({ id }: { id: string }) {
  const { route } = useLocation()
  const blog = useResource(id, (signal) => readBlog(id, signal))
  const held = blog.data.value
  async function remove({ data, etag }: Held) {
    const sure = await confirm({
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
    if (!sure) return
    await api.DELETE('/blogs/{id}', { params: { path: { id }, header: { 'if-match': etag } } })
    notify(t('removed'))
    route(at('blog'), true)
  }
  return (
    <Page
      title={held?.data.title ?? t('article')}
      back={{ href: at('blog'), text: t('title') }}
      subtitle={held && <BlogStateOf of={held.data} />}
      actions={
        held &&
        mayManage.value && (
          <Button kind="danger" onPress={() => remove(held)}>
            {common('delete')}
          </Button>
        )
      }
    >
      <Loaded of={blog}>{(shown) => (mayManage.value ? <BlogForm of={shown} onSaved={blog.put} /> : <Read of={shown.data} />)}</Loaded>
    </Page>
  )
}

/** For those who may not change it. */
const Read = ({ of }: { of: Schema<'Blog'> }) => (
  <Section>
    {of.coverImage && <Picture url={of.coverImage} large />}
    <Facts
      of={[
        [t('slug'), <bdi key="slug">{of.slug}</bdi>],
        [t('author'), of.author && <bdi>{of.author}</bdi>],
        [t('publishedAt'), of.publishedAt && <When at={of.publishedAt} />],
        [t('excerpt'), of.excerpt && <bdi>{of.excerpt}</bdi>],
        [t('tags'), <bdi key="tags">{of.tags.join(', ')}</bdi>],
      ]}
    />
    <Preview html={of.bodyHtml} label={t('preview')} />
  </Section>
)
