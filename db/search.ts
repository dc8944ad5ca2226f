/** Full-text search, the one thing that no builder can say alike for both engines. Words come normalised from `lib/words.ts`. */
import { engine } from './columns.ts'
import { postgresSearch } from './postgres/search.ts'
import type { ProductSearch } from './search-words.ts'
import { sqliteSearch } from './sqlite/search.ts'

export const productSearch: ProductSearch = engine === 'sqlite' ? sqliteSearch : postgresSearch
