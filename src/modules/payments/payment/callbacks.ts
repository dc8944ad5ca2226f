import { processors } from '../../../clients/processors/index.ts'
import { isProcessorName } from '../../../lib/processors.ts'
import { hmac, sameSecret } from '../../../lib/seal.ts'
import { instanceId } from '../processor-account/domain.ts'
import type { Payment } from './domain.ts'
import type { PaymentDeps } from './providers.ts'

/** Characters of a payment's id after its prefix. A token begins with them. */
const idLength = 26

/**
 * Returns the last part of a payment's callback URL, for processors that sign nothing. It names the payment and cannot
 * be guessed.
 * @param key the instance's key for callbacks
 */
export const callbackTokenOf = (key: Buffer, paymentId: string): string =>
  `${paymentId.slice(-idLength)}${hmac({ bytes: key }, paymentId).slice(0, 40)}`

/** Returns the payment of a token; undefined for a token that we did not make. */
export function paymentIdOfCallback(key: Buffer, token: string): string | undefined {
  const id = `pay_${token.slice(0, idLength)}`
  return sameSecret(token, callbackTokenOf(key, id)) ? id : undefined
}

/** Returns the URL for messages about a payment, for processors that are given it with each request. */
export async function messagesUrlOf(
  { config, life, instanceKeys }: PaymentDeps,
  { id, processor, accountId, shopId }: Payment,
): Promise<string | undefined> {
  const origin = config.publicUrl?.replace(/\/+$/, '') ?? life.url
  if (origin === undefined || accountId === '') return undefined
  const path = `${origin}/webhooks/payments/${processor}`
  if (isProcessorName(processor) && processors[processor].signsNothing)
    return `${path}/callback/${callbackTokenOf(await instanceKeys.of('PAYMENT_CALLBACKS'), id)}`
  return accountId === instanceId ? path : `${path}/${shopId}`
}
