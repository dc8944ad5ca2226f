import { useRef } from 'preact/hooks'
import { api, ifMatch, ok, readVersioned, type Schema } from '../../lib/api/api.ts'
import { ApiError } from '../../lib/api/api-error.ts'
import { findCollections } from '../../lib/api/record-search.ts'
import { useResource } from '../../lib/api/resource.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify, showError } from '../../lib/live/toasts.ts'
import { shopHeader, shopPath } from '../../lib/session/current-shop.ts'
import { Icon } from '../../ui/icon.tsx'
import { ResourceView, Section } from '../../ui/page.tsx'
import { Picker } from '../../ui/picker.tsx'
import { t } from './i18n.ts'

type Collection = Pick<Schema<'Collection'>, 'id' | 'title'>
/** Attempts to change a collection that other people change at the same time. */
const attempts = 3
/** The longest page of a list. */
const shownMax = 100

/** Adds a product to a collection, at the end, or removes it. Other changes of the collection stay. */
async function setMembership(collection: Collection, productId: string, isIn: boolean, shop = shopHeader()): Promise<void> {
  const path = { id: collection.id }
  for (let attemptsLeft = attempts; ; attemptsLeft--) {
    const { data, etag } = await readVersioned(api.GET('/collection-v2/{id}', { params: { path, header: shop } }))
    if (data.productIds.includes(productId) === isIn) return
    const productIds = isIn ? [...data.productIds, productId] : data.productIds.filter((id) => id !== productId)
    const header = { ...shop, ...ifMatch(etag) }
    try {
      await api.PUT('/collection-v2/{id}/products', { params: { path, header }, body: { productIds } })
      return
    } catch (error) {
      if (attemptsLeft <= 1 || !(error instanceof ApiError) || error.status !== 412) throw error
    }
  }
}

/**
 * The collections of a product. A change is saved at once: it belongs to the collection, not to the product's version.
 */
export function CollectionsField({ productId }: { productId: string }) {
  const collections = useResource(productId, (signal) =>
    ok(api.GET('/collection-v2', { params: { query: { product: productId, limit: shownMax } }, signal })),
  )
  const isBusy = useRef(false)
  async function change(collection: Collection, isIn: boolean): Promise<void> {
    if (isBusy.current) return
    isBusy.current = true
    try {
      await setMembership(collection, productId, isIn)
      notify(t(isIn ? 'addedTo' : 'removedFrom', { name: collection.title }), {
        subject: `collections ${productId}`,
        undo: () => setMembership(collection, productId, !isIn).then(collections.reload),
      })
    } catch (error) {
      showError(error)
    } finally {
      isBusy.current = false
      await collections.reload()
    }
  }
  return (
    <Section title={common('collections')} hint={t('collectionsHint')}>
      <ResourceView resource={collections}>
        {({ data }) => (
          <>
            {data.length > 0 && (
              <ul class="tags plain" aria-label={common('collections')}>
                {data.map((collection) => (
                  <li class="tag" key={collection.id}>
                    <a href={shopPath('collections', collection.id)}>
                      <bdi>{collection.title}</bdi>
                    </a>
                    <button type="button" aria-label={`${common('remove')}: ${collection.title}`} onClick={() => change(collection, false)}>
                      <Icon name="close" />
                    </button>
                  </li>
                ))}
              </ul>
            )}
            <Picker
              label={t('addToCollection')}
              find={findCollections}
              isSelected={({ id }) => data.some((collection) => collection.id === id)}
              onPick={({ record }) => change(record, !data.some(({ id }) => id === record.id))}
              single
            />
          </>
        )}
      </ResourceView>
    </Section>
  )
}
