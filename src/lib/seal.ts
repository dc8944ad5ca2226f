/** Secrets at rest: AES-256-GCM under a versioned master key, bound to owner and purpose. */
import { createCipheriv, createDecipheriv, createHmac, hash, hkdfSync, timingSafeEqual } from 'node:crypto'

/** A 256-bit key that is derived from a master secret. */
export type MasterKey = {
  /** Identifies the key in sealed values: the first eight hex digits of the fingerprint. */
  readonly version: string
  /** Identifies the key without revealing it. */
  readonly fingerprint: string
  readonly bytes: Buffer
}

const ivBytes = 12
const tagBytes = 16

const derive = (secret: string, purpose: string) => Buffer.from(hkdfSync('sha256', secret, 'souk', purpose, 32))

/** Derives the key of a secret of at least 32 characters. Keys of different purposes are unrelated. */
export function masterKey(secret: string, purpose: 'encryption' | 'jwt'): MasterKey {
  const fingerprint = derive(secret, `${purpose} fingerprint`).toString('hex')
  return { version: fingerprint.slice(0, 8), fingerprint, bytes: derive(secret, purpose) }
}

/**
 * Seals a text. It opens only with the same key and the same `about` (owner and purpose, such as `shop_…/wallet`).
 * @param iv 12 random bytes, never reused
 */
export function seal(key: MasterKey, plain: string, about: string, iv: Uint8Array): string {
  const cipher = createCipheriv('aes-256-gcm', key.bytes, iv.subarray(0, ivBytes)).setAAD(Buffer.from(about))
  const sealed = Buffer.concat([iv.subarray(0, ivBytes), cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return `${key.version}.${sealed.toString('base64url')}`
}

/** Returns the version of the key that sealed a value. */
export const keyVersionOf = (sealed: string): string => sealed.slice(0, sealed.indexOf('.'))

/** Opens a sealed value. Throws if the key or `about` differs, or a bit was changed. */
export function unseal(key: MasterKey, sealed: string, about: string): string {
  const bytes = Buffer.from(sealed.slice(sealed.indexOf('.') + 1), 'base64url')
  const decipher = createDecipheriv('aes-256-gcm', key.bytes, bytes.subarray(0, ivBytes)).setAAD(Buffer.from(about))
  decipher.setAuthTag(bytes.subarray(-tagBytes))
  return Buffer.concat([decipher.update(bytes.subarray(ivBytes, -tagBytes)), decipher.final()]).toString('utf8')
}

/** Computes the SHA-256 in hex. */
export const sha256 = (text: string): string => hash('sha256', text)

/** Computes the HMAC-SHA256 in hex. */
export const hmac = (key: Pick<MasterKey, 'bytes'>, text: string | Uint8Array): string =>
  createHmac('sha256', key.bytes).update(text).digest('hex')

/** Compares texts in constant time. */
export const sameSecret = (a: string, b: string): boolean => timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'))
