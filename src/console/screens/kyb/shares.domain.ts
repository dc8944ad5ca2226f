/** Of a percent, as the API keeps shares. */
const parts = 10_000

/** What the owners' shares leave of the whole, in percent; reckoned in whole parts, lest a third of a percent be lost. */
export const restOf = (shares: readonly number[]): number =>
  (100 * parts - shares.reduce((sum, share) => sum + Math.round(share * parts), 0)) / parts
