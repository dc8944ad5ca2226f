import { useLocation, useRoute } from 'preact-iso/router'
import { api, type Schema } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { c } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { at, mayManage } from '../../lib/session/current-shop.ts'
import { Facts, When } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { Preview } from '../../ui/html-preview.tsx'
import { Loaded, Page, Section } from '../../ui/page.tsx'
import { Picture } from '../../ui/picture.tsx'
import { BlogForm } from './form.tsx'
import { w } from './i18n.ts'
import { BlogStateOf } from './list.tsx'
import { type Held, readBlog } from './read.ts'

export default function Article() {
  const id = useRoute().params['id'] ?? ''
  return id === 'new' && mayManage.value ? (
    <Page title={w('add')} back={{ href: at('blog'), text: w('title') }}>
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
      title: w('removeTitle'),
      body: (
        <>
          <p>
            <bdi class="cut">{data.title}</bdi>
          </p>
          <p>{w('removeText')}</p>
        </>
      ),
      action: c('delete'),
      danger: true,
    })
    if (!sure) return
    await api.DELETE('/blogs/{id}', { params: { path: { id }, header: { 'if-match': etag } } })
    notify(w('removed'))
    route(at('blog'), true)
  }
  return (
    <Page
      title={held?.data.title ?? w('article')}
      back={{ href: at('blog'), text: w('title') }}
      subtitle={held && <BlogStateOf of={held.data} />}
      actions={
        held &&
        mayManage.value && (
          <Button kind="danger" onPress={() => remove(held)}>
            {c('delete')}
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
        [w('slug'), <bdi key="slug">{of.slug}</bdi>],
        [w('author'), of.author && <bdi>{of.author}</bdi>],
        [w('publishedAt'), of.publishedAt && <When at={of.publishedAt} />],
        [w('excerpt'), of.excerpt && <bdi>{of.excerpt}</bdi>],
        [w('tags'), <bdi key="tags">{of.tags.join(', ')}</bdi>],
      ]}
    />
    <Preview html={of.bodyHtml} label={w('preview')} />
  </Section>
)
