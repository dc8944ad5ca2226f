/** The state of log shipping. */
type LogShipping = {
  isOn: boolean
  /** Commits up to this moment are restorable (milliseconds since the epoch); undefined if unknown. */
  shippedAt: number | undefined
  snapshotAt: number | undefined
  generations: number
  failures: number
}

export const logShippingProviders = () => ({
  logShipping: { isOn: false, shippedAt: undefined, snapshotAt: undefined, generations: 0, failures: 0 } as LogShipping,
})
export type LogShippingDeps = ReturnType<typeof logShippingProviders>
