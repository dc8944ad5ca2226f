import { keccak_256 } from '@noble/hashes/sha3'

/**
 * Returns the Keccak-256 of bytes in hex without `0x`. Its padding differs from SHA-3, the only variant of
 * `node:crypto`.
 */
export const keccak256 = (bytes: Uint8Array): string => Buffer.from(keccak_256(bytes)).toString('hex')
