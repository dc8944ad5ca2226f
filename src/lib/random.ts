/** A random number from 0 to under 1, of 32 random bits: for pauses that are not to end together, and for nothing that must not be guessed. */
export const chanceOf = (randomBytes: (count: number) => Uint8Array): number => Buffer.from(randomBytes(4)).readUInt32BE() / 2 ** 32
