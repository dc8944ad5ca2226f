/** Addresses and hashes of Ethereum. Kept in lower case, and told to people with the checksum of EIP-55. */
import { zeroAddress } from './eas.ts'
import { keccak256 } from './keccak.ts'

/** Of an address and of a hash in any case, for schemas; whether a checksum is right is looked at after. */
export const addressForm = { pattern: '^0x[0-9A-Fa-f]{40}$', rule: '0x and 40 hexadecimal digits' } as const
export const hashForm = { pattern: '^0x[0-9A-Fa-f]{64}$', rule: '0x and 64 hexadecimal digits' } as const

/** An address in lower case, with the checksum that EIP-55 has the case of its letters say. */
export function withChecksum(address: string): string {
  const digits = address.slice(2)
  const hash = keccak256(Buffer.from(digits))
  let told = '0x'
  for (let at = 0; at < digits.length; at++) {
    const digit = digits.charAt(at)
    told += Number.parseInt(hash.charAt(at), 16) >= 8 ? digit.toUpperCase() : digit
  }
  return told
}

/**
 * An address of the form above in lower case. In small or capital letters alone it says no checksum; of both it does, and must say the right one.
 * @returns what is wrong with it otherwise, in words that complete "NAME must …"
 */
export function readAddress(text: string): { readonly address: string } | { readonly wrong: string } {
  const address = text.toLowerCase()
  const digits = text.slice(2)
  const isMixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase()
  if (isMixed && withChecksum(address) !== text)
    return { wrong: 'have the checksum that the case of its letters says (EIP-55): it was mistyped' }
  return address === zeroAddress ? { wrong: 'not be the zero address' } : { address }
}
