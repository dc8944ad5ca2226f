import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { api, ok, Refused, type Schema } from '../../lib/api/api.ts'
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
  const known = useSignal<ReadonlyMap<string, Product | null>>(new Map())
  const key = ids.join()
  useEffect(() => {
    const asking = new AbortController()
    async function readAll(): Promise<void> {
      const wanted = ids.filter((id) => !known.peek().has(id))
      for (let from = 0; from < wanted.length; from += concurrency) {
        const some = wanted.slice(from, from + concurrency)
        const read = (id: string) =>
          ok(api.GET('/product-v2/{id}', { params: { path: { id } }, signal: asking.signal })).catch((error: unknown) =>
            error instanceof Refused && error.status === 404 ? null : undefined,
          )
        const found = await Promise.all(some.map(async (id) => [id, await read(id)] as const))
        if (asking.signal.aborted) return
        known.value = new Map([...known.value, ...found.filter((one): one is [string, Product | null] => one[1] !== undefined)])
      }
    }
    void readAll()
    return () => asking.abort()
  }, [key])
  return known
}

/** The ordered products of a collection: added by search, moved by keys, dragging or position number. */
export function OrderedProducts({ ids }: { ids: Signal<readonly string[]> }) {
  const first = useSignal(0)
  const all = ids.value
  const from = Math.min(first.value, Math.max(0, Math.floor((all.length - 1) / windowSize) * windowSize))
  const shown = all.slice(from, from + windowSize)
  const products = useProducts(shown)
  const nameOf = (id: string) => products.value.get(id)?.title ?? (products.value.get(id) === null ? t('gone') : '')

  function move(place: number, to: number): void {
    ids.value = moveItem(ids.value, place, to)
    // The moved product stays visible.
    if (to < from || to >= from + windowSize) first.value = Math.floor(to / windowSize) * windowSize
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
        taken={({ id }) => ids.value.includes(id)}
        onPick={({ of }) => add(of)}
        error={all.length >= productsMax ? t('full', { max: productsMax }) : undefined}
      />
      {all.length === 0 ? (
        <EmptyState icon="products" title={t('noProducts')} text={t('noProductsText')} />
      ) : (
        <>
          <SortableList label={t('order')} items={shown} keyOf={(id) => id} nameOf={nameOf} onMove={move} first={from} total={all.length}>
            {(id, place) => (
              <ProductItem
                key={id}
                id={id}
                place={place}
                total={all.length}
                product={products.value.get(id)}
                name={nameOf(id)}
                onMove={move}
                onRemove={() => (ids.value = ids.value.filter((one) => one !== id))}
              />
            )}
          </SortableList>
          {all.length > windowSize && (
            <div class="row">
              <Button disabled={from === 0} onPress={() => (first.value = from - windowSize)} text={t('earlier')} />
              <span>{t('shown', { from: from + 1, to: from + shown.length, total: all.length })}</span>
              <Button disabled={from + windowSize >= all.length} onPress={() => (first.value = from + windowSize)} text={t('later')} />
            </div>
          )}
        </>
      )}
    </Section>
  )
}

function ProductItem({
  id,
  place,
  total,
  product,
  name,
  onMove,
  onRemove,
}: {
  id: string
  place: number
  total: number
  product: Product | null | undefined
  name: string
  onMove: (from: number, to: number) => void
  onRemove: () => void
}) {
  const called = truncate(name)
  return (
    <div class="ordered-product">
      <input
        class="place"
        inputMode="numeric"
        value={place + 1}
        aria-label={t('place', { name: called })}
        title={t('toPlace')}
        onChange={({ currentTarget }) => {
          const to = wholeNumber(currentTarget.value)
          currentTarget.value = String(place + 1)
          if (to) onMove(place, Math.min(to, total) - 1)
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
      {product && product.status !== 'ACTIVE' ? <StatusBadge of={product.status} /> : <span />}
      <Button kind="quiet" icon="close" label={t('removeProduct', { name: called })} onPress={onRemove} />
    </div>
  )
}
