/** Secrets and signatures of Standard Webhooks (standardwebhooks.com, version 1): symmetric ones. */
import { createHmac } from 'node:crypto'

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
