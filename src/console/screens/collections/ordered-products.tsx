import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { api, ok, type Schema } from '../../lib/api/api.ts'
import { ApiError } from '../../lib/api/api-error.ts'
import { findProducts } from '../../lib/api/record-search.ts'
import { truncate } from '../../lib/format/truncate.ts'
import { wholeNumber } from '../../lib/forms/number-input.ts'
import { common } from '../../lib/i18n/common.ts'
import { shopPath } from '../../lib/session/current-shop.ts'
import { Button } from '../../ui/button.tsx'
import { EmptyState, Section } from '../../ui/page.tsx'
import { Picker } from '../../ui/picker.tsx'
import { Picture } from '../../ui/picture.tsx'
import { moveItem, SortableList } from '../../ui/sortable-list.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { productsMax } from './draft.domain.ts'
import { t } from './i18n.ts'

type Product = Schema<'Product'>
/** Number of products that are drawn and read at a time. */
const windowSize = 30
const concurrency = 6

/** Reads shown products by id; null if one is deleted. A failed read is repeated when the shown ids change. */
export function useProducts(ids: readonly string[]): Signal<ReadonlyMap<string, Product | null>> {
  const products = useSignal<ReadonlyMap<string, Product | null>>(new Map())
  const key = ids.join()
  useEffect(() => {
    const controller = new AbortController()
    async function readAll(): Promise<void> {
      const missingIds = ids.filter((id) => !products.peek().has(id))
      for (let start = 0; start < missingIds.length; start += concurrency) {
        const batch = missingIds.slice(start, start + concurrency)
        const read = (id: string) =>
          ok(api.GET('/product-v2/{id}', { params: { path: { id } }, signal: controller.signal })).catch((error: unknown) =>
            error instanceof ApiError && error.status === 404 ? null : undefined,
          )
        const loaded = await Promise.all(batch.map(async (id) => [id, await read(id)] as const))
        if (controller.signal.aborted) return
        products.value = new Map([
          ...products.value,
          ...loaded.filter((entry): entry is [string, Product | null] => entry[1] !== undefined),
        ])
      }
    }
    void readAll()
    return () => controller.abort()
  }, [key])
  return products
}

/** The ordered products of a collection: added by search, moved by keys, dragging or position number. */
export function OrderedProducts({ ids }: { ids: Signal<readonly string[]> }) {
  const windowStart = useSignal(0)
  const allIds = ids.value
  const start = Math.min(windowStart.value, Math.max(0, Math.floor((allIds.length - 1) / windowSize) * windowSize))
  const shownIds = allIds.slice(start, start + windowSize)
  const products = useProducts(shownIds)
  const nameOf = (id: string) => products.value.get(id)?.title ?? (products.value.get(id) === null ? t('gone') : '')

  function move(index: number, to: number): void {
    ids.value = moveItem(ids.value, index, to)
    // The moved product stays visible.
    if (to < start || to >= start + windowSize) windowStart.value = Math.floor(to / windowSize) * windowSize
  }
  function add(product: Product): void {
    if (ids.value.includes(product.id)) ids.value = ids.value.filter((id) => id !== product.id)
    else if (ids.value.length < productsMax) {
      products.value = new Map([...products.value, [product.id, product]])
      ids.value = [...ids.value, product.id]
    }
  }
  return (
    <Section title={common('products')} hint={t('productsHint')}>
      <Picker
        label={t('add')}
        hint={t('addHint')}
        find={findProducts}
        isSelected={({ id }) => ids.value.includes(id)}
        onPick={({ record }) => add(record)}
        error={allIds.length >= productsMax ? t('full', { max: productsMax }) : undefined}
      />
      {allIds.length === 0 ? (
        <EmptyState icon="products" title={t('noProducts')} text={t('noProductsText')} />
      ) : (
        <>
          <SortableList
            label={t('order')}
            items={shownIds}
            keyOf={(id) => id}
            nameOf={nameOf}
            onMove={move}
            first={start}
            total={allIds.length}
          >
            {(id, index) => (
              <ProductItem
                key={id}
                id={id}
                index={index}
                total={allIds.length}
                product={products.value.get(id)}
                name={nameOf(id)}
                onMove={move}
                onRemove={() => (ids.value = ids.value.filter((other) => other !== id))}
              />
            )}
          </SortableList>
          {allIds.length > windowSize && (
            <div class="row">
              <Button disabled={start === 0} onPress={() => (windowStart.value = start - windowSize)} text={t('earlier')} />
              <span>{t('shown', { from: start + 1, to: start + shownIds.length, total: allIds.length })}</span>
              <Button
                disabled={start + windowSize >= allIds.length}
                onPress={() => (windowStart.value = start + windowSize)}
                text={t('later')}
              />
            </div>
          )}
        </>
      )}
    </Section>
  )
}

function ProductItem({
  id,
  index,
  total,
  product,
  name,
  onMove,
  onRemove,
}: {
  id: string
  index: number
  total: number
  product: Product | null | undefined
  name: string
  onMove: (from: number, to: number) => void
  onRemove: () => void
}) {
  const shortName = truncate(name)
  return (
    <div class="ordered-product">
      <input
        class="position"
        inputMode="numeric"
        value={index + 1}
        aria-label={t('place', { name: shortName })}
        title={t('toPlace')}
        onChange={({ currentTarget }) => {
          const to = wholeNumber(currentTarget.value)
          currentTarget.value = String(index + 1)
          if (to) onMove(index, Math.min(to, total) - 1)
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return
          event.preventDefault()
          event.currentTarget.blur()
        }}
      />
      <a class="named" href={shopPath('products', id)}>
        <Picture url={product?.images[0]?.url} />
        <bdi class="cut">{name || id}</bdi>
      </a>
      {product && product.status !== 'ACTIVE' ? <StatusBadge status={product.status} /> : <span />}
      <Button kind="quiet" icon="close" label={t('removeProduct', { name: shortName })} onPress={onRemove} />
    </div>
  )
}
