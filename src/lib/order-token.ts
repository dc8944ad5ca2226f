/**
 * Tokens of order pages, draft pages and hand-offs. A token shows the order, or lets its owner pay the draft or the
 * session. It contains the id and an HMAC of it, so it needs no lookup. The HMAC covers the id's prefix, so an order
 * token is not a draft token. The id of a session is a secret, so its token contains it encrypted.
 */
import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto'
import { bytesOfId, type IdKind, idOfBytes } from './ids.ts'

/** 128 bits, which cannot be guessed. */
const macBytes = 16
const idBytes = 16
/** Both in base64url. */
const form = /^[A-Za-z0-9_-]{43}$/

type Linked = Extract<IdKind, 'order' | 'draft' | 'checkoutSession'>

const macOf = (key: Uint8Array, id: string): Buffer => createHmac('sha256', key).update(id).digest().subarray(0, macBytes)

/**
 * Creates the token of an order.
 * @throws Error if the text is not an order id
 */
export const orderTokenOf = (key: Uint8Array, orderId: string): string => tokenOf('order', key, orderId)

/** Returns the order id of a token; undefined for other text. */
export const orderIdIn = (key: Uint8Array, token: string): string | undefined => idIn('order', key, token)

/**
 * Creates the token of a draft order.
 * @throws Error if the text is not a draft id
 */
export const draftTokenOf = (key: Uint8Array, draftId: string): string => tokenOf('draft', key, draftId)

/** Returns the draft id of a token; undefined for other text. */
export const draftIdIn = (key: Uint8Array, token: string): string | undefined => idIn('draft', key, token)

/**
 * Creates the token of a checkout session. It does not reveal the id, which platforms use as a credential.
 * @throws Error if the text is not a session id
 */
export const sessionTokenOf = (key: Uint8Array, sessionId: string): string => tokenOf('checkoutSession', key, sessionId, encryptId)

/** Returns the session id of a token; undefined for other text. */
export const sessionIdIn = (key: Uint8Array, token: string): string | undefined => idIn('checkoutSession', key, token, decryptId)

/** One block of random bits needs neither a mode nor padding, so that the same session always has the same token. */
const blockCipher = 'aes-256-ecb'
const cipherKeys = new WeakMap<Uint8Array, Buffer>()
/** Derives the key of the cipher, once. */
const cipherKeyOf = (key: Uint8Array): Buffer =>
  cipherKeys.getOrInsertComputed(key, () => createHmac('sha256', key).update('session tokens').digest())
const encryptId = (key: Uint8Array, id: Uint8Array): Buffer =>
  createCipheriv(blockCipher, cipherKeyOf(key), null).setAutoPadding(false).update(id)
const decryptId = (key: Uint8Array, id: Uint8Array): Buffer =>
  createDecipheriv(blockCipher, cipherKeyOf(key), null).setAutoPadding(false).update(id)

type Transform = (key: Uint8Array, id: Uint8Array) => Uint8Array
const asIs: Transform = (_, id) => id

function tokenOf(kind: Linked, key: Uint8Array, of: string, transform = asIs): string {
  const id = bytesOfId(kind, of)
  if (!id) throw new Error(`no ${kind} id`)
  return Buffer.concat([transform(key, id), macOf(key, of)]).toString('base64url')
}

function idIn(kind: Linked, key: Uint8Array, token: string, transform = asIs): string | undefined {
  if (!form.test(token)) return undefined
  const bytes = Buffer.from(token, 'base64url')
  // The last character has two unused bits.
  if (bytes.toString('base64url') !== token) return undefined
  const id = idOfBytes(kind, transform(key, bytes.subarray(0, idBytes)))
  return timingSafeEqual(bytes.subarray(idBytes), macOf(key, id)) ? id : undefined
}
