import type { secondFactors } from '../../../../db/schema/second-factor.ts'
import { crockford } from '../../../lib/ids.ts'
import { sha256 } from '../../../lib/seal.ts'
import { totpStepOf } from '../../../lib/totp.ts'

export type SecondFactor = typeof secondFactors.$inferSelect

/** What the sealed secret of somebody is bound to. */
export const totpSeal = (userId: string): string => `${userId}/totp`

/** Under which name authenticator apps show it. */
export const totpIssuer = 'souk'
/** One that was begun and not confirmed by then was left: its secret may have been seen since. */
export const pendingMs = 60 * 60_000
/** So many wrong codes in a row shut the factor for so long. */
export const wrongCodesMax = 10
export const shutMs = 15 * 60_000
export const codeLengthMax = 64

export const recoveryCodeCount = 10
/** 80 bits: too many to be found by their hash. */
export const recoveryCodeBytes = 10

/** A recovery code as it is shown: `0123-4567-89ab-cdef`, in Crockford's base32. */
export const recoveryCodeOf = (bytes: Uint8Array): string => (crockford(bytes, 16).match(/.{4}/g) ?? []).join('-')

/** What is kept of a recovery code. */
export const recoveryHashOf = (userId: string, code: string): string => sha256(`${userId}:${bareCode(code)}`)

/** Without what people put between the characters, without capitals, and with the digits that look like the letters that are in none. */
const bareCode = (code: string): string => code.replace(/[ -]/g, '').toLowerCase().replace(/o/g, '0').replace(/[il]/g, '1')

/** What a code is: the step of the app's codes that it is of, a recovery code by its hash, or nothing. */
export type Match = { readonly step: number } | { readonly recoveryHash: string } | undefined

/**
 * Says what a code is good for. Of the app's codes each is taken once, and none from before the latest that was taken. Only ASCII digits
 * are digits.
 */
export function matchOf({ userId, lastStep, recoveryHashes }: SecondFactor, secret: Uint8Array, code: string, now: number): Match {
  const digits = code.replace(/[ -]/g, '')
  if (/^[0-9]{6}$/.test(digits)) {
    const step = totpStepOf(secret, digits, now)
    return step === undefined || (lastStep !== null && step <= lastStep) ? undefined : { step }
  }
  const recoveryHash = recoveryHashOf(userId, code)
  return recoveryHashes.includes(recoveryHash) ? { recoveryHash } : undefined
}
