import { hmac, sameSecret } from '../../../lib/seal.ts'

/** The part of a payment's id behind its prefix, which a token begins with. */
const idLength = 26

/**
 * The last part of the address that a payment's processor calls, where it signs nothing: which payment it is, and what only we can know.
 * @param key of the instance, for this purpose
 */
export const callbackTokenOf = (key: Buffer, paymentId: string): string =>
  `${paymentId.slice(-idLength)}${hmac({ bytes: key }, paymentId).slice(0, 40)}`

/** The payment that a token was made for; undefined for one that we have not made. */
export function paymentIdOfCallback(key: Buffer, token: string): string | undefined {
  const id = `pay_${token.slice(0, idLength)}`
  return sameSecret(token, callbackTokenOf(key, id)) ? id : undefined
}
