import { and, asc, desc, eq, gte, inArray, isNotNull, lt, lte, type SQL, sql } from 'drizzle-orm'
import { engine } from '../../../../../db/columns.ts'
import type { Reader } from '../../../../../db/engine.ts'
import { indexedBy } from '../../../../../db/product-filter.ts'
import { fulfilments } from '../../../../../db/schema/fulfilments.ts'
import { orderDays } from '../../../../../db/schema/search-index.ts'
import { orderLines, orderNumbers, orders, restingStatus } from '../../../../../db/schema/selling.ts'
import { orderTags } from '../../../../../db/schema/tags.ts'
import { orderIndexed, orderSearch } from '../../../../../db/search.ts'
import { searchBackfillOf } from '../../../../../db/search-backfill.ts'
import { isToFulfil } from '../../../../../db/units-to-send.ts'
import { dayNumberOf } from '../../../../lib/day.ts'
import { normalMailAddress } from '../../../../lib/mail-address.ts'
import type { PageSlice } from '../../../../lib/page.ts'
import {
  fulfilmentStatuses,
  type Order,
  type OrderFilter,
  type OrderStatus,
  orderPaymentStatuses,
  orderStatuses,
  statusesOf,
} from '../domain.ts'
import { type ListOrder, listOrderOf, matchesSearch, searchWordsOf } from '../listing.ts'

/** Totals of a word search are exact up to this number, and no results lie beyond it. */
const foundMax = 1_000
/** Totals of other filters are exact up to this number; further pages exist. */
const countedMax = 2_000
/** Up to this many filtered orders, the words of each are computed and compared. */
const comparedMax = 500
/** The most orders compared between the word index and the column index. */
const walkedMax = 10_000
const walkedPerQuery = 2_500
/** Orders whose words are computed before the thread is yielded. */
const comparedPerBatch = 100

type FoundOrders = { readonly ids: string[]; readonly total: number; readonly isCapped: boolean }
type NumberRange = { readonly first: number; readonly last: number }
type Numbers = { readonly numbers: readonly number[]; readonly isCapped: boolean }

const numberMax = 2_147_483_647
const allNumbers: NumberRange = { first: 1, last: numberMax }
const newestFirst = listOrderOf()
const fills = searchBackfillOf('ORDERS', 'orders o', orderIndexed)

/** Finds orders by words, by day and by columns. */
export const findingStore = {
  /** A page of a shop's orders. */
  async list(read: Reader, filter: OrderFilter, slice: PageSlice, order: ListOrder): Promise<FoundOrders> {
    if (isUnfiltered(filter)) return wholeList(read, filter.shopId, slice, order)
    const bounds = await boundsOf(read, filter)
    if (!bounds || filter.words?.length === 0) return { ids: [], total: 0, isCapped: false }
    if (filter.words === undefined) return byColumns(read, filter, bounds, slice, order)
    const { numbers, isCapped } = await numbersOf(read, filter, await effectiveWords(read, filter, filter.words, bounds), bounds)
    const page = await pageOfNumbers(read, filter.shopId, numbers, slice, order)
    return { ids: await idsOf(read, filter.shopId, page), total: numbers.length, isCapped }
  },

  /**
   * A piece of a complete list.
   * @returns numbers below the given one, highest first; `scannedTo`: the last number compared, in a word search
   */
  async numbersAfter(
    read: Reader,
    filter: OrderFilter,
    { limit, after }: PageSlice,
  ): Promise<{ numbers: readonly number[]; scannedTo?: number | undefined }> {
    const { shopId, number } = filter
    const isIndexComplete = !(await isFilling(read, shopId))
    const days = await boundsOf(read, filter)
    if (!days || filter.words?.length === 0) return { numbers: [] }
    const words = filter.words && (await effectiveWords(read, filter, filter.words, days))
    const first = Math.max(days.first, number ?? days.first)
    const last = Math.min(days.last, number ?? days.last, typeof after === 'number' ? after - 1 : days.last)
    if (words === undefined) return { numbers: await numbersIn(read, alongColumns(filter, { first, last }, limit)) }
    // While the index is incomplete, every order is compared.
    if (!isIndexComplete) {
      const all = await numbersIn(read, alongColumns(filter, { first, last }, Math.min(limit, comparedPerBatch)))
      return { numbers: await matchingWords(read, shopId, all, words), scannedTo: all.at(-1) }
    }
    const candidates = await orderSearch.find(read, { shopId, words, whole: [], first, last, limit })
    return { numbers: await filterByColumns(read, filter, candidates), scannedTo: candidates.at(-1) }
  },

  ...fills,
}

function isUnfiltered({ shopId: _, ...filter }: OrderFilter): boolean {
  return Object.values(filter).every((value) => value === undefined || value === null)
}

/** Numbers have no gap: the last one is the count, and a page by number is a range. */
async function wholeList(read: Reader, shopId: string, slice: PageSlice, order: ListOrder): Promise<FoundOrders> {
  const { limit, offset } = slice
  const [row] = await read.select({ last: orderNumbers.last }).from(orderNumbers).where(eq(orderNumbers.shopId, shopId)).limit(1)
  const total = row?.last ?? 0
  const rest = Math.max(0, Math.min(limit, total - offset))
  const range = Array.from({ length: rest }, (_, nth) => (order.isDescending ? total - offset - nth : offset + 1 + nth))
  const numbers = order.isByTotal && rest > 0 ? await numbersIn(read, alongTotals({ shopId }, allNumbers, slice, order)) : range
  return { ids: await idsOf(read, shopId, numbers), total, isCapped: false }
}

async function idsOf(read: Reader, shopId: string, numbers: readonly number[]): Promise<string[]> {
  if (numbers.length === 0) return []
  const rows = await read
    .select({ id: orders.id, number: orders.number })
    .from(orders)
    .where(and(eq(orders.shopId, shopId), inArray(orders.number, [...numbers])))
    .orderBy(asc(orders.number))
  const byNumber = new Map(rows.map(({ id, number }) => [number, id]))
  return numbers.flatMap((number) => byNumber.get(number) ?? [])
}

const sortSql = ({ isByTotal, isDescending }: ListOrder): SQL => {
  const direction = sql.raw(isDescending ? 'desc' : 'asc')
  return isByTotal ? sql`order by total ${direction}, number ${direction}` : sql`order by number ${direction}`
}

/** Returns a page of found numbers, which come highest first. */
async function pageOfNumbers(
  read: Reader,
  shopId: string,
  numbers: readonly number[],
  { limit, offset }: PageSlice,
  order: ListOrder,
): Promise<readonly number[]> {
  if (!order.isByTotal) return (order.isDescending ? numbers : numbers.toReversed()).slice(offset, offset + limit)
  if (numbers.length <= offset) return []
  return numbersIn(
    read,
    sql`select number from orders where shop_id = ${shopId} and ${inArray(orders.number, [...numbers])} ${sortSql(order)} limit ${limit} offset ${offset}`,
  )
}

const restingStatuses: readonly Order['status'][] = ['CONFIRMED', 'FULFILLED', 'COMPLETED', 'EXPIRED', 'CANCELLED']

/** Matches every order. With it, SQLite reads a range of numbers in an index by state, and not all orders. */
const anyPaymentStatus = inArray(orders.paymentStatus, [...orderPaymentStatuses])

/**
 * Finds numbers along the index of totals: one range for each status that lasts, and one for the few orders of the
 * other statuses.
 */
function alongTotals(filter: OrderFilter, bounds: NumberRange, slice: PageSlice, order: ListOrder): SQL {
  const inRange = (index: string, status: OrderStatus, ...conditions: SQL[]) => sql`select number, total from orders ${indexedBy(index)}
    where ${and(eq(orders.shopId, filter.shopId), ...conditions, ...conditionsIn(status, filter))} and number between ${bounds.first} and ${bounds.last}`
  const statuses = statusesOf(filter)
  const passing = statuses.filter((status) => !restingStatuses.includes(status))
  const ranges = statuses
    .filter((status) => restingStatuses.includes(status))
    .map((status) => inRange('orders_state_total', status, eq(orders.status, status), restingStatus))
  const [first] = passing
  if (first) ranges.push(inRange('orders_state_number', first, inArray(orders.status, passing), anyPaymentStatus))
  // SQLite merges the ranges only if the columns of their order are selected.
  return sql`select number, total from ${mergeRanges(ranges, sortSql(order), slice)}`
}

/**
 * Returns a page of ranges of indexes, each of which has the order. PostgreSQL merges ranges that say their order and
 * their limit; it would sort others. SQLite merges those without a limit.
 */
const mergeRanges = (ranges: readonly SQL[], sort: SQL, { limit, offset }: Pick<PageSlice, 'limit' | 'offset'>): SQL => {
  const limitEach = engine === 'sqlite' ? sql.empty() : sql`limit ${offset + limit}`
  const sorted = ranges.map((range) => sql`select * from (${range} ${sort} ${limitEach}) as state`)
  return sql`(${sql.join(sorted, sql` union all `)}) as found ${sort} limit ${limit} offset ${offset}`
}

const capped = (numbers: readonly number[]): Numbers => ({
  numbers: numbers.slice(0, foundMax),
  isCapped: numbers.length > foundMax,
})

/** A page by columns alone. By total, up to `countedMax` orders are sorted; more of them are found along the totals. */
async function byColumns(read: Reader, filter: OrderFilter, bounds: NumberRange, slice: PageSlice, order: ListOrder): Promise<FoundOrders> {
  const { limit, offset } = slice
  const [counted] = await read.rows<{ n: number | string }>(
    sql`select count(*) as n from (${alongColumns(filter, bounds, countedMax + 1, 0, 'ANY')}) as first_ones`,
  )
  const n = Number(counted?.n ?? 0)
  const pageQuery = () => {
    if (!order.isByTotal) return alongColumns(filter, bounds, limit, offset, order)
    if (n > countedMax) return alongTotals(filter, bounds, slice, order)
    const matches = alongColumns(filter, bounds, countedMax, 0, order)
    return sql`select number from (${matches}) as found ${sortSql(order)} limit ${limit} offset ${offset}`
  }
  const page = n <= Math.min(offset, countedMax) ? [] : await numbersIn(read, pageQuery())
  return { ids: await idsOf(read, filter.shopId, page), total: Math.min(n, countedMax), isCapped: n > countedMax }
}

/** Returns the words of a query: those of the mail domain that it names, if orders have it, else those as typed. */
async function effectiveWords(
  read: Reader,
  { domainWords, ...filter }: OrderFilter,
  words: readonly string[],
  bounds: NumberRange,
): Promise<readonly string[]> {
  if (!domainWords) return words
  return (await numbersOf(read, filter, domainWords, bounds)).numbers.length > 0 ? domainWords : words
}

async function numbersOf(read: Reader, filter: OrderFilter, words: readonly string[], bounds: NumberRange): Promise<Numbers> {
  const { shopId } = filter
  // Read before the index: an order indexed in between appears in both, never in neither.
  const isIndexComplete = !(await isFilling(read, shopId))
  const query = { shopId, words, whole: [], ...bounds }
  if (filter.number !== undefined || filter.id !== undefined || isNarrow(filter)) {
    const left = await numbersIn(read, alongColumns(filter, bounds, comparedMax + 1))
    if (left.length <= comparedMax) return { numbers: await matchingWords(read, shopId, left, words), isCapped: false }
  } else if (filter.from === undefined && filter.until === undefined)
    return capIfIncomplete(capped(await orderSearch.find(read, { ...query, limit: foundMax + 1 })), isIndexComplete)
  return capIfIncomplete(await mergeIndexes(read, filter, words, bounds), isIndexComplete)
}

const capIfIncomplete = (found: Numbers, isIndexComplete: boolean): Numbers => (isIndexComplete ? found : { ...found, isCapped: true })

/** Returns whether a shop has unindexed orders. The job indexes its first order last. */
async function isFilling(read: Reader, shopId: string): Promise<boolean> {
  const fill = await fills.readProgress(read)
  if (!fill) return false
  const [first] = await read.select({ id: orders.id }).from(orders).where(eq(orders.shopId, shopId)).orderBy(asc(orders.number)).limit(1)
  return first !== undefined && first.id < fill.below
}

/** Returns which of the shop's orders match the words. */
async function matchingWords(read: Reader, shopId: string, numbers: readonly number[], words: readonly string[]): Promise<number[]> {
  if (numbers.length === 0) return []
  const { id, number, email, shippingAddress, billingAddress } = orders
  const found = await read
    .select({ id, number, email, shippingAddress, billingAddress })
    .from(orders)
    .where(and(eq(orders.shopId, shopId), inArray(orders.number, [...numbers])))
    .orderBy(desc(orders.number))
  const ids = found.map((order) => order.id)
  const { orderId, title, variantTitle, sku } = orderLines
  const lines = await read
    .select({ orderId, title, variantTitle, sku })
    .from(orderLines)
    .where(inArray(orderLines.orderId, ids))
    .orderBy(asc(orderLines.orderId), asc(orderLines.position))
  const parcels = await read
    .select({ orderId: fulfilments.orderId, trackingNumber: fulfilments.trackingNumber })
    .from(fulfilments)
    .where(inArray(fulfilments.orderId, ids))
    .orderBy(asc(fulfilments.id))
  const linesOf = Map.groupBy(lines, (line) => line.orderId)
  const parcelsOf = Map.groupBy(parcels, (parcel) => parcel.orderId)
  return found.flatMap((order) =>
    matchesSearch(order.number, searchWordsOf(order, linesOf.get(order.id) ?? [], parcelsOf.get(order.id) ?? []), words)
      ? order.number
      : [],
  )
}

/**
 * Finds the numbers that are in the word index and in the column index. Reads a piece of each, highest first, compares
 * the range that both pieces cover, and continues below it. A common word with a rare status takes 0.1 s. Reading the
 * columns of each order with the word takes 0.9 s (SQLite, 60,000 orders).
 */
async function mergeIndexes(read: Reader, filter: OrderFilter, words: readonly string[], { first, last }: NumberRange): Promise<Numbers> {
  const numbers: number[] = []
  let below = last
  for (let left = walkedMax; left > 0 && numbers.length <= foundMax; left -= walkedPerQuery) {
    const wordPiece = await orderSearch.find(read, {
      ...{ shopId: filter.shopId, words, whole: [], first, last: below },
      limit: walkedPerQuery,
    })
    const wordsEnd = pieceEnd(wordPiece, first)
    const columnPiece = await numbersIn(read, alongColumns(filter, { first: wordsEnd, last: below }, walkedPerQuery))
    const end = pieceEnd(columnPiece, wordsEnd)
    const columnMatches = new Set(columnPiece)
    numbers.push(...wordPiece.filter((number) => number >= end && columnMatches.has(number)))
    if (end <= first) return capped(numbers)
    below = end - 1
  }
  return { ...capped(numbers), isCapped: true }
}

/** Returns the lowest number that a piece covers: `first` if the piece is not full. */
const pieceEnd = (piece: readonly number[], first: number): number => (piece.length < walkedPerQuery ? first : (piece.at(-1) ?? first))

/** Of these numbers, those that match the columns, highest first. */
async function filterByColumns(read: Reader, filter: OrderFilter, numbers: readonly number[]): Promise<number[]> {
  if (numbers.length === 0) return []
  const rows = await read
    .select({ number: orders.number })
    .from(orders)
    .where(and(eq(orders.shopId, filter.shopId), inArray(orders.number, [...numbers]), ...conditionsOf(filter)))
    .orderBy(desc(orders.number))
  return rows.map(({ number }) => number)
}

const isNarrow = ({ status, paymentStatus, fulfilmentStatus, toFulfil, agent, customerId, email, numbers, tag }: OrderFilter): boolean =>
  [status, paymentStatus, fulfilmentStatus, toFulfil, agent, customerId, email, numbers, tag].some(
    (value) => value !== undefined && value !== null,
  )

/** The range of numbers for a range of days; undefined if empty. */
async function boundsOf(read: Reader, { shopId, from, until }: OrderFilter): Promise<NumberRange | undefined> {
  if (from === undefined && until === undefined) return allNumbers
  // Not every day is indexed yet.
  if (await isFilling(read, shopId)) return allNumbers
  const [row] = await read
    .select({ first: sql<number | null>`min(${orderDays.first})`, last: sql<number | null>`max(${orderDays.last})` })
    .from(orderDays)
    .where(
      and(
        eq(orderDays.shopId, shopId),
        from === undefined ? undefined : gte(orderDays.day, dayNumberOf(from)),
        until === undefined ? undefined : lte(orderDays.day, dayNumberOf(until - 1)),
      ),
    )
  return row?.first == null || row.last == null ? undefined : { first: row.first, last: row.last }
}

/**
 * Finds numbers by columns along one index; other conditions are tested on the way. Also returns totals to sort by.
 * @param order ANY for a count: several ranges are then read one after the other
 */
function alongColumns(
  filter: OrderFilter,
  { first, last }: NumberRange,
  limit: number,
  offset = 0,
  order: ListOrder | 'ANY' = newestFirst,
): SQL {
  const { isByTotal, isDescending } = order === 'ANY' ? newestFirst : order
  const { shopId, customerId, email, status, paymentStatus, fulfilmentStatus, toFulfil, agent, number, numbers, id, tag } = filter
  const columns = sql.raw(isByTotal ? 'number, total' : 'number')
  const byNumber = sortSql({ isByTotal: false, isDescending })
  const within = sql`number between ${first} and ${last}`
  const rest = and(...conditionsOf(filter)) ?? sql`true`
  const cut = sql`${byNumber} limit ${limit} offset ${offset}`
  // A limit keeps both engines from choosing another index.
  const along = (condition: SQL, others = rest, index = sql.empty()) => sql`select ${columns} from (
    select * from orders ${index} where ${condition} and ${within} ${byNumber} limit ${numberMax}) as orders
    where ${others} ${cut}`
  const statuses = statusesOf(filter)
  const isConfirmed = paymentStatus === undefined && statuses.length === 1 && statuses[0] === 'CONFIRMED'
  if (id !== undefined || number !== undefined)
    return sql`select ${columns} from orders where ${id === undefined ? sql`number = ${number}` : sql`id = ${id}`} and shop_id = ${shopId} and ${within} and ${rest} ${cut}`
  // The numbers alone inside: PostgreSQL would otherwise walk the range and compare each number.
  if (numbers !== undefined)
    return sql`select ${columns} from (
      select * from orders where shop_id = ${shopId} and ${inArray(orders.number, [...numbers])} limit ${numberMax}) as orders
      where ${within} and ${rest} ${cut}`
  if (customerId !== undefined && customerId !== null) return along(sql`customer_id = ${customerId} and shop_id = ${shopId}`)
  if (email !== undefined) return along(sql`shop_id = ${shopId} and lower(email) = ${normalMailAddress(email)}`)
  if (tag !== undefined) {
    const chosen = isByTotal ? sql`number, (select total from orders where orders.id = order_tags.order_id) as total` : sql`number`
    const others = conditionsOf({ ...filter, tag: undefined })
    const row = isConfirmed
      ? sql`${indexedBy('orders_to_send')} where shop_id = ${shopId} and number = order_tags.number and status = 'CONFIRMED'`
      : sql`where orders.id = order_id`
    const matches = others.length === 0 ? sql`` : sql`and exists (select 1 from orders ${row} and ${and(...others)})`
    return sql`select ${chosen} from order_tags
      where order_tags.shop_id = ${shopId} and order_tags.tag = ${tag} and ${within} ${matches} ${cut}`
  }
  // The index contains only orders of agents. Testing that again would read each order.
  if (agent) {
    const others = and(...conditionsOf({ ...filter, agent: undefined })) ?? sql`true`
    return along(sql`shop_id = ${shopId} and agent is not null`, others, indexedBy('orders_agent'))
  }
  // The rest reads ranges of indexes that contain all tested columns, without a subquery of whole rows.
  const inRange = (index: string, ...conditions: SQL[]) =>
    sql`select ${columns} from orders ${indexedBy(index)} where ${and(eq(orders.shopId, shopId), ...conditions)} and ${within}`
  const isPlain = status === undefined && paymentStatus === undefined && !toFulfil
  if (fulfilmentStatus !== undefined && (isPlain || fulfilmentStatus === 'PARTIALLY_FULFILLED'))
    return sql`${inRange('orders_fulfilment', ...conditionsOf(filter))} ${cut}`
  if (statuses.length === 0) return sql`select ${columns} from orders where false`
  if (isConfirmed) return sql`${inRange('orders_to_send', sql`status = 'CONFIRMED'`, ...conditionsIn('CONFIRMED', filter))} ${cut}`
  const isAnyState = paymentStatus === undefined && statuses.length === orderStatuses.length
  if (order === 'ANY') {
    const others = conditionsOf({ ...filter, status: undefined, paymentStatus: undefined })
    const paid = paymentStatus === undefined ? anyPaymentStatus : eq(orders.paymentStatus, paymentStatus)
    const range = isAnyState
      ? inRange('orders_fulfilment', inArray(orders.fulfilmentStatus, [...fulfilmentStatuses]), ...others)
      : inRange('orders_state_number', inArray(orders.status, [...statuses]), paid, ...others)
    return sql`${range} limit ${limit}`
  }
  if (isAnyState) return along(sql`shop_id = ${shopId}`)
  // Each status on its own: numbers are sorted only within one. The engines merge the ranges.
  const paymentStatuses = paymentStatus === undefined ? orderPaymentStatuses : [paymentStatus]
  const ranges = statuses.flatMap((one) => {
    const others = conditionsIn(one, { ...filter, paymentStatus: undefined })
    return paymentStatuses.map((paid) => inRange('orders_state_number', eq(orders.status, one), eq(orders.paymentStatus, paid), ...others))
  })
  return sql`select ${columns} from ${mergeRanges(ranges, byNumber, { limit, offset })}`
}

async function numbersIn(read: Reader, query: SQL): Promise<number[]> {
  return (await read.rows<{ number: number }>(query)).map(({ number }) => number)
}

/** The conditions of a list that orders of a status may fail. Only CONFIRMED has a fulfilment status of its own. */
const conditionsIn = (status: OrderStatus, { fulfilmentStatus, ...filter }: OrderFilter): SQL[] =>
  conditionsOf({ ...filter, status: undefined, ...(status === 'CONFIRMED' && { fulfilmentStatus }) })

/** The conditions of a list besides its shop and words. */
function conditionsOf(filter: OrderFilter): SQL[] {
  const { status, paymentStatus, fulfilmentStatus, toFulfil, agent, customerId, number, numbers, id, email, tag, from, until } = filter
  const same = [
    status === undefined ? undefined : eq(orders.status, status),
    paymentStatus === undefined ? undefined : eq(orders.paymentStatus, paymentStatus),
    fulfilmentStatus === undefined ? undefined : eq(orders.fulfilmentStatus, fulfilmentStatus),
    toFulfil && isToFulfil('orders'),
    agent && isNotNull(orders.agent),
    customerId === undefined || customerId === null ? undefined : eq(orders.customerId, customerId),
    number === undefined ? undefined : eq(orders.number, number),
    numbers && inArray(orders.number, [...numbers]),
    id === undefined ? undefined : eq(orders.id, id),
    email === undefined ? undefined : sql`lower(${orders.email}) = ${normalMailAddress(email)}`,
    tag === undefined
      ? undefined
      : // By number, so that a list by total reads indexes alone.
        sql`exists (select 1 from ${orderTags} where ${orderTags.shopId} = ${orders.shopId} and ${orderTags.tag} = ${tag} and ${orderTags.number} = ${orders.number})`,
    from === undefined ? undefined : gte(orders.createdAt, from),
    until === undefined ? undefined : lt(orders.createdAt, until),
  ]
  return same.filter((condition) => condition !== undefined)
}
