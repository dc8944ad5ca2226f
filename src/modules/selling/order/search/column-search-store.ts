/** Queries that find numbers of orders by columns, each along one index or merged ranges of one. */
import { and, eq, gte, inArray, isNotNull, lt, type SQL, sql } from 'drizzle-orm'
import { engine } from '../../../../../db/columns.ts'
import { indexedBy } from '../../../../../db/product-filter.ts'
import { orders, restingStatus } from '../../../../../db/schema/selling.ts'
import { orderTags } from '../../../../../db/schema/tags.ts'
import { isToFulfil } from '../../../../../db/units-to-send.ts'
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
import { type ListOrder, listOrderOf } from '../listing.ts'

const numberMax = 2_147_483_647

export type NumberRange = { readonly first: number; readonly last: number }
export const allNumbers: NumberRange = { first: 1, last: numberMax }
const newestFirst = listOrderOf()

/** Sorts rows of orders. */
export const sortSql = ({ isByTotal, isDescending }: ListOrder): SQL => {
  const direction = sql.raw(isDescending ? 'desc' : 'asc')
  return isByTotal ? sql`order by total ${direction}, number ${direction}` : sql`order by number ${direction}`
}

const restingStatuses: readonly Order['status'][] = ['CONFIRMED', 'FULFILLED', 'COMPLETED', 'EXPIRED', 'CANCELLED']

/** Lets a range of numbers follow in an index by state. SQLite would read all orders for it otherwise. */
const anyPaymentStatus = inArray(orders.paymentStatus, [...orderPaymentStatuses])

/**
 * Finds numbers along the index of totals: one range for each status that lasts, and one for the few orders of the
 * other statuses.
 */
export function alongTotals(filter: OrderFilter, bounds: NumberRange, slice: PageSlice, order: ListOrder): SQL {
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

/**
 * Finds numbers by columns along one index; other conditions are tested on the way. Also returns totals to sort by.
 * @param order ANY for a count: several ranges are then read one after the other
 */
export function alongColumns(
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
  // The condition of the index holds already; to test it again reads each order.
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

/** The conditions of a list that orders of a status may fail. Only CONFIRMED has a fulfilment status of its own. */
const conditionsIn = (status: OrderStatus, { fulfilmentStatus, ...filter }: OrderFilter): SQL[] =>
  conditionsOf({ ...filter, status: undefined, ...(status === 'CONFIRMED' && { fulfilmentStatus }) })

/** The conditions of a list besides its shop and words. */
export function conditionsOf(filter: OrderFilter): SQL[] {
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
