import { sql } from 'drizzle-orm'
import type { Reader, Writer } from '../engine.ts'
import { backfillProgressOf } from '../search-backfill.ts'
import {
  filteredMax,
  filterOfFound,
  isFiltered,
  type ProductSearch,
  productTermsOf,
  queryTermsOf,
  type SearchableProduct,
} from '../search-words.ts'

/**
 * FTS5. Terms start with the shop's id, so a search costs what the shop holds. FTS5 returns rowids in order, so
 * newest-first is cheap. Prefixes are terms too, as in `admin-search.ts`.
 */
export const sqliteSearch: ProductSearch = {
  async add(tx, product) {
    const { productId, visibleFrom } = product
    const first = sql`${visibleFrom} * 1048576`
    await tx.rows(
      sql`insert into product_ranks (rank, product_id) values (coalesce((select max(rank) + 1 from product_ranks where rank between ${first} and ${first} + 1048575), ${first}), ${productId})`,
    )
    await putTerms(tx, product)
  },
  async renew(tx, product) {
    await tx.rows(sql`delete from product_words where rowid = (select rank from product_ranks where product_id = ${product.productId})`)
    await putTerms(tx, product)
  },
  async remove(tx, productId) {
    await tx.rows(sql`delete from product_words where rowid = (select rank from product_ranks where product_id = ${productId})`)
    await tx.rows(sql`delete from product_ranks where product_id = ${productId}`)
  },
  async find(read, query) {
    const { whole, last } = queryTermsOf(query)
    const prefix = shopPrefix(query.shopId)
    const prefixState = await prefixIndexStateOf(read, query.shopId, last)
    const match = [...whole.map((word) => `"${prefix}${word}"`), prefixMatch(prefix, last, prefixState)].join(' AND ')
    const found = sql`product_words w where w.product_words match ${match} and w.rowid < (${query.now} + 1) * 1048576`
    const isComplete = prefixState !== 'SOME'
    const { among, limit } = query
    if (among?.length === 0) return { ids: [], isComplete }
    if (!isFiltered(query)) {
      const rows = await read.rows<{ id: string }>(
        sql`select r.product_id as id from (select w.rowid as rank from ${found} order by w.rowid desc limit ${limit}) w
            cross join product_ranks r on r.rank = w.rank`,
      )
      return { ids: rows.map(({ id }) => id), isComplete }
    }
    const most = among ? amongMatchesMax : filteredMax
    const meets = among ? sql`w.rank in (select rank from product_ranks where product_id in ${[...among]})` : filterOfFound(query)
    const rows = await read.rows<{ id: string }>(
      sql`select f.product_id as id from (select w.rowid as rank from ${found} order by w.rowid desc limit ${most}) w
          cross join product_ranks f on f.rank = w.rank where ${meets} limit ${limit}`,
    )
    const ids = rows.map(({ id }) => id)
    if (ids.length >= limit || !isComplete) return { ids, isComplete }
    const beyond = await read.rows(sql`select 1 as one from ${found} order by w.rowid desc limit 1 offset ${most}`)
    return { ids, isComplete: beyond.length === 0 }
  },
}

/** Limit of products with the terms that are compared with `among`. */
const amongMatchesMax = 40_000

const { readProgress } = backfillProgressOf('PRODUCTS')

/** Maximum length of prefix terms. Longer prefixes match few words, which FTS5 gathers. */
const prefixMax = 20
/** In shops up to this size FTS5 gathers the words of a prefix within about ten milliseconds. */
const gatheredMax = 10_000

/** Returns the terms of a product and its prefix terms, separated by spaces. */
export function productTerms(product: SearchableProduct): string {
  const prefix = shopPrefix(product.shopId)
  const terms = new Set(productTermsOf(product).map((word) => prefix + word))
  for (const word of product.words) {
    let term = `${prefix}__`
    for (const letter of [...word].slice(0, prefixMax)) {
      term += letter
      terms.add(term)
    }
  }
  return [...terms].join(' ')
}

const putTerms = (tx: Writer, product: SearchableProduct) =>
  tx.rows(
    sql`insert into product_words (rowid, words) select rank, ${productTerms(product)} from product_ranks where product_id = ${product.productId}`,
  )

/**
 * How a prefix is matched.
 * `TERMS`: by prefix terms. `GATHERED`: by gathering whole words.
 * `SOME`: by both, in a large shop whose backfill is incomplete.
 */
type PrefixIndexState = 'TERMS' | 'GATHERED' | 'SOME'

async function prefixIndexStateOf(read: Reader, shopId: string, word: string): Promise<PrefixIndexState> {
  if ([...word].length > prefixMax) return 'GATHERED'
  if ((await readProgress(read)) === undefined) return 'TERMS'
  const [first] = await read.rows<{ n: number }>(
    sql`select count(*) as n from (select 1 from product_documents where shop_id = ${shopId} limit ${gatheredMax + 1})`,
  )
  return (first?.n ?? 0) <= gatheredMax ? 'GATHERED' : 'SOME'
}

function prefixMatch(prefix: string, word: string, prefixState: PrefixIndexState): string {
  if (prefixState === 'GATHERED') return `"${prefix}${word}" *`
  return prefixState === 'TERMS' ? `"${prefix}__${word}"` : `("${prefix}__${word}" OR "${prefix}${word}")`
}

/** The suffix of the id: letters and digits of fixed length. */
const shopPrefix = (shopId: string) => shopId.slice(shopId.indexOf('_') + 1)
