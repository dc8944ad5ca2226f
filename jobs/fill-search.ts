/** Makes orders, products and customers findable that are older than their search. */
import { fillProductSearch } from '../src/modules/catalog/index.ts'
import { fillCustomerSearch } from '../src/modules/customer/index.ts'
import { fillOrderSearch } from '../src/modules/order/index.ts'
import type { AppDeps } from '../src/parts.ts'

export async function fillSearch(deps: AppDeps): Promise<void> {
  await fillOrderSearch(deps)
  await fillProductSearch(deps)
  await fillCustomerSearch(deps)
}
