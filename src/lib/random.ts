/**
 * Returns a random number from 0 (inclusive) to 1 (exclusive) with 32 random bits. For backoff only, not for secrets.
 */
export const randomFraction = (randomBytes: (count: number) => Uint8Array): number => Buffer.from(randomBytes(4)).readUInt32BE() / 2 ** 32
