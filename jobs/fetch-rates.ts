import { type FxDeps, fetchRatesOfDay } from '../src/modules/payments/fx/index.ts'

/** Reads the rates of the day, where the settings say from where. @throws Error where there was none to read: prices wait for them */
export async function fetchRates(deps: FxDeps): Promise<void> {
  const fetched = await fetchRatesOfDay(deps)
  if (fetched.outcome === 'failed') throw new Error(`no rates were read from ${fetched.source}: ${fetched.problem}`)
}
