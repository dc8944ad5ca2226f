/** TypeIDs (github.com/jetify-com/typeid, spec 0.3): a prefix, `_`, and 128 bits in Crockford's base32, lower case. */

export const idPrefixes = {
  merchant: 'mer',
  user: 'usr',
  shop: 'shop',
  staff: 'staff',
  customer: 'cus',
  product: 'prod',
  variant: 'var',
  image: 'img',
  collection: 'coll',
  media: 'media',
  blog: 'blog',
  session: 'ses',
  attempt: 'att',
  key: 'key',
  audit: 'aud',
  change: 'chg',
  stockChange: 'stk',
  address: 'addr',
  giftCard: 'gift',
  giftCardTransaction: 'gtx',
  discount: 'disc',
  cart: 'cart',
  line: 'line',
  order: 'order',
  event: 'evt',
  import: 'imp',
  fulfilment: 'ful',
  note: 'note',
  draft: 'draft',
  payment: 'pay',
  paymentMessage: 'pmsg',
  refund: 'ref',
  return: 'ret',
  dispute: 'disp',
  affiliate: 'aff',
  click: 'clk',
  transaction: 'txn',
  message: 'msg',
  mail: 'mail',
  endpoint: 'whe',
  delivery: 'dlv',
  kyb: 'kyb',
  lendingApplication: 'loan',
  lendingDecision: 'ldec',
  lendingDocument: 'ldoc',
  lender: 'lend',
  serviceProvider: 'prov',
  methodology: 'meth',
  wallet: 'wal',
  backfill: 'bkf',
  repayment: 'rep',
  reversal: 'rev',
  processorAccount: 'pacc',
  checkoutSession: 'chk',
  agentCart: 'ucart',
} as const
/** The kinds of records, each with its own prefix. */
export type IdKind = keyof typeof idPrefixes
/** Creates an id that sorts by its creation time. */
export type NewId = (kind: IdKind) => string

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** Encodes bytes as `length` characters of Crockford's base32 in lower case. */
export function crockford(bytes: Uint8Array, length: number): string {
  let digits = ''
  let [buffer, bits] = [0, 0]
  // From the end, because the last digit holds the last five bits. Hand-written, because every row has an id.
  for (let at = bytes.length - 1; at >= 0; at--) {
    buffer |= (bytes[at] ?? 0) << bits
    for (bits += 8; bits >= 5; bits -= 5) {
      digits = alphabet.charAt(buffer & 31) + digits
      buffer >>>= 5
    }
  }
  return (bits > 0 ? alphabet.charAt(buffer) + digits : digits).padStart(length, '0')
}

const pairs = Array.from({ length: 1024 }, (_, value) => alphabet.charAt(value >> 5) + alphabet.charAt(value & 31))

/** Encodes 16 bytes as the 26-character suffix of a TypeID. */
export function encodeSuffix(bytes: Uint8Array): string {
  let suffix = ''
  // 128 bits after two zero bits: two characters at a time, because every row has an id.
  let [buffer, bits] = [0, 2]
  for (let at = 0; at < 16; at++) {
    buffer = ((buffer << 8) | (bytes[at] ?? 0)) & 0x3ffff
    bits += 8
    if (bits < 10) continue
    bits -= 10
    suffix += pairs[(buffer >> bits) & 1023]
  }
  return suffix
}

/** Returns the id with these 16 bytes. Inverse of `bytesOfId`. */
export const idOfBytes = (kind: IdKind, bytes: Uint8Array): string => `${idPrefixes[kind]}_${encodeSuffix(bytes)}`

/** Decodes the 16 bytes of an id; undefined for other text. */
export function bytesOfId(kind: IdKind, id: string): Uint8Array | undefined {
  const prefix = `${idPrefixes[kind]}_`
  if (!id.startsWith(prefix) || id.length !== prefix.length + 26) return undefined
  const bytes = Buffer.alloc(16)
  // Before the first byte there are two bits, which must be zero.
  let [held, bits, length] = [0, -2, 0]
  for (let at = prefix.length; at < id.length; at++) {
    const value = alphabet.indexOf(id.charAt(at))
    if (value < 0 || (bits < 0 && value > 7)) return undefined
    held = (held << 5) | value
    bits += 5
    if (bits < 8) continue
    bits -= 8
    bytes[length++] = held >> bits
    held &= (1 << bits) - 1
  }
  return bytes
}

/**
 * Creates ids that sort by creation time (UUIDv7).
 * @param uuidV7 returns 16 bytes
 */
export const createNewId =
  (uuidV7: () => Uint8Array): NewId =>
  (kind) =>
    `${idPrefixes[kind]}_${encodeSuffix(uuidV7())}`

/** Creates an id from 122 random bits in the layout of a UUIDv4. It is a credential: who has it can use the record. */
export function newSecretId(kind: 'cart' | 'checkoutSession' | 'agentCart', randomBytes: (count: number) => Uint8Array): string {
  const bytes = Uint8Array.from(randomBytes(16))
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return idOfBytes(kind, bytes)
}

/** Creates a cart id. It is the only credential of a guest. */
export const newCartId = (randomBytes: (count: number) => Uint8Array): string => newSecretId('cart', randomBytes)

/**
 * Returns a bound: ids created at `at` milliseconds or later sort after it, earlier ones before it, within a few
 * milliseconds.
 */
export function idBoundary(kind: IdKind, at: number): string {
  const bytes = Buffer.alloc(16)
  bytes.writeUIntBE(at, 0, 6)
  return `${idPrefixes[kind]}_${encodeSuffix(bytes)}`
}

/** Returns the creation time of an id of `createNewId` in milliseconds; undefined for other text. */
export function timeOfId(id: string): number | undefined {
  const digits = [...id.slice(id.lastIndexOf('_') + 1)].map((character) => alphabet.indexOf(character))
  // Two zero bits, 48 bits of time, then the version.
  if (digits.length !== 26 || digits.includes(-1) || (digits[10] ?? 0) >> 1 !== 7) return undefined
  return digits.slice(0, 10).reduce((time, digit) => time * 32 + digit, 0)
}
