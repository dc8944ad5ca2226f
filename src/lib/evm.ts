/** Ethereum addresses and hashes. They are stored in lower case and shown with the checksum of EIP-55. */
import { zeroAddress } from './eas.ts'
import { keccak256 } from './keccak.ts'

/** Forms in any case, for schemas. The checksum is validated later. */
export const addressForm = { pattern: '^0x[0-9A-Fa-f]{40}$', rule: '0x and 40 hexadecimal digits' } as const
export const hashForm = { pattern: '^0x[0-9A-Fa-f]{64}$', rule: '0x and 64 hexadecimal digits' } as const

/** Returns an address with the EIP-55 checksum. */
export function withChecksum(address: string): string {
  const digits = address.slice(2)
  const hash = keccak256(Buffer.from(digits))
  return `0x${digits.replace(/./g, (digit, at: number) => (hash.charAt(at) >= '8' ? digit.toUpperCase() : digit))}`
}

/**
 * Parses an address to lower case. Mixed case must have a valid checksum.
 * @returns otherwise what is wrong, as the end of "NAME must …"
 */
export function readAddress(text: string): { readonly address: string } | { readonly wrong: string } {
  if (!new RegExp(addressForm.pattern).test(text)) return { wrong: `be ${addressForm.rule}` }
  const address = text.toLowerCase()
  const digits = text.slice(2)
  const isMixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase()
  if (isMixed && withChecksum(address) !== text)
    return { wrong: 'have the checksum that the case of its letters says (EIP-55): it was mistyped' }
  return address === zeroAddress ? { wrong: 'not be the zero address' } : { address }
}
