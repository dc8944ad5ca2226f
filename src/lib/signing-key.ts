/** The order of secp256k1; private keys are between 1 and this, exclusive. */
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/**
 * Parses an Ethereum private key: 64 hex digits with or without 0x.
 * @throws Error whose message completes "NAME must be …"
 */
export function signingKey(text: string): `0x${string}` {
  const [, digits] = /^(?:0x)?([0-9a-f]{64})$/i.exec(text.trim()) ?? []
  const value = BigInt(`0x${digits ?? 0}`)
  if (digits === undefined || value === 0n || value >= order) throw new Error('a private key: 64 hexadecimal digits, with or without 0x')
  return `0x${digits.toLowerCase()}`
}
