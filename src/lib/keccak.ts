import { keccak_256 } from '@noble/hashes/sha3'

/** The Keccak-256 of bytes, in hex without `0x`: SHA-3 with the padding of before the standard, which is all that `node:crypto` knows. */
export const keccak256 = (bytes: Uint8Array): string => Buffer.from(keccak_256(bytes)).toString('hex')
