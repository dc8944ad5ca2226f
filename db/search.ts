/** Full-text search, the one thing that no builder can say alike for both engines. Words come normalised from `lib/words.ts`. */
import { engine } from './columns.ts'
import { postgresSearch } from './postgres/search.ts'
import { postgresOrderSearch, postgresRecordSearch } from './postgres/shop-words.ts'
import type { ProductSearch } from './search-words.ts'
import type { OrderSearch, RecordSearch } from './shop-words.ts'
import { sqliteSearch } from './sqlite/search.ts'
import { sqliteOrderSearch, sqliteRecordSearch } from './sqlite/shop-words.ts'

export const productSearch: ProductSearch = engine === 'sqlite' ? sqliteSearch : postgresSearch
/** What only a shop's own people search: orders, products in whatever status, and customers. */
export const orderSearch: OrderSearch = engine === 'sqlite' ? sqliteOrderSearch : postgresOrderSearch
export const managedSearch: RecordSearch = engine === 'sqlite' ? sqliteRecordSearch('managed') : postgresRecordSearch('managed_words')
export const customerSearch: RecordSearch = engine === 'sqlite' ? sqliteRecordSearch('customer') : postgresRecordSearch('customer_words')
