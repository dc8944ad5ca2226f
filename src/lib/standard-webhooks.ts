/** Secrets and signatures of Standard Webhooks (standardwebhooks.com, version 1): symmetric ones. */
import { createHmac, timingSafeEqual } from 'node:crypto'

const secretPrefix = 'whsec_'
/** The standard asks for 24 to 64. */
export const webhookSecretBytes = 32

/** Random bytes as the secret that a receiver is given. */
export const webhookSecret = (random: Uint8Array): string => secretPrefix + Buffer.from(random).toString('base64')

export type SignedMessage = {
  id: string
  /** Whole seconds since the epoch: of this attempt, not of the message. */
  timestamp: number
  body: string
}

/** The headers by which a receiver knows a message as ours. */
export function signedHeaders(secret: string, { id, timestamp, body }: SignedMessage): Record<string, string> {
  const key = Buffer.from(secret.slice(secretPrefix.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': `v1,${signature}` }
}

/** How far the time of a message may be from ours, either way. */
export const toleranceSeconds = 5 * 60
const idPattern = /^[\x21-\x7e]{1,255}$/
const timePattern = /^\d{1,11}$/
/** Of one message: as many as a header of ordinary length holds. */
const signaturesMax = 20

/** The headers of a message, as they came. */
export type SignedHeaders = { readonly id: string | null; readonly timestamp: string | null; readonly signature: string | null }

/**
 * Whether a message was signed with one of the secrets, and within five minutes of now. It takes as long whichever of them it was.
 * @param secrets in their newest first; several while one takes the place of another
 * @param body the bytes as they came
 * @param now milliseconds since the epoch
 * @returns the sender's name of the message; undefined where it is not signed so
 */
export function idOfSigned(
  secrets: readonly string[],
  { id, timestamp, signature }: SignedHeaders,
  body: Uint8Array,
  now: number,
): string | undefined {
  if (id === null || timestamp === null || signature === null || !idPattern.test(id) || !timePattern.test(timestamp)) return undefined
  if (Math.abs(Math.floor(now / 1_000) - Number(timestamp)) > toleranceSeconds) return undefined
  const given = signature
    .split(' ', signaturesMax)
    .filter((one) => one.startsWith('v1,'))
    .map((one) => Buffer.from(one.slice(3), 'base64'))
  let isSigned = false
  for (const secret of secrets) {
    const key = Buffer.from(secret.slice(secretPrefix.length), 'base64')
    const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest()
    for (const one of given) isSigned = (one.length === expected.length && timingSafeEqual(one, expected)) || isSigned
  }
  return isSigned ? id : undefined
}
