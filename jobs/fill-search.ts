/** Makes orders, products and customers findable that are older than their search, or made by processes that are. */
import { fillProductSearch, fillProductSummaries, fillUnknownProducts } from '../src/modules/catalog/index.ts'
import { fillCustomerSearch, fillUnknownCustomers } from '../src/modules/customer/index.ts'
import { fillOrderSearch, fillUnknownOrders } from '../src/modules/order/index.ts'
import type { AppDeps } from '../src/parts.ts'

export async function fillSearch(deps: AppDeps): Promise<void> {
  await fillOrderSearch(deps)
  await fillUnknownOrders(deps)
  await fillProductSearch(deps)
  await fillUnknownProducts(deps)
  await fillProductSummaries(deps)
  await fillCustomerSearch(deps)
  await fillUnknownCustomers(deps)
}
