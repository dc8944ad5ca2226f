/**
 * Time-based one-time passwords: RFC 6238 over RFC 4226 (HMAC-SHA-1, six digits, 30 s steps), as authenticator apps
 * expect.
 */
import { createHmac } from 'node:crypto'
import { sameSecret } from './seal.ts'

/** RFC 4226 (section 4, R6) recommends the length of the hash. */
export const totpSecretBytes = 20
const totpStepMs = 30_000
const digits = 6
/** A clock may be one step off (RFC 6238, section 5.2), which also covers a code typed at the end of its step. */
const skewSteps = 1

/** Returns the step of a time in milliseconds. */
export const totpStepAt = (now: number): number => Math.floor(now / totpStepMs)

/** Returns the code of a step. */
export function totpCode(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const hash = createHmac('sha1', secret).update(counter).digest()
  // Dynamic truncation: the last four bits select 31 bits.
  const number = hash.readUInt32BE((hash.at(-1) ?? 0) & 15) & 0x7fffffff
  return String(number % 10 ** digits).padStart(digits, '0')
}

/**
 * Returns the step of a code: the current one, or the one before or after. With several matches, the latest; undefined
 * without one. Compares all in constant time.
 */
export function totpStepOf(secret: Uint8Array, code: string, now: number): number | undefined {
  const at = totpStepAt(now)
  const steps = Array.from({ length: 2 * skewSteps + 1 }, (_, nth) => at - skewSteps + nth).filter((step) => step >= 0)
  return steps.filter((step) => sameSecret(totpCode(secret, step), code)).at(-1)
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Encodes base32 (RFC 4648) without padding, as authenticator apps expect. */
export function base32(bytes: Uint8Array): string {
  let text = ''
  let [buffer, bits] = [0, 0]
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte
    for (bits += 8; bits >= 5; bits -= 5) text += alphabet.charAt((buffer >>> (bits - 5)) & 31)
    buffer &= 31
  }
  return bits > 0 ? text + alphabet.charAt((buffer << (5 - bits)) & 31) : text
}

/**
 * Returns the URI of the QR code for authenticator apps (github.com/google/google-authenticator/wiki/Key-Uri-Format).
 * @param account name shown in the app, such as an e-mail address
 */
export function totpUri(secret: Uint8Array, { issuer, account }: { issuer: string; account: string }): string {
  const label = [issuer, account].map(encodeURIComponent).join(':')
  return `otpauth://totp/${label}?secret=${base32(secret)}&issuer=${encodeURIComponent(issuer)}&algorithm=SHA1&digits=${digits}&period=${totpStepMs / 1000}`
}
