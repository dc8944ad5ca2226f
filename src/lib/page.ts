/** As the query has them: digits. */
export type PageQuery = { page?: string | undefined; limit?: string | undefined }
export type Slice = {
  page: number
  limit: number
  offset: number
  /**
   * Of a list that is read whole, piece by piece: the key of the last row of the piece before, null of the first. Then the rows come in the order of
   * their keys, none is left out or told twice whatever is added meanwhile, and nobody counts them.
   */
  after?: Key | null | undefined
}
/** What a list that is read whole goes by: it never changes, and no two rows have the same. */
export type Key = string | number
export type Page<Item> = { data: Item[]; page: number; limit: number; total: number; pages: number }

const limitDefault = 20
const limitMaxDefault = 100

/** What a list was asked for, clamped: a page from 1, a limit from 1 to `limitMax`. */
export function sliceOf(query: PageQuery, limitMax = limitMaxDefault): Slice {
  const page = Math.max(Number(query.page ?? 1), 1)
  const limit = Math.min(Math.max(Number(query.limit ?? limitDefault), 1), limitMax)
  // Far beyond any list, and still a number that the engines take.
  return { page, limit, offset: Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER) }
}

/** The envelope of a list. */
export const pageOf = <Item>(data: Item[], total: number, { page, limit }: Slice): Page<Item> => ({
  data,
  page,
  limit,
  total,
  pages: Math.ceil(total / limit),
})
