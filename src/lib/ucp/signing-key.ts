/** Signing keys of shops: P-256 (ES256), named by their thumbprints. */
import { createECDH, createHash, createPrivateKey, type KeyObject } from 'node:crypto'

/** Public part of a P-256 key (RFC 7517). */
export type PublicJwk = { readonly kty: 'EC'; readonly crv: 'P-256'; readonly x: string; readonly y: string }

/** A key that signs, by its thumbprint. */
export type SigningKey = { readonly kid: string; readonly privateKey: KeyObject }

/** Returns the thumbprint of a public key (RFC 7638). */
const thumbprintOf = ({ crv, kty, x, y }: PublicJwk): string =>
  createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url')

/** Creates a key pair. @returns `privateKey` as base64 of PKCS #8 */
export function newSigningKey(randomBytes: (count: number) => Uint8Array): { kid: string; publicKey: PublicJwk; privateKey: string } {
  const pair = createECDH('prime256v1')
  // Not every number is a key: one of 2^32 is too large.
  for (let isKey = false; !isKey; ) {
    try {
      pair.setPrivateKey(randomBytes(32))
      isKey = true
    } catch {}
  }
  const point = pair.getPublicKey()
  const base64url = (bytes: Buffer) => bytes.toString('base64url')
  const publicKey: PublicJwk = { kty: 'EC', crv: 'P-256', x: base64url(point.subarray(1, 33)), y: base64url(point.subarray(33)) }
  const key = createPrivateKey({ format: 'jwk', key: { ...publicKey, d: base64url(pair.getPrivateKey()) } })
  const privateKey = key.export({ type: 'pkcs8', format: 'der' }).toString('base64')
  return { kid: thumbprintOf(publicKey), publicKey, privateKey }
}

/** Opens a private key of `newSigningKey`. */
export const openSigningKey = (privateKey: string): KeyObject =>
  createPrivateKey({ key: Buffer.from(privateKey, 'base64'), format: 'der', type: 'pkcs8' })
