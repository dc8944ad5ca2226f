/** One-time codes by the clock: RFC 6238 over RFC 4226, as authenticator apps make them (HMAC-SHA-1, six digits, steps of 30 seconds). */
import { createHmac } from 'node:crypto'
import { sameSecret } from './seal.ts'

/** What RFC 4226 (section 4, R6) asks for: as long as the hash. */
export const totpSecretBytes = 20
export const totpStepMs = 30_000
const digits = 6
/** A clock may be a step ahead or behind (RFC 6238, section 5.2), which also covers a code that was typed as its step ended. */
const skewSteps = 1

/** The step that a moment (milliseconds since the epoch) is in. */
export const totpStepAt = (now: number): number => Math.floor(now / totpStepMs)

/** The six digits that a secret stands for in a step. */
export function totpCode(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const hash = createHmac('sha1', secret).update(counter).digest()
  // Dynamic truncation: the last four bits say which 31 bits count.
  const number = hash.readUInt32BE((hash.at(-1) ?? 0) & 15) & 0x7fffffff
  return String(number % 10 ** digits).padStart(digits, '0')
}

/**
 * The step that a code is of: the one at hand, or the one before or after it; the latest, where it is of several. Undefined when it is of
 * none. All are looked at whatever the first ones say.
 */
export function totpStepOf(secret: Uint8Array, code: string, now: number): number | undefined {
  const at = totpStepAt(now)
  const steps = Array.from({ length: 2 * skewSteps + 1 }, (_, nth) => at - skewSteps + nth).filter((step) => step >= 0)
  return steps.filter((step) => sameSecret(totpCode(secret, step), code)).at(-1)
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Bytes in the base32 of RFC 4648, without padding: how authenticator apps take a secret. */
export function base32(bytes: Uint8Array): string {
  let text = ''
  let [held, bits] = [0, 0]
  for (const byte of bytes) {
    held = (held << 8) | byte
    for (bits += 8; bits >= 5; bits -= 5) text += alphabet.charAt((held >>> (bits - 5)) & 31)
    held &= 31
  }
  return bits > 0 ? text + alphabet.charAt((held << (5 - bits)) & 31) : text
}

/**
 * What a QR code for an authenticator app holds (github.com/google/google-authenticator/wiki/Key-Uri-Format).
 * @param account whose it is, as the app shows it: an e-mail address
 */
export function totpUri(secret: Uint8Array, { issuer, account }: { issuer: string; account: string }): string {
  const label = [issuer, account].map(encodeURIComponent).join(':')
  return `otpauth://totp/${label}?secret=${base32(secret)}&issuer=${encodeURIComponent(issuer)}&algorithm=SHA1&digits=${digits}&period=${totpStepMs / 1000}`
}
