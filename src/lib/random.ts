/**
 * Returns a random number from 0 (inclusive) to 1 (exclusive) with 32 random bits. For backoff only, not for secrets.
 */
export const randomFraction = (randomBytes: (count: number) => Uint8Array): number => Buffer.from(randomBytes(4)).readUInt32BE() / 2 ** 32

/** Random part of a pause, so that failures do not retry at the same time. */
export const jitter = 0.1
/**
 * Adds a random part to a duration.
 * @param chance from 0 to 1
 */
export const addJitter = (pause: number, chance: number): number => Math.round(pause * (1 - jitter + 2 * jitter * chance))
