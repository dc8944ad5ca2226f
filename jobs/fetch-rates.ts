import { type FxDeps, fetchRatesOfDay } from '../src/modules/payments/fx/index.ts'

/**
 * Fetches the exchange rates of the day, if a source is configured.
 * @throws Error if there were none; prices wait for them
 */
export async function fetchRates(deps: FxDeps): Promise<void> {
  const fetched = await fetchRatesOfDay(deps)
  if (fetched.outcome === 'failed') throw new Error(`no rates were read from ${fetched.source}: ${fetched.problem}`)
}
