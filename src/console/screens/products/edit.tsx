import { useSignal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso/router'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { useResource } from '../../lib/api/resource.ts'
import { timeZone } from '../../lib/format/format.ts'
import { serverNow } from '../../lib/format/server-clock.ts'
import { truncate } from '../../lib/format/truncate.ts'
import { common } from '../../lib/i18n/common.ts'
import { useEvents, useLiveReload } from '../../lib/live/live-events.ts'
import { notify, showError } from '../../lib/live/toasts.ts'
import { canManage, shop, shopPath } from '../../lib/session/current-shop.ts'
import { confirm } from '../../ui/dialog.tsx'
import { Page, ResourceView } from '../../ui/page.tsx'
import { saveVersioned } from '../../ui/save-versioned.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { differencesOf } from './differences.ts'
import { createProductEditor, type ProductEditor } from './editor.ts'
import type { StockFigures } from './field-texts.ts'
import { ProductForm } from './form.tsx'
import { t } from './i18n.ts'
import { ProductActions } from './product-actions.tsx'
import { changeProduct, createProduct, InvalidFields, readProduct, type VersionedProduct } from './save.ts'
import { ProductView } from './view.tsx'
import { ViewInShop } from './view-in-shop.tsx'

const shopTerms = () => ({ currency: shop.value?.currency ?? 'USD', zone: timeZone(), now: serverNow() })
const backLink = () => ({ href: shopPath('products'), text: common('products') })
const fixFieldsText = () => t('fixFields', { n: 1 })

/** Marks the wrong fields and reports their number. */
async function withFieldErrors<Answer>(editor: ProductEditor, send: () => Promise<Answer>): Promise<Answer> {
  editor.errors.value = {}
  try {
    return await send()
  } catch (error) {
    if (!(error instanceof InvalidFields)) throw error
    editor.errors.value = error.errors
    throw new Error('rows' in error.errors ? t('noVariants') : t('fixFields', { n: Object.keys(error.errors).length }))
  }
}

export default function EditProduct() {
  const { id } = useRoute().params
  return id === undefined ? <NewProduct /> : <ExistingProduct key={id} id={id} />
}

function NewProduct() {
  const { route } = useLocation()
  const [editor] = useState(() => createProductEditor(undefined, timeZone()))
  const sendOnce = useIdempotentSend()
  const noFigures = useSignal<StockFigures>(new Map())
  async function save(): Promise<void> {
    const text = editor.text.value
    const { data, pictureError } = await withFieldErrors(editor, () => createProduct(text, shopTerms(), sendOnce, fixFieldsText()))
    notify(t('created'))
    if (pictureError !== undefined) showError(pictureError)
    route(shopPath('products', data.id), true)
  }
  return (
    <Page title={t('new')} back={backLink()}>
      <ProductForm editor={editor} figures={noFigures} currency={shopTerms().currency} onSave={save} submit={t('new')} />
    </Page>
  )
}

function ExistingProduct({ id }: { id: string }) {
  const product = useResource(id, (signal) => readProduct(id, signal))
  const figures = useSignal<StockFigures>(new Map())
  const current = product.data.value?.data
  useEffect(() => {
    if (current) figures.value = new Map(current.variants.map(({ id: variant, onHand, reserved }) => [variant, { onHand, reserved }]))
  }, [current])
  const isOfProduct = ({ data }: { data: Readonly<Record<string, unknown>> }) => data['productId'] === id
  useEvents(['stock.*'], (liveEvent) => {
    const { variantId, onHand, reserved } = liveEvent.data
    if (!isOfProduct(liveEvent) || typeof variantId !== 'string' || typeof onHand !== 'number' || typeof reserved !== 'number') return
    figures.value = new Map([...figures.value, [variantId, { onHand, reserved }]])
  })
  useLiveReload(['import.finished'], product.reload)
  const title = current ? current.title.trim() || t('notNamed') : common('product')
  return (
    <Page
      title={truncate(title, 120)}
      back={backLink()}
      subtitle={current && <StatusBadge status={current.status} />}
      actions={
        current &&
        canManage.value && (
          <>
            <ViewInShop product={current} />
            <ProductActions version={product.data.value as VersionedProduct} onChanged={product.put} />
          </>
        )
      }
    >
      <ResourceView resource={product}>
        {(version) =>
          canManage.value ? (
            <ExistingProductForm current={version} figures={figures} onChanged={product.put} />
          ) : (
            <ProductView product={version.data} figures={figures} />
          )
        }
      </ResourceView>
    </Page>
  )
}

function ExistingProductForm({
  current,
  figures,
  onChanged,
}: {
  current: VersionedProduct
  figures: { value: StockFigures }
  onChanged: (current: VersionedProduct) => void
}) {
  const { id } = current.data
  const [editor] = useState(() => createProductEditor(current.data, timeZone()))
  // Version of the filled fields. A newer version replaces them unless something is typed.
  const formEtag = useRef(current.etag)
  const [isStale, setStale] = useState(false)
  useEffect(() => {
    if (current.etag === formEtag.current) return
    if (editor.isDirty.peek() && formEtag.current !== '') return setStale(true)
    fillForm(current)
  }, [current.etag])
  function fillForm(version: VersionedProduct): void {
    formEtag.current = version.etag
    setStale(false)
    editor.load(version.data)
  }
  const sendOnce = useIdempotentSend()
  const differences = (theirs: VersionedProduct['data']) => differencesOf(editor.text.value, editor.before(), theirs, shopTerms())

  async function save(): Promise<void> {
    const { length } = editor.removed.value
    const isConfirmed =
      length === 0 ||
      (await confirm({ title: t('removeTitle', { n: length }), body: <p>{t('removeText')}</p>, action: t('removeAction'), danger: true }))
    if (!isConfirmed) return
    const saved = await withFieldErrors(editor, () =>
      saveVersioned<VersionedProduct, VersionedProduct['data']>(formEtag.current, {
        save(etag) {
          const deletedIds = editor.removed.value.flatMap((row) => row.id ?? [])
          return changeProduct({ id, text: editor.text.value, before: editor.before(), deletedIds }, shopTerms(), etag, {
            sendOnce,
            message: fixFieldsText(),
            // This step is saved, even if a later one fails.
            onStep(step, variantId) {
              if (variantId !== undefined) editor.confirmDeleted(variantId)
              if (!step) return
              formEtag.current = step.etag
              editor.markSaved(step.data)
              onChanged(step)
            },
          })
        },
        async readCurrent() {
          const theirs = await readProduct(id)
          editor.mergeTheirs(theirs.data)
          return theirs
        },
        differences,
        isSame: (theirs) => differences(theirs).length === 0,
        onViewCurrent: (theirs) => {
          fillForm(theirs)
          onChanged(theirs)
        },
      }),
    )
    if (!saved) return
    fillForm(saved)
    onChanged(saved)
    notify(common('saved'))
  }
  return (
    <>
      {isStale && editor.isDirty.value && (
        <div class="note warn" role="status">
          {t('changedMeanwhile')}
        </div>
      )}
      <ProductForm editor={editor} figures={figures} currency={shopTerms().currency} onSave={save} product={current.data} />
    </>
  )
}
