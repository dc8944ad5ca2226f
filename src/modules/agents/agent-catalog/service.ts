import type { AgentCall } from '../../../core/agent-call.ts'
import { undefinedIfNotFound } from '../../../core/errors.ts'
import type { PageSlice } from '../../../lib/page.ts'
import { sha256 } from '../../../lib/seal.ts'
import { envelopeOf, notFoundAnswer } from '../../../lib/ucp/call.ts'
import { UcpError } from '../../../lib/ucp/errors.ts'
import { type UcpMessage, ucpMessage } from '../../../lib/ucp/messages.ts'
import { variantsMax } from '../../catalog/products/domain.ts'
import {
  type CatalogDeps,
  findPublicProductIds,
  findPublishedCollection,
  findSellables,
  listProducts,
  type PublicProduct,
  readPublicProduct,
  readPublicProductByHandle,
} from '../../catalog/products/index.ts'
import {
  descriptionMax,
  detailOptions,
  type FilterInput,
  featuredVariant,
  fitProducts,
  type LookupInput,
  type LookupMatch,
  type ProductInput,
  type ProductView,
  type PublicVariant,
  pageMax,
  productView,
  type SearchInput,
  selectVariants,
  variantView,
} from './product-view.ts'
import type { AgentCatalogDeps } from './providers.ts'

type Call = Pick<AgentCall, 'shop' | 'platform'>

const limitDefault = 10
/** Variants of a product in a list. */
const listedVariantsMax = 10
const refuse = (field: string, rule: string) => new UcpError('invalid_request', `${field}: ${rule}`)

/** Parses the public record of a product of the shop; undefined if it is not public. */
async function publicProductOf(shopId: string, reading: ReturnType<typeof readPublicProduct>): Promise<PublicProduct | undefined> {
  const record = await reading.catch(undefinedIfNotFound)
  return record?.shopId === shopId ? (JSON.parse(record.document) as PublicProduct) : undefined
}

/** Reads a page of the ids of public products that match the filters, and their total. */
async function idsMatching(deps: CatalogDeps, { shop }: Call, q: string | undefined, filters: FilterInput, slice: PageSlice) {
  const query = {
    ...{ shopId: shop.id, showQuantity: false, sort: undefined, q },
    ...{ minPrice: filters.price?.min, maxPrice: filters.price?.max },
  }
  const { categories = [] } = filters
  if (categories.length === 0) return findPublicProductIds(deps, query, slice)
  const collections = await Promise.all([...new Set(categories)].map((handle) => findPublishedCollection(deps, shop, handle)))
  const collectionIds = collections.flatMap((collection) => (collection ? [collection.id] : []))
  const [collectionId] = collectionIds
  if (collectionIds.length <= 1)
    return collectionId === undefined ? { ids: [], total: 0 } : findPublicProductIds(deps, { ...query, collectionId }, slice)
  // Products of any of the collections, in the order of the request.
  const lists = await Promise.all(collectionIds.map((id) => findPublicProductIds(deps, { ...query, collectionId: id }, everything)))
  const ids = [...new Set(lists.flatMap((list) => list.ids))]
  return { ids: ids.slice(slice.offset, slice.offset + slice.limit), total: ids.length }
}
/** Filtered lists end at 1,000 products. */
const everything: PageSlice = { page: 1, limit: 1_000, offset: 0 }

/** Binds a cursor to its search, so that it does not continue another. */
const searchDigest = ({ query, filters }: SearchInput): string => sha256(JSON.stringify([query, filters])).slice(0, 8)

function offsetOf(input: SearchInput): number {
  const cursor = input.pagination?.cursor
  if (cursor === undefined) return 0
  const [, digits, digest] = /^([0-9a-z]{1,9})\.([0-9a-f]{8})$/.exec(cursor) ?? []
  if (digits === undefined || digest !== searchDigest(input))
    throw refuse('pagination.cursor', 'must be a cursor of an answer to this search')
  return Number.parseInt(digits, 36)
}

/**
 * Searches public products by words, collections and price. Pages hold 10 products, at most 50.
 * @throws UcpError `invalid_request` without query and filter, or for a cursor of another search
 */
export async function searchCatalog(deps: AgentCatalogDeps, call: Call, { body }: { body: SearchInput }): Promise<object> {
  const { query, filters = {}, pagination } = body
  const isFiltered = (filters.categories?.length ?? 0) > 0 || filters.price?.min !== undefined || filters.price?.max !== undefined
  const q = query?.trim() ? query : undefined
  if (q === undefined && !isFiltered) throw refuse('query', 'needed unless filters are given')
  const limit = Math.min(pagination?.limit ?? limitDefault, pageMax)
  const offset = offsetOf(body)
  // Products also become visible at a set time, without a change of the database.
  const second = Math.floor(deps.clock.now() / 1_000)
  const { categories, price } = filters
  const key = JSON.stringify([call.shop.id, call.platform.release, second, query, categories, price?.min, price?.max, limit, offset])
  return (
    deps.agentSearches.get(key) ??
    deps.agentSearches.reload(key, async () => Object.freeze(await search(deps, call, body, { q, limit, offset })))
  )
}

/** Reads a page of a search. */
async function search(
  deps: AgentCatalogDeps,
  call: Call,
  body: SearchInput,
  { q, limit, offset }: { q: string | undefined; limit: number; offset: number },
): Promise<object> {
  const { filters = {} } = body
  const { ids, total } = await idsMatching(deps, call, q, filters, { page: 1, limit, offset })
  const listed = await Promise.all(ids.map((id) => listedProduct(deps, call.shop.id, id)))
  const views = listed.filter((product) => product !== undefined)
  const products = fitProducts(views)
  // The next page begins with the products that did not fit.
  const next = offset + ids.length - (views.length - products.length)
  return {
    ucp: envelopeOf(call.platform, 'search'),
    products,
    pagination: {
      ...(next < total ? { cursor: `${next.toString(36)}.${searchDigest(body)}` } : {}),
      has_next_page: next < total,
      total_count: total,
    },
  }
}

/** Renders a product of a list; undefined if it is not public any more. */
async function listedProduct(deps: AgentCatalogDeps, shopId: string, id: string): Promise<ProductView | undefined> {
  const record = await readPublicProduct(deps, id).catch(undefinedIfNotFound)
  if (record?.shopId !== shopId) return undefined
  const cached = deps.agentProducts.get(record.etag)
  if (cached) return cached
  const product = JSON.parse(record.document) as PublicProduct
  const variants = product.variants.slice(0, listedVariantsMax).map((variant) => variantView(product, variant))
  const view = productView(product, variants, descriptionMax.list)
  deps.agentProducts.set(record.etag, view)
  return view
}

const skuKeyOf = (sku: string): string => sku.normalize('NFC').toLowerCase()
/** SKUs are compared in NFC and without case. A shop may use one SKU for several variants. */
const isSku = ({ sku }: PublicVariant, id: string): boolean => sku !== null && skuKeyOf(sku) === skuKeyOf(id)
const skuProductsMax = 5

type Match = { product: PublicProduct; variant: PublicVariant; match: LookupMatch['match'] }

/** Finds what an id means: a variant, a product, a handle or a SKU, in this order. */
async function matchesOf(deps: CatalogDeps, { shop }: Call, id: string): Promise<Match[]> {
  const sellable = (await findSellables(deps, [id], shop.id)).get(id)
  const product = await publicProductOf(shop.id, readPublicProduct(deps, sellable?.product.id ?? id))
  if (product) return matchesIn(product, sellable && (({ id: variantId }) => variantId === id))
  const byHandle = await publicProductOf(shop.id, readPublicProductByHandle(deps, shop, id))
  if (byHandle) return matchesIn(byHandle, undefined)
  const { data } = await listProducts(deps, shop, { sku: id.normalize('NFC') }, { page: 1, limit: skuProductsMax, offset: 0 })
  const bySku = await Promise.all(data.map((one) => publicProductOf(shop.id, readPublicProduct(deps, one.id))))
  return bySku.flatMap((one) => (one ? matchesIn(one, (variant) => isSku(variant, id)) : []))
}

/** Returns the variants of a product that an id names. @param isNamed undefined: the id names the product */
function matchesIn(product: PublicProduct, isNamed: ((variant: PublicVariant) => boolean) | undefined): Match[] {
  if (isNamed) return product.variants.filter(isNamed).map((variant) => ({ product, variant, match: 'exact' }))
  const variant = featuredVariant(product)
  return variant ? [{ product, variant, match: 'featured' }] : []
}

const isPricedWithin = ({ price }: FilterInput, { variant }: Match): boolean =>
  variant.price.amount >= (price?.min ?? 0) && variant.price.amount <= (price?.max ?? Number.POSITIVE_INFINITY)

/** Looks up products by up to 50 ids. Each variant says which ids found it; misses are messages. */
export async function lookupCatalog(deps: CatalogDeps, call: Call, { body }: { body: LookupInput }): Promise<object> {
  const { filters = {} } = body
  const ids = [...new Set(body.ids)]
  const filteredIds =
    (filters.categories?.length ?? 0) > 0 ? new Set((await idsMatching(deps, call, undefined, filters, everything)).ids) : undefined
  const matches = await Promise.all(ids.map((id) => matchesOf(deps, call, id)))
  const messages: UcpMessage[] = []
  const products = new Map<string, { product: PublicProduct; inputs: Map<PublicVariant, LookupMatch[]> }>()
  for (const [at, id] of ids.entries()) {
    const fitting = (matches[at] ?? []).filter((match) => isPricedWithin(filters, match) && filteredIds?.has(match.product.id) !== false)
    if (fitting.length === 0) messages.push(ucpMessage('not_found', `$.ids[${body.ids.indexOf(id)}]`))
    for (const { product, variant, match } of fitting) {
      const entry = products.get(product.id) ?? { product, inputs: new Map() }
      products.set(product.id, entry)
      // Another id may have read the same product again.
      const key = [...entry.inputs.keys()].find((one) => one.id === variant.id) ?? variant
      entry.inputs.set(key, [...(entry.inputs.get(key) ?? []), { id, match }])
    }
  }
  return {
    ucp: envelopeOf(call.platform, 'lookup'),
    products: fitProducts(
      [...products.values()].map(({ product, inputs }) =>
        productView(
          product,
          [...inputs].map(([variant, matched]) => variantView(product, variant, matched)),
          descriptionMax.list,
        ),
      ),
    ),
    ...(messages.length > 0 ? { messages } : {}),
  }
}

/** Returns one product, narrowed to the chosen option values. */
export async function getProduct(deps: CatalogDeps, call: Call, { body }: { body: ProductInput }): Promise<object> {
  const [first] = await matchesOf(deps, call, body.id)
  if (!first) return notFoundAnswer(call.platform)
  const { product, variant, match } = first
  const variantOptions = product.options.flatMap(({ name }, at) => {
    const label = variant.optionValues[at]
    return label === undefined ? [] : [{ name, label }]
  })
  const chosen = body.selected ?? (match === 'exact' ? variantOptions : [])
  const { selected, variants } = selectVariants(product, chosen, body.preferences ?? [])
  const view = productView(
    product,
    variants.slice(0, variantsMax).map((one) => variantView(product, one)),
    descriptionMax.detail,
  )
  const options = detailOptions(product, selected)
  const [fitting] = fitProducts([{ ...view, ...(options.length > 0 ? { options } : {}), ...(selected.length > 0 ? { selected } : {}) }])
  return { ucp: envelopeOf(call.platform, 'lookup'), product: fitting }
}
