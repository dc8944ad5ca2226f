/**
 * Tokens of order pages and draft pages. A token shows the order, or lets its owner pay the draft. It contains the id
 * and an HMAC of it, so it needs no lookup. The HMAC covers the id's prefix, so an order token is not a draft token.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { bytesOfId, type IdKind, idOfBytes } from './ids.ts'

/** 128 bits, which cannot be guessed. */
const macBytes = 16
const idBytes = 16
/** Both in base64url. */
const form = /^[A-Za-z0-9_-]{43}$/

type Linked = Extract<IdKind, 'order' | 'draft'>

const macOf = (key: Uint8Array, id: string): Buffer => createHmac('sha256', key).update(id).digest().subarray(0, macBytes)

/** @throws Error if the text is not an order id */
export const orderTokenOf = (key: Uint8Array, orderId: string): string => tokenOf('order', key, orderId)

/** Returns the order id of a token; undefined for other text. */
export const orderIdIn = (key: Uint8Array, token: string): string | undefined => idIn('order', key, token)

/** @throws Error if the text is not a draft id */
export const draftTokenOf = (key: Uint8Array, draftId: string): string => tokenOf('draft', key, draftId)

/** Returns the draft id of a token; undefined for other text. */
export const draftIdIn = (key: Uint8Array, token: string): string | undefined => idIn('draft', key, token)

function tokenOf(kind: Linked, key: Uint8Array, of: string): string {
  const id = bytesOfId(kind, of)
  if (!id) throw new Error(`no id of ${kind === 'order' ? 'an order' : 'a draft'}`)
  return Buffer.concat([id, macOf(key, of)]).toString('base64url')
}

function idIn(kind: Linked, key: Uint8Array, token: string): string | undefined {
  if (!form.test(token)) return undefined
  const bytes = Buffer.from(token, 'base64url')
  // The last character has two unused bits.
  if (bytes.toString('base64url') !== token) return undefined
  const id = idOfBytes(kind, bytes.subarray(0, idBytes))
  return timingSafeEqual(bytes.subarray(idBytes), macOf(key, id)) ? id : undefined
}
