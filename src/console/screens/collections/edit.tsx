import { useComputed, useSignal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso/router'
import { api, ifMatch, ok, readVersioned, type Schema } from '../../lib/api/api.ts'
import type { IdempotentSend } from '../../lib/api/idempotent-send.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { useResource } from '../../lib/api/resource.ts'
import { timeZone } from '../../lib/format/format.ts'
import { serverNow } from '../../lib/format/server-clock.ts'
import { truncate } from '../../lib/format/truncate.ts'
import { draftOf, fill, textsOf } from '../../lib/forms/draft.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify, showError } from '../../lib/live/toasts.ts'
import { mayManage, shopPath } from '../../lib/session/current-shop.ts'
import { Button } from '../../ui/button.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { Form } from '../../ui/form.tsx'
import { Page, ResourceView } from '../../ui/page.tsx'
import { saveVersioned } from '../../ui/save-versioned.tsx'
import { blank, type CollectionText, changeBody, createBody, type FieldErrors, textOf } from './draft.domain.ts'
import { CollectionFields } from './fields.tsx'
import { t } from './i18n.ts'
import { OrderedProducts } from './ordered-products.tsx'
import { PublicationBadge } from './published.tsx'
import { CollectionView } from './view.tsx'

type Collection = Schema<'CollectionWithProductIds'>
type VersionedCollection = { readonly data: Collection; readonly etag: string }

const backLink = () => ({ href: shopPath('collections'), text: common('collections') })

/** @throws Error if fields are wrong */
function validBody<Body>({ body, wrong }: { body: Body; wrong: FieldErrors }, mark: (wrong: FieldErrors) => void): Body {
  mark(wrong)
  if (Object.keys(wrong).length > 0) throw new Error(t('fix'))
  return body
}

const read = (id: string, signal?: AbortSignal): Promise<VersionedCollection> =>
  readVersioned(api.GET('/collection-v2/{id}', { params: { path: { id } }, ...(signal && { signal }) })) as Promise<VersionedCollection>
const putProducts = (
  sendOnce: IdempotentSend,
  id: string,
  productIds: readonly string[],
  etag: string | undefined,
): Promise<VersionedCollection> =>
  sendOnce(
    [id, productIds, etag],
    (key) =>
      readVersioned(
        api.PUT('/collection-v2/{id}/products', {
          params: { path: { id }, header: { ...ifMatch(etag), 'idempotency-key': key } },
          body: { productIds: [...productIds] },
        }),
      ) as Promise<VersionedCollection>,
  )

export default function EditCollection() {
  const { id = '' } = useRoute().params
  return id === 'new' && mayManage.value ? <NewCollection /> : <ExistingCollection id={id} />
}

function NewCollection() {
  const { route } = useLocation()
  const [draft] = useState(() => draftOf<CollectionText>(blank))
  const productIds = useSignal<readonly string[]>([])
  const [wrong, mark] = useState<FieldErrors>({})
  const sendOnce = useIdempotentSend()
  const dirty = useComputed(() => productIds.value.length > 0 || JSON.stringify(textsOf(draft)) !== JSON.stringify(blank))
  async function save(): Promise<void> {
    const body = validBody(createBody(textsOf(draft), timeZone()), mark)
    const { data, etag } = await sendOnce(body, (key) =>
      readVersioned(api.POST('/collection-v2', { params: { header: { 'idempotency-key': key } }, body })),
    )
    const { id } = data as Schema<'Collection'>
    try {
      if (productIds.value.length > 0) await putProducts(sendOnce, id, productIds.value, etag)
      notify(t('created'))
    } catch (error) {
      // The collection exists: its own page adds what is missing.
      notify(t('createdWithout'))
      showError(error)
    }
    route(shopPath('collections', id), true)
  }
  return (
    <Page title={t('new')} back={backLink()}>
      <div class="long-form">
        <Form onSubmit={save} submit={t('create')} dirty={dirty.value} label={t('new')}>
          <CollectionFields draft={draft} wrong={wrong} />
          <OrderedProducts ids={productIds} />
        </Form>
      </div>
    </Page>
  )
}

function ExistingCollection({ id }: { id: string }) {
  const { route } = useLocation()
  const known = useResource(id, (signal) => read(id, signal))
  const of = known.data.value
  async function remove(): Promise<void> {
    const sure = await confirm({ title: t('removeTitle'), body: <p>{t('removeText')}</p>, action: common('delete'), danger: true })
    if (!sure || !of) return
    await ok(api.DELETE('/collection-v2/{id}', { params: { path: { id }, header: ifMatch(of.etag) } }))
    notify(t('removed'))
    route(shopPath('collections'), true)
  }
  const title = of?.data.title.trim() || common('collections')
  return (
    <Page
      title={truncate(title, 120)}
      back={backLink()}
      subtitle={of && <PublicationBadge at={of.data.publishedAt} />}
      actions={
        of &&
        mayManage.value && (
          <Button kind="danger" onPress={remove}>
            {common('delete')}
          </Button>
        )
      }
    >
      <ResourceView of={known}>
        {(now) => (mayManage.value ? <CollectionForm now={now} onChanged={known.put} /> : <CollectionView of={now.data} />)}
      </ResourceView>
    </Page>
  )
}

function CollectionForm({ now, onChanged }: { now: VersionedCollection; onChanged: (now: VersionedCollection) => void }) {
  const { id } = now.data
  const [draft] = useState(() => draftOf<CollectionText>(textOf(now.data, timeZone())))
  const productIds = useSignal<readonly string[]>(now.data.productIds)
  const before = useSignal(now)
  const [wrong, mark] = useState<FieldErrors>({})
  const sendOnce = useIdempotentSend()
  const was = useComputed(() => textOf(before.value.data, timeZone()))
  const hasOtherProducts = useComputed(() => productIds.value.join() !== before.value.data.productIds.join())
  const dirty = useComputed(() => hasOtherProducts.value || JSON.stringify(textsOf(draft)) !== JSON.stringify(was.value))
  function take(fresh: VersionedCollection): void {
    before.value = fresh
    fill(draft, textOf(fresh.data, timeZone()))
    productIds.value = fresh.data.productIds
  }
  useEffect(() => {
    if (now.etag !== before.peek().etag && !dirty.peek()) take(now)
  }, [now.etag])

  async function send(etag: string | undefined): Promise<VersionedCollection> {
    const body = validBody(changeBody(textsOf(draft), was.value, { now: serverNow(), zone: timeZone() }), mark)
    const wantsProducts = hasOtherProducts.value
    let version = etag
    if (Object.keys(body).length > 0) {
      const changed = await sendOnce([id, body, etag], (key) =>
        readVersioned(
          api.PATCH('/collection-v2/{id}', { params: { path: { id }, header: { ...ifMatch(etag), 'idempotency-key': key } }, body }),
        ),
      )
      version = changed.etag
      // A later step can fail; this one is saved.
      before.value = { data: { ...before.value.data, ...(changed.data as Schema<'Collection'>) }, etag: version }
    }
    return wantsProducts ? putProducts(sendOnce, id, productIds.value, version) : read(id)
  }
  async function save(): Promise<void> {
    const saved = await saveVersioned<VersionedCollection, Collection>(before.value.etag, {
      save: send,
      theirs: () => read(id),
      differences: (theirs) => differencesOf(textsOf(draft), productIds.value, theirs),
      onTheirs: (theirs) => {
        take(theirs)
        onChanged(theirs)
      },
    })
    if (!saved) return
    take(saved)
    onChanged(saved)
    notify(common('saved'))
  }
  return (
    <div class="long-form">
      <Form onSubmit={save} dirty={dirty.value} label={t('basics')}>
        <CollectionFields draft={draft} wrong={wrong} isKnown />
        <OrderedProducts ids={productIds} />
      </Form>
    </div>
  )
}

function differencesOf(mine: CollectionText, ids: readonly string[], theirs: Collection): (readonly [string, string, string])[] {
  const there = textOf(theirs, timeZone())
  const names = [
    ['title', common('title')],
    ['handle', common('handle')],
    ['descriptionHtml', common('descriptionHtml')],
    ['imageUrl', common('picture')],
    ['imageAlt', common('altText')],
    ['publishedAt', common('from')],
  ] as const
  const rows = [
    ...names.map(([name, title]) => [title, mine[name], there[name]] as const),
    [t('published'), t(`showing.${mine.showing}`), t(`showing.${there.showing}`)] as const,
  ]
  const products = (of: readonly string[]) => t('products', { n: of.length })
  const isOther = ids.join() !== theirs.productIds.join()
  const order = ids.length === theirs.productIds.length ? `${t('order')} ` : ''
  return [
    ...rows.filter(([, yours, other]) => yours !== other),
    ...(isOther ? [[common('products'), `${order}${products(ids)}`, products(theirs.productIds)] as const] : []),
  ]
}
