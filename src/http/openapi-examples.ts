/** Examples of path parameters, for people and for tools that call every route. */
import { type IdKind, idPrefixes } from '../lib/ids.ts'

/** The suffix of an id (UUIDv7). */
const suffix = '01m7wcexzcejhrs5tv3s8sttvc'
const idOf = (kind: IdKind) => `${idPrefixes[kind]}_${suffix}`

/** Kind of record of `{id}`, by the preceding path segment. */
const kindsBySegment: Record<string, IdKind> = {
  addresses: 'address',
  affiliates: 'affiliate',
  blogs: 'blog',
  cart: 'cart',
  carts: 'agentCart',
  'checkout-sessions': 'checkoutSession',
  'collection-v2': 'collection',
  customer: 'customer',
  discounts: 'discount',
  drafts: 'draft',
  giftcard: 'giftCard',
  kyb: 'kyb',
  'lending-application': 'lendingApplication',
  lenders: 'lender',
  methodologies: 'methodology',
  orders: 'order',
  'platform-wallets': 'wallet',
  'product-v2': 'product',
  repayments: 'repayment',
  'service-providers': 'serviceProvider',
  sessions: 'session',
  shops: 'shop',
  staff: 'staff',
  'webhook-endpoints': 'endpoint',
}

/** Examples of parameters that are not ids. */
const words: Record<string, string> = {
  handle: 'brass-coffee-scoop',
  hash: `0x${'5f'.repeat(32)}`,
  host: 'shop.example.com',
  job: 'fold-listings',
  key: 'bank_statements_12m',
  language: 'en',
  processor: 'sandbox',
  shopName: 'demo',
  shopUrl: 'demo',
  name: `${'5f'.repeat(16)}-640`,
  slug: 'how-we-roast',
  template: 'order-confirmed',
  token: `${suffix}${'0123456789'.repeat(4)}`,
}

/** Examples for paths whose methods identify the record differently. */
const ofMethods: Record<string, string> = { 'DELETE /media/{name}': idOf('media') }

/**
 * @param path as the document has it: `/cart/{id}/items/{lineId}`
 * @param method where one has an example of its own
 * @returns undefined for a name without an example; test/http/openapi-examples.test.ts then fails
 */
export function pathExample(path: string, name: string, method?: string): string | undefined {
  const methodExample = ofMethods[`${method} ${path}`]
  if (methodExample !== undefined) return methodExample
  const idName = name.replace(/Id$/, '')
  if (name !== idName && idName in idPrefixes) return idOf(idName as IdKind)
  if (name === 'providerId') return idOf('serviceProvider')
  // The sandbox has no breaker and no accounts.
  if (name === 'processor' && /^\/admin\/|processor-accounts/.test(path)) return 'stripe'
  if (name !== 'id') return words[name]
  const before = path.slice(0, path.indexOf('/{id}')).split('/')
  const kind = before.map((segment) => kindsBySegment[segment]).findLast(Boolean)
  return kind && idOf(kind)
}
