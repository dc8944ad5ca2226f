/** The order of secp256k1: a private key is a number from 1 to below it. */
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/**
 * A private key of Ethereum: 64 hexadecimal digits, with or without 0x.
 * @returns undefined for any other text
 */
export function readSigningKey(text: string): `0x${string}` | undefined {
  const [, digits] = /^(?:0x)?([0-9a-f]{64})$/i.exec(text.trim()) ?? []
  if (digits === undefined) return undefined
  const value = BigInt(`0x${digits}`)
  return value > 0n && value < order ? `0x${digits.toLowerCase()}` : undefined
}
