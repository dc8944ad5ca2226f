/** What is known of the shipping of the write-ahead log. */
export type LogShipping = {
  /** Everything that was committed up to then is in the store, in milliseconds since the epoch. */
  shippedAt: number | undefined
  snapshotAt: number | undefined
  generations: number
  failures: number
}

export const logShippingParts = () => ({
  logShipping: { shippedAt: undefined, snapshotAt: undefined, generations: 0, failures: 0 } as LogShipping,
})
export type LogShippingDeps = ReturnType<typeof logShippingParts>
