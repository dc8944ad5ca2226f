/** TypeIDs (github.com/jetify-com/typeid, spec 0.3): a prefix, `_`, and 128 bits in Crockford's base32, lower case. */

export const idPrefixes = {
  merchant: 'mer',
  user: 'usr',
  shop: 'shop',
  customer: 'cus',
  product: 'prod',
  variant: 'var',
  image: 'img',
  collection: 'coll',
  blog: 'blog',
  session: 'ses',
  key: 'key',
  audit: 'aud',
  change: 'chg',
  address: 'addr',
  giftCard: 'gift',
  giftCardTransaction: 'gtx',
  cart: 'cart',
  line: 'line',
  order: 'order',
  event: 'evt',
  payment: 'pay',
  refund: 'ref',
  affiliate: 'aff',
  click: 'clk',
  transaction: 'txn',
  message: 'msg',
  endpoint: 'whe',
  delivery: 'dlv',
} as const
export type IdKind = keyof typeof idPrefixes
export type NewId = (kind: IdKind) => string

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** 16 bytes as the 26 characters of a TypeID's suffix, most significant first. */
export function encodeSuffix(bytes: Uint8Array): string {
  const digits = BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
    .toString(32)
    .padStart(26, '0')
  return digits.replace(/[a-v]/g, (digit) => alphabet.charAt(Number.parseInt(digit, 32)))
}

/** Makes ids whose order is that of their making: UUIDv7 from `uuidV7`, 16 bytes a call. */
export const createNewId =
  (uuidV7: () => Uint8Array): NewId =>
  (kind) =>
    `${idPrefixes[kind]}_${encodeSuffix(uuidV7())}`
