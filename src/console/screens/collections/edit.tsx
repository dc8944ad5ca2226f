import { useState } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso/router'
import { api, ifMatch, ok, readVersioned, type Schema, type Versioned } from '../../lib/api/api.ts'
import type { IdempotentSend } from '../../lib/api/idempotent-send.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { type Resource, useResource } from '../../lib/api/resource.ts'
import { timeZone } from '../../lib/format/format.ts'
import { serverNow } from '../../lib/format/server-clock.ts'
import { truncate } from '../../lib/format/truncate.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify, showError } from '../../lib/live/toasts.ts'
import { canManage, shopPath } from '../../lib/session/current-shop.ts'
import { Button } from '../../ui/button.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { Form } from '../../ui/form.tsx'
import { Page, ResourceView } from '../../ui/page.tsx'
import { useRecordEditor } from '../../ui/use-record-editor.ts'
import { blankCollection, type CollectionText, changeBody, createBody, type FieldErrors, textOf } from './draft.domain.ts'
import { CollectionFields } from './fields.tsx'
import { t } from './i18n.ts'
import { OrderedProducts } from './ordered-products.tsx'
import { PublicationBadge } from './publication-badge.tsx'
import { CollectionView } from './view.tsx'

type Collection = Schema<'CollectionWithProductIds'>
type CollectionValues = CollectionText & { readonly productIds: readonly string[] }

const backLink = () => ({ href: shopPath('collections'), text: common('collections') })

/** @throws Error if fields are wrong */
function validBody<Body>({ body, errors }: { body: Body; errors: FieldErrors }, setErrors: (errors: FieldErrors) => void): Body {
  setErrors(errors)
  if (Object.keys(errors).length > 0) throw new Error(t('fix'))
  return body
}

const putProducts = (
  sendOnce: IdempotentSend,
  id: string,
  productIds: readonly string[],
  etag: string | undefined,
): Promise<Versioned<Collection>> =>
  sendOnce([id, productIds, etag], (header) =>
    readVersioned(
      api.PUT('/collection-v2/{id}/products', {
        params: { path: { id }, header: { ...header, ...ifMatch(etag) } },
        body: { productIds: [...productIds] },
      }),
    ),
  )

export default function EditCollection() {
  const { id = '' } = useRoute().params
  return id === 'new' && canManage.value ? (
    <Page title={t('new')} back={backLink()}>
      <CollectionForm />
    </Page>
  ) : (
    <ExistingCollection id={id} />
  )
}

function ExistingCollection({ id }: { id: string }) {
  const { route } = useLocation()
  const collection = useResource(id, (signal) => readVersioned(api.GET('/collection-v2/{id}', { params: { path: { id } }, signal })))
  const current = collection.data.value
  async function remove(): Promise<void> {
    const isConfirmed = await confirm({ title: t('removeTitle'), body: <p>{t('removeText')}</p>, action: common('delete'), danger: true })
    if (!isConfirmed || !current) return
    await ok(api.DELETE('/collection-v2/{id}', { params: { path: { id }, header: ifMatch(current.etag) } }))
    notify(t('removed'))
    route(shopPath('collections'), true)
  }
  const title = current?.data.title.trim() || common('collections')
  return (
    <Page
      title={truncate(title, 120)}
      back={backLink()}
      subtitle={current && <PublicationBadge at={current.data.publishedAt} />}
      actions={current && canManage.value && <Button kind="danger" onPress={remove} text={common('delete')} />}
    >
      <ResourceView resource={collection}>
        {(version) =>
          canManage.value ? <CollectionForm current={version} resource={collection} /> : <CollectionView collection={version.data} />
        }
      </ResourceView>
    </Page>
  )
}

function CollectionForm({ current, resource }: { current?: Versioned<Collection>; resource?: Resource<Versioned<Collection>> }) {
  const { route } = useLocation()
  const zone = timeZone()
  const editor = useRecordEditor(
    resource,
    current,
    (data: Collection): CollectionValues => ({ ...textOf(data, zone), productIds: data.productIds }),
    { ...blankCollection, productIds: [] },
  )
  const [errors, setErrors] = useState<FieldErrors>({})
  const sendOnce = useIdempotentSend()

  async function create(): Promise<void> {
    const { productIds, ...text } = editor.values()
    const body = validBody(createBody(text, zone), setErrors)
    const { data, etag } = await sendOnce(body, (header) => readVersioned(api.POST('/collection-v2', { params: { header }, body })))
    try {
      if (productIds.length > 0) await putProducts(sendOnce, data.id, productIds, etag)
      notify(t('created'))
    } catch (error) {
      // The collection exists: its own page adds what is missing.
      notify(t('createdWithout'))
      showError(error)
    }
    route(shopPath('collections', data.id), true)
  }
  /** Sends the changed fields and then the changed products. */
  async function send(base: Versioned<Collection>, etag: string | undefined): Promise<Versioned<Collection>> {
    const { id } = base.data
    const { productIds, ...text } = editor.values()
    const body = validBody(changeBody(text, textOf(base.data, zone), { now: serverNow(), zone }), setErrors)
    let version = etag
    if (Object.keys(body).length > 0) {
      const changed = await sendOnce([id, body, etag], (header) =>
        readVersioned(api.PATCH('/collection-v2/{id}', { params: { path: { id }, header: { ...header, ...ifMatch(etag) } }, body })),
      )
      version = changed.etag
      // The products can fail; this step is saved.
      editor.rebase({ data: { ...base.data, ...changed.data }, etag: version })
    }
    if (productIds.join() !== base.data.productIds.join()) return putProducts(sendOnce, id, productIds, version)
    return readVersioned(api.GET('/collection-v2/{id}', { params: { path: { id } } }))
  }
  async function save(): Promise<void> {
    const base = editor.base()
    if (!base) return create()
    const saved = await editor.save({
      // A saved step is the base of the next attempt.
      save: (etag) => send(editor.base() ?? base, etag),
      differences: (theirs) => differencesOf(editor.values(), theirs),
    })
    if (saved) notify(common('saved'))
  }
  return (
    <div class="long-form">
      <Form onSubmit={save} submit={current ? common('save') : t('new')} dirty={editor.isDirty} label={current ? t('basics') : t('new')}>
        <CollectionFields draft={editor.fields} errors={errors} isExisting={current !== undefined} />
        <OrderedProducts ids={editor.fields.productIds} />
      </Form>
    </div>
  )
}

function differencesOf({ productIds: ids, ...mine }: CollectionValues, theirs: Collection): (readonly [string, string, string])[] {
  const theirTexts = textOf(theirs, timeZone())
  const names = [
    ['title', common('title')],
    ['handle', common('handle')],
    ['descriptionHtml', common('descriptionHtml')],
    ['imageUrl', common('picture')],
    ['imageAlt', common('altText')],
    ['publishedAt', t('publishedAt')],
  ] as const
  const rows = [
    ...names.map(([name, title]) => [title, mine[name], theirTexts[name]] as const),
    [common('status'), t(`showing.${mine.showing}`), t(`showing.${theirTexts.showing}`)] as const,
  ]
  const products = (ids: readonly string[]) => t('products', { n: ids.length })
  const hasOtherProducts = ids.join() !== theirs.productIds.join()
  const order = ids.length === theirs.productIds.length ? `${t('order')} ` : ''
  return [
    ...rows.filter(([, yours, other]) => yours !== other),
    ...(hasOtherProducts ? [[common('products'), `${order}${products(ids)}`, products(theirs.productIds)] as const] : []),
  ]
}
