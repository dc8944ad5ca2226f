/**
 * Indexes orders, products and customers that are older than their search, or were written by processes of older
 * versions.
 */
import { fillProductSearch, fillProductSummaries, fillUnknownProducts } from '../src/modules/catalog/products/index.ts'
import { fillCustomerSearch, fillUnknownCustomers } from '../src/modules/customers/customer/index.ts'
import { fillOrderSearch, fillUnknownOrders } from '../src/modules/selling/order/index.ts'
import type { AppDeps } from '../src/providers.ts'

export async function fillSearch(deps: AppDeps): Promise<void> {
  await fillOrderSearch(deps)
  await fillUnknownOrders(deps)
  await fillProductSearch(deps)
  await fillUnknownProducts(deps)
  await fillProductSummaries(deps)
  await fillCustomerSearch(deps)
  await fillUnknownCustomers(deps)
}
