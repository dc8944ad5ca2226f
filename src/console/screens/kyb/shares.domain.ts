/** The API stores four decimals of a percent. */
const unitsPerPercent = 10_000

/** Returns the share that the owners leave, in percent; computed in whole units against rounding errors. */
export const remainingShare = (shares: readonly number[]): number =>
  (100 * unitsPerPercent - shares.reduce((sum, share) => sum + Math.round(share * unitsPerPercent), 0)) / unitsPerPercent
