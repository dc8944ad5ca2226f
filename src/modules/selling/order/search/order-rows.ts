import type { ListChunk } from '../../../../core/csv-list.ts'
import type { PageSlice } from '../../../../lib/page.ts'
import { filterOf, type ShopOrderQuery } from '../domain.ts'
import type { OrderDeps } from '../providers.ts'
import type { OrderRow } from './csv.ts'
import { orderRowsOf } from './order-rows-store.ts'
import { findingStore } from './search-store.ts'

/**
 * Reads a piece of a complete export.
 * @throws AppError INVALID, as `filterOf`
 */
export async function orderRows({ db }: Pick<OrderDeps, 'db'>, query: ShopOrderQuery, slice: PageSlice): Promise<ListChunk<OrderRow>> {
  const { numbers, scannedTo } = await findingStore.numbersAfter(db.read, filterOf(query), slice)
  return { data: await orderRowsOf(db.read, query.shopId, numbers, query.lines === 'true'), scannedTo }
}
