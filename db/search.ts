/** Full-text search of the engine in use. Terms come from `lib/search-terms.ts`. */
import { sql } from 'drizzle-orm'
import type { OrderSearch, RecordSearch } from './admin-search.ts'
import { engine } from './columns.ts'
import { postgresOrderSearch, postgresRecordSearch } from './postgres/admin-search.ts'
import { postgresSearch } from './postgres/search.ts'
import type { ProductSearch } from './search-words.ts'
import { sqliteOrderSearch, sqliteRecordSearch } from './sqlite/admin-search.ts'
import { sqliteSearch } from './sqlite/search.ts'

/** The public search of products. */
export const productSearch: ProductSearch = engine === 'sqlite' ? sqliteSearch : postgresSearch
/** Search of the shop's staff: orders, products of any status, and customers. */
export const orderSearch: OrderSearch = engine === 'sqlite' ? sqliteOrderSearch : postgresOrderSearch
export const managedSearch: RecordSearch = engine === 'sqlite' ? sqliteRecordSearch('managed') : postgresRecordSearch('managed_words')
export const customerSearch: RecordSearch = engine === 'sqlite' ? sqliteRecordSearch('customer') : postgresRecordSearch('customer_words')

/** The index row of an order `o`. */
export const orderIndexed =
  engine === 'sqlite'
    ? sql`select 1 from search_shops s join order_words_docsize w on w.id = s.serial * 4294967296 + o.number where s.shop_id = o.shop_id`
    : sql`select 1 from order_words w where w.shop_id = o.shop_id and w.number = o.number`

/** The index row of a product `p` in the staff's index. */
export const productIndexed =
  engine === 'sqlite'
    ? sql`select 1 from managed_ranks r join managed_words_docsize w on w.id = r.rank where r.id = p.id`
    : sql`select 1 from managed_words w where w.id = p.id`

/** The index row of a customer `c`. */
export const customerIndexed =
  engine === 'sqlite'
    ? sql`select 1 from customer_ranks r join customer_words_docsize w on w.id = r.rank where r.id = c.id`
    : sql`select 1 from customer_words w where w.id = c.id`
