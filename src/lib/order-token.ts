/**
 * The token of an order's page, or of a draft's: whoever has it sees the order, or may pay the draft. It holds the id and an HMAC of it, so
 * that it is looked up nowhere. The HMAC is of the id with its prefix: a token of the one is none of the other.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { bytesOfId, type IdKind, idOfBytes } from './ids.ts'

/** 128 bits: nobody guesses them. */
const macBytes = 16
const idBytes = 16
/** Of both in base64url. */
export const orderTokenLength = 43
const form = /^[A-Za-z0-9_-]{43}$/

type Linked = Extract<IdKind, 'order' | 'draft'>

const macOf = (key: Uint8Array, id: string): Buffer => createHmac('sha256', key).update(id).digest().subarray(0, macBytes)

/** @throws Error for what is no id of an order */
export const orderTokenOf = (key: Uint8Array, orderId: string): string => tokenOf('order', key, orderId)

/** The order that a token is of; undefined for every other text. */
export const orderIdIn = (key: Uint8Array, token: string): string | undefined => idIn('order', key, token)

/** @throws Error for what is no id of a draft */
export const draftTokenOf = (key: Uint8Array, draftId: string): string => tokenOf('draft', key, draftId)

/** The draft that a token is of; undefined for every other text. */
export const draftIdIn = (key: Uint8Array, token: string): string | undefined => idIn('draft', key, token)

function tokenOf(kind: Linked, key: Uint8Array, of: string): string {
  const id = bytesOfId(kind, of)
  if (!id) throw new Error(`no id of ${kind === 'order' ? 'an order' : 'a draft'}`)
  return Buffer.concat([id, macOf(key, of)]).toString('base64url')
}

function idIn(kind: Linked, key: Uint8Array, token: string): string | undefined {
  if (!form.test(token)) return undefined
  const bytes = Buffer.from(token, 'base64url')
  // The last character has two bits that count for nothing.
  if (bytes.toString('base64url') !== token) return undefined
  const id = idOfBytes(kind, bytes.subarray(0, idBytes))
  return timingSafeEqual(bytes.subarray(idBytes), macOf(key, id)) ? id : undefined
}
