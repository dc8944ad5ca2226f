/** Query parameters of a list, as digits. */
export type PageQuery = { page?: string | undefined; limit?: string | undefined }
/** The requested part of a list. */
export type PageSlice = {
  page: number
  limit: number
  offset: number
  /**
   * Cursor of a list that is exported in chunks: the last key of the chunk before, null for the first. Rows are then
   * ordered by key, none is skipped or repeated, and no total is counted.
   */
  after?: ListKey | null | undefined
}
/** The key of an exported list: unique and immutable. */
export type ListKey = string | number
/** A page of a list in responses. `pages` is 0 for an empty list. */
export type Page<Item> = { data: Item[]; page: number; limit: number; total: number; pages: number }

const limitDefault = 20
const limitMaxDefault = 100

/** Parses the page of a list request: `page` from 1, `limit` clamped to 1..`limitMax`. */
export function sliceOf(query: PageQuery, limitMax = limitMaxDefault): PageSlice {
  const page = Math.max(Number(query.page ?? 1), 1)
  const limit = Math.min(Math.max(Number(query.limit ?? limitDefault), 1), limitMax)
  // Far beyond any list, and within the engines' integers.
  return { page, limit, offset: Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER) }
}

/** Creates the envelope of a list response. */
export const pageOf = <Item>(data: Item[], total: number, { page, limit }: PageSlice): Page<Item> => ({
  data,
  page,
  limit,
  total,
  pages: Math.ceil(total / limit),
})
