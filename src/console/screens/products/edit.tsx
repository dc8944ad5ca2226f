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
import { mayManage, shop, shopPath } from '../../lib/session/current-shop.ts'
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
  editor.wrong.value = {}
  try {
    return await send()
  } catch (error) {
    if (!(error instanceof InvalidFields)) throw error
    editor.wrong.value = error.wrong
    throw new Error('rows' in error.wrong ? t('noVariants') : t('fixFields', { n: Object.keys(error.wrong).length }))
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
  const none = useSignal<StockFigures>(new Map())
  async function save(): Promise<void> {
    const text = editor.text.value
    const { data, later } = await withFieldErrors(editor, () => createProduct(text, shopTerms(), sendOnce, fixFieldsText()))
    notify(t('created'))
    if (later !== undefined) showError(later)
    route(shopPath('products', data.id), true)
  }
  return (
    <Page title={t('new')} back={backLink()}>
      <ProductForm editor={editor} figures={none} currency={shopTerms().currency} onSave={save} submit={t('new')} />
    </Page>
  )
}

function ExistingProduct({ id }: { id: string }) {
  const known = useResource(id, (signal) => readProduct(id, signal))
  const figures = useSignal<StockFigures>(new Map())
  const of = known.data.value?.data
  useEffect(() => {
    if (of) figures.value = new Map(of.variants.map(({ id: variant, onHand, reserved }) => [variant, { onHand, reserved }]))
  }, [of])
  const isOurs = ({ data }: { data: Readonly<Record<string, unknown>> }) => data['productId'] === id
  useEvents(['stock.*'], (happened) => {
    const { variantId, onHand, reserved } = happened.data
    if (!isOurs(happened) || typeof variantId !== 'string' || typeof onHand !== 'number' || typeof reserved !== 'number') return
    figures.value = new Map([...figures.value, [variantId, { onHand, reserved }]])
  })
  useLiveReload(['import.finished'], known.reload)
  const title = of ? of.title.trim() || t('notNamed') : common('product')
  return (
    <Page
      title={truncate(title, 120)}
      back={backLink()}
      subtitle={of && <StatusBadge of={of.status} />}
      actions={
        of &&
        mayManage.value && (
          <>
            <ViewInShop of={of} />
            <ProductActions of={known.data.value as VersionedProduct} onChanged={known.put} />
          </>
        )
      }
    >
      <ResourceView of={known}>
        {(now) =>
          mayManage.value ? (
            <ExistingProductForm now={now} figures={figures} onChanged={known.put} />
          ) : (
            <ProductView of={now.data} figures={figures} />
          )
        }
      </ResourceView>
    </Page>
  )
}

function ExistingProductForm({
  now,
  figures,
  onChanged,
}: {
  now: VersionedProduct
  figures: { value: StockFigures }
  onChanged: (now: VersionedProduct) => void
}) {
  const { id } = now.data
  const [editor] = useState(() => createProductEditor(now.data, timeZone()))
  // Version of the filled fields. A newer version replaces them unless something is typed.
  const filled = useRef(now.etag)
  const [isStale, setStale] = useState(false)
  useEffect(() => {
    if (now.etag === filled.current) return
    if (editor.isDirty.peek() && filled.current !== '') return setStale(true)
    take(now)
  }, [now.etag])
  function take(fresh: VersionedProduct): void {
    filled.current = fresh.etag
    setStale(false)
    editor.load(fresh.data)
  }
  const sendOnce = useIdempotentSend()
  const differences = (theirs: VersionedProduct['data']) => differencesOf(editor.text.value, editor.before(), theirs, shopTerms())

  async function save(): Promise<void> {
    const { length } = editor.removed.value
    const sure =
      length === 0 ||
      (await confirm({ title: t('removeTitle', { n: length }), body: <p>{t('removeText')}</p>, action: t('removeAction'), danger: true }))
    if (!sure) return
    const saved = await withFieldErrors(editor, () =>
      saveVersioned<VersionedProduct, VersionedProduct['data']>(filled.current, {
        save(etag) {
          const gone = editor.removed.value.flatMap((row) => row.id ?? [])
          return changeProduct({ id, text: editor.text.value, before: editor.before(), gone }, shopTerms(), etag, {
            sendOnce,
            message: fixFieldsText(),
            // This step is saved, even if a later one fails.
            onStep(step, variantId) {
              if (variantId !== undefined) editor.gone(variantId)
              if (!step) return
              filled.current = step.etag
              editor.settle(step.data)
              onChanged(step)
            },
          })
        },
        async theirs() {
          const theirs = await readProduct(id)
          editor.meet(theirs.data)
          return theirs
        },
        differences,
        isSame: (theirs) => differences(theirs).length === 0,
        onTheirs: (theirs) => {
          take(theirs)
          onChanged(theirs)
        },
      }),
    )
    if (!saved) return
    take(saved)
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
      <ProductForm editor={editor} figures={figures} currency={shopTerms().currency} onSave={save} known={now.data} />
    </>
  )
}
