import { priceUnpriced as price } from '../src/modules/payments/ledger/index.ts'
import type { AppDeps } from '../src/providers.ts'

/** Says what movements were worth in dollars that had to wait for a rate. */
export async function priceUnpriced(deps: Pick<AppDeps, 'db'>): Promise<{ priced: number }> {
  return { priced: await price(deps) }
}
