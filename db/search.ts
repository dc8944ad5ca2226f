/** Full-text search, the one thing that no builder can say alike for both engines. Words come normalised from `lib/words.ts`. */
import { engine } from './columns.ts'
import { postgresSearch } from './postgres/search.ts'
import { postgresOrderSearch, postgresProductWords } from './postgres/shop-words.ts'
import type { ProductSearch } from './search-words.ts'
import type { OrderSearch, ProductWords } from './shop-words.ts'
import { sqliteSearch } from './sqlite/search.ts'
import { sqliteOrderSearch, sqliteProductWords } from './sqlite/shop-words.ts'

export const productSearch: ProductSearch = engine === 'sqlite' ? sqliteSearch : postgresSearch
/** Orders, and products in whatever status, for their shop's own people. */
export const orderSearch: OrderSearch = engine === 'sqlite' ? sqliteOrderSearch : postgresOrderSearch
export const productWords: ProductWords = engine === 'sqlite' ? sqliteProductWords : postgresProductWords
