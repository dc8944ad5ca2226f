import type { secondFactors } from '../../../../db/schema/second-factor.ts'
import { crockford } from '../../../lib/ids.ts'
import { sha256 } from '../../../lib/seal.ts'
import { totpStepOf } from '../../../lib/totp.ts'

export type SecondFactor = typeof secondFactors.$inferSelect

/** Returns what the sealed secret of a person is bound to. */
export const totpSeal = (userId: string): string => `${userId}/totp`

/** The name in authenticator apps. */
export const totpIssuer = 'souk'
/** Unconfirmed secrets expire, because they may have been seen. */
export const pendingMs = 60 * 60_000
/** After this many wrong codes in a row, the factor is locked for `lockMs`. */
export const wrongCodesMax = 10
export const lockMs = 15 * 60_000
export const codeLengthMax = 64

export const recoveryCodeCount = 10
/** 80 bits, so that a code cannot be found from its hash. */
export const recoveryCodeBytes = 10

/** Formats a recovery code: `0123-4567-89ab-cdef`, in Crockford's base32. */
export const recoveryCodeOf = (bytes: Uint8Array): string => (crockford(bytes, 16).match(/.{4}/g) ?? []).join('-')

/** Returns the stored hash of a recovery code. */
export const recoveryHashOf = (userId: string, code: string): string => sha256(`${userId}:${normalizeCode(code)}`)

/** Removes separators and capitals, and maps letters that look like digits. */
const normalizeCode = (code: string): string => code.replace(/[ -]/g, '').toLowerCase().replace(/o/g, '0').replace(/[il]/g, '1')

/** What a code matches: a step of the app's codes, a recovery code, or nothing. */
type CodeMatch = { readonly step: number } | { readonly recoveryHash: string } | undefined

/** Matches a code. Codes of the app are valid once, and not before the last used step. Only ASCII digits count. */
export function matchCode({ userId, lastStep, recoveryHashes }: SecondFactor, secret: Uint8Array, code: string, now: number): CodeMatch {
  const digits = code.replace(/[ -]/g, '')
  if (/^[0-9]{6}$/.test(digits)) {
    const step = totpStepOf(secret, digits, now)
    return step === undefined || (lastStep !== null && step <= lastStep) ? undefined : { step }
  }
  const recoveryHash = recoveryHashOf(userId, code)
  return recoveryHashes.includes(recoveryHash) ? { recoveryHash } : undefined
}
