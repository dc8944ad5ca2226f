/** The token of an order's page: whoever has it sees the order. It holds the order's id and an HMAC of it, so that it is looked up nowhere. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { bytesOfId, idOfBytes } from './ids.ts'

/** 128 bits: nobody guesses them. */
const macBytes = 16
const idBytes = 16
/** Of both in base64url. */
export const orderTokenLength = 43
const form = /^[A-Za-z0-9_-]{43}$/

const macOf = (key: Uint8Array, orderId: string): Buffer => createHmac('sha256', key).update(orderId).digest().subarray(0, macBytes)

/** @throws Error for what is no id of an order */
export function orderTokenOf(key: Uint8Array, orderId: string): string {
  const id = bytesOfId('order', orderId)
  if (!id) throw new Error('no id of an order')
  return Buffer.concat([id, macOf(key, orderId)]).toString('base64url')
}

/** The order that a token is of; undefined for every other text. */
export function orderIdIn(key: Uint8Array, token: string): string | undefined {
  if (!form.test(token)) return undefined
  const bytes = Buffer.from(token, 'base64url')
  // The last character has two bits that count for nothing.
  if (bytes.toString('base64url') !== token) return undefined
  const orderId = idOfBytes('order', bytes.subarray(0, idBytes))
  return timingSafeEqual(bytes.subarray(idBytes), macOf(key, orderId)) ? orderId : undefined
}
