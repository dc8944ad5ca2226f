import { type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { api, ifMatch, readVersioned } from '../../lib/api/api.ts'
import { truncate } from '../../lib/format/truncate.ts'
import { common, stateName } from '../../lib/i18n/common.ts'
import { notify, showError } from '../../lib/live/toasts.ts'
import { shopHeader } from '../../lib/session/current-shop.ts'
import { Button } from '../../ui/button.tsx'
import { ErrorText } from '../../ui/error-message.tsx'
import { type Product, productStatuses } from './columns.tsx'
import { t } from './i18n.ts'

type ProductSummary = Pick<Product, 'id' | 'title' | 'status'>
type SelectedProducts = ReadonlyMap<string, ProductSummary>
/** A changed product with its previous status and new version. */
type ChangedProduct = ProductSummary & { readonly etag: string }
type FailedChange = { readonly product: ProductSummary; readonly error: unknown }

const withAll = (chosen: SelectedProducts, products: readonly ProductSummary[]): SelectedProducts =>
  new Map([...chosen, ...products.map(({ id, title, status }) => [id, { id, title, status }] as const)])
const without = (chosen: SelectedProducts, ids: readonly string[]): SelectedProducts =>
  new Map([...chosen].filter(([id]) => !ids.includes(id)))

export const SelectCheckbox = ({ product, chosen }: { product: Product; chosen: Signal<SelectedProducts> }) => (
  <input
    type="checkbox"
    aria-label={t('choose', { name: truncate(product.title) })}
    checked={chosen.value.has(product.id)}
    onChange={({ currentTarget: { checked } }) =>
      (chosen.value = checked ? withAll(chosen.value, [product]) : without(chosen.value, [product.id]))
    }
  />
)

/** The selection over all pages of a list, and its progress. */
type ProductSelection = {
  readonly selected: Signal<SelectedProducts>
  /** Progress text; empty when idle. */
  readonly progress: ReadonlySignal<string>
  readonly failed: Signal<readonly FailedChange[]>
  /** Changes the selected products one by one. Failed ones stay selected. */
  set(status: Product['status']): Promise<void>
}

/** @param onChanged reloads the list */
export function useProductSelection(onChanged: () => unknown): ProductSelection {
  const latest = useRef(onChanged)
  latest.current = onChanged
  const isMounted = useRef(true)
  useEffect(
    () => () => {
      isMounted.current = false
    },
    [],
  )
  return useMemo(() => {
    const selected = signal<SelectedProducts>(new Map())
    const progress = signal('')
    const failed = signal<readonly FailedChange[]>([])
    // Fixes the shop, because another one can be shown before the end.
    const headers = shopHeader()

    /**
     * @param products with versions to match, or without to overwrite, because lists have no versions
     * @returns the changed products
     */
    async function setAll(
      products: readonly (ProductSummary & { readonly etag?: string })[],
      statusOf: (product: ProductSummary) => Product['status'],
    ): Promise<readonly ChangedProduct[]> {
      const changed: ChangedProduct[] = []
      failed.value = []
      for (const [index, product] of products.entries()) {
        progress.value = t('working', { done: index, total: products.length })
        try {
          const params = { path: { id: product.id }, header: ifMatch(product.etag) }
          const { etag } = await readVersioned(api.PATCH('/product-v2/{id}', { params, headers, body: { status: statusOf(product) } }))
          changed.push({ ...product, etag })
        } catch (error) {
          failed.value = [...failed.value, { product, error }]
        }
      }
      progress.value = ''
      const [first] = failed.value
      if (isMounted.current) await latest.current()
      // The list is no longer shown.
      else if (first) {
        const why = (first.error instanceof Error && first.error.message) || common('away')
        showError(new Error(t('leftAlone', { n: failed.value.length, name: truncate(first.product.title), why })))
      }
      return changed
    }
    async function set(status: Product['status']): Promise<void> {
      const selectedProducts = [...selected.value.values()]
      const changed = await setAll(
        selectedProducts.filter((product) => product.status !== status),
        () => status,
      )
      const failedIds = new Set(failed.value.map(({ product }) => product.id))
      // Keeps products that were selected meanwhile.
      selected.value = without(
        selected.value,
        selectedProducts.map(({ id }) => id).filter((id) => !failedIds.has(id)),
      )
      if (changed.length > 0)
        notify(t('changed', { n: changed.length, status: stateName(status) }), { undo: () => setAll(changed, (product) => product.status) })
      else if (failedIds.size === 0) notify(t('alreadySo', { n: selectedProducts.length, status: stateName(status) }))
    }
    return { selected, progress, failed, set }
  }, [])
}

/** Selection and bulk actions with progress. */
export function SelectionActions({
  selection: { selected, progress, failed, set },
  shownProducts,
}: {
  selection: ProductSelection
  shownProducts: readonly Product[]
}) {
  const isAll = shownProducts.every(({ id }) => selected.value.has(id))
  const count = selected.value.size
  return (
    <div class="chosen row" role="group" aria-label={t('chosenGroup')}>
      <label class="choice">
        <input
          type="checkbox"
          checked={isAll}
          onChange={({ currentTarget: { checked } }) => {
            selected.value = checked
              ? withAll(selected.value, shownProducts)
              : without(
                  selected.value,
                  shownProducts.map(({ id }) => id),
                )
          }}
        />
        <span>{t('chooseAll')}</span>
      </label>
      {count > 0 && (
        <>
          <strong>{t('chosen', { n: count })}</strong>
          {productStatuses.map((status) => (
            <Button key={status} disabled={progress.value !== ''} onPress={() => set(status)} text={t(`set.${status}`)} />
          ))}
          <Button
            kind="quiet"
            onPress={() => {
              selected.value = new Map()
              failed.value = []
            }}
            text={t('chooseNone')}
          />
        </>
      )}
      <span role="status">{progress.value}</span>
    </div>
  )
}

/** Failed changes. */
export function FailedChanges({ selection: { failed } }: { selection: ProductSelection }) {
  if (failed.value.length === 0) return null
  return (
    <div class="problem" role="alert">
      <div class="stack">
        <strong>{t('notChanged', { n: failed.value.length })}</strong>
        <ul class="stack">
          {failed.value.map(({ product, error }) => (
            <li key={product.id}>
              <bdi class="cut">{product.title}</bdi>
              <ErrorText error={error} />
            </li>
          ))}
        </ul>
        <Button onPress={() => (failed.value = [])} text={common('close')} />
      </div>
    </div>
  )
}
