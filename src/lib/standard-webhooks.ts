/** Symmetric signatures of Standard Webhooks (standardwebhooks.com, version 1). */
import { createHmac, timingSafeEqual } from 'node:crypto'

const secretPrefix = 'whsec_'
/** The standard requires 24 to 64 bytes. */
export const webhookSecretBytes = 32

/** Formats random bytes as a webhook secret. */
export const webhookSecret = (random: Uint8Array): string => secretPrefix + Buffer.from(random).toString('base64')

type SignedMessage = {
  id: string
  /** Seconds since the epoch: the time of this attempt. */
  timestamp: number
  body: string
}

/** Returns the headers that sign a message. */
export function signedHeaders(secret: string, { id, timestamp, body }: SignedMessage): Record<string, string> {
  const key = Buffer.from(secret.slice(secretPrefix.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': `v1,${signature}` }
}

/** Maximum deviation of a message's time from ours. */
const toleranceSeconds = 5 * 60
const idPattern = /^[\x21-\x7e]{1,255}$/
const timePattern = /^\d{1,11}$/
/** Maximum number of signatures that are checked. */
const signaturesMax = 20

/** Signature headers as received. */
export type SignedHeaders = { readonly id: string | null; readonly timestamp: string | null; readonly signature: string | null }

/**
 * Verifies a signed message: one of the secrets, and a time within five minutes of `now`. Takes constant time.
 * @param secrets newest first; several during a rotation
 * @param body the raw bytes
 * @param now milliseconds since the epoch
 * @returns the message id; undefined if the signature is invalid
 */
export function idOfSigned(
  secrets: readonly string[],
  { id, timestamp, signature }: SignedHeaders,
  body: Uint8Array,
  now: number,
): string | undefined {
  if (id === null || timestamp === null || signature === null || !idPattern.test(id) || !timePattern.test(timestamp)) return undefined
  if (Math.abs(Math.floor(now / 1_000) - Number(timestamp)) > toleranceSeconds) return undefined
  const signatures = signature
    .split(' ', signaturesMax)
    .filter((one) => one.startsWith('v1,'))
    .map((one) => Buffer.from(one.slice(3), 'base64'))
  let isSigned = false
  for (const secret of secrets) {
    const key = Buffer.from(secret.slice(secretPrefix.length), 'base64')
    const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest()
    for (const one of signatures) isSigned = (one.length === expected.length && timingSafeEqual(one, expected)) || isSigned
  }
  return isSigned ? id : undefined
}
