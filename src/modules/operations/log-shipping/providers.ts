/** What is known of the shipping of the write-ahead log. */
export type LogShipping = {
  isOn: boolean
  /** Everything that was committed up to then is in the store and can be gone back to, in milliseconds since the epoch; undefined until that is known. */
  shippedAt: number | undefined
  snapshotAt: number | undefined
  generations: number
  failures: number
}

export const logShippingProviders = () => ({
  logShipping: { isOn: false, shippedAt: undefined, snapshotAt: undefined, generations: 0, failures: 0 } as LogShipping,
})
export type LogShippingDeps = ReturnType<typeof logShippingProviders>
