import { priceUnpriced as price } from '../src/modules/payments/ledger/index.ts'
import type { AppDeps } from '../src/providers.ts'

/** Converts movements to dollars that waited for an exchange rate. */
export async function convertCurrencies(deps: Pick<AppDeps, 'db'>): Promise<{ priced: number }> {
  return { priced: await price(deps) }
}
