/**
 * Indexes orders, products and customers that are older than their search, or were written by processes of older
 * versions.
 */
import { backfillProductSearch, backfillProductSummaries, indexUnindexedProducts } from '../src/modules/catalog/products/index.ts'
import { backfillCustomerSearch, indexUnindexedCustomers } from '../src/modules/customers/customer/index.ts'
import { fillOrderSearch, fillUnknownOrders } from '../src/modules/selling/order/index.ts'
import type { AppDeps } from '../src/providers.ts'

/** Runs all backfills of the search indexes, one after another. Each continues where an earlier run ended. */
export async function fillSearch(deps: AppDeps): Promise<void> {
  await fillOrderSearch(deps)
  await fillUnknownOrders(deps)
  await backfillProductSearch(deps)
  await indexUnindexedProducts(deps)
  await backfillProductSummaries(deps)
  await backfillCustomerSearch(deps)
  await indexUnindexedCustomers(deps)
}
