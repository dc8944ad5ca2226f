export type PageQuery = { page?: number | undefined; limit?: number | undefined }
export type Slice = { page: number; limit: number; offset: number }
export type Page<Item> = { data: Item[]; page: number; limit: number; total: number; pages: number }

const limitDefault = 20
const limitMaxDefault = 100
/** A page further out is empty whatever the shop holds. */
const pageMax = 1_000_000_000

/** What a list was asked for, clamped: a page from 1, a limit from 1 to `limitMax`. */
export function sliceOf({ page = 1, limit = limitDefault }: PageQuery, limitMax = limitMaxDefault): Slice {
  const clampedPage = Math.min(Math.max(page, 1), pageMax)
  const clampedLimit = Math.min(Math.max(limit, 1), limitMax)
  return { page: clampedPage, limit: clampedLimit, offset: (clampedPage - 1) * clampedLimit }
}

/** The envelope of a list. */
export const pageOf = <Item>(data: Item[], total: number, { page, limit }: Slice): Page<Item> => ({ data, page, limit, total, pages: Math.ceil(total / limit) })
