import { and, asc, desc, eq, getTableColumns, inArray, isNotNull, lte, sql } from 'drizzle-orm'
import type { Database, Prepared, Reader, Writer } from '../../../../db/engine.ts'
import { selectSlice } from '../../../../db/page-query.ts'
import { insertAllOf, lockAsKnownOf, lockedRowsOf, prepare, rowsOf, rowsWhere, updateOf, valuesOf } from '../../../../db/prepared.ts'
import { fulfilments, orderNotes } from '../../../../db/schema/fulfilments.ts'
import { disputes, payments, refunds } from '../../../../db/schema/payments.ts'
import { returns } from '../../../../db/schema/returns.ts'
import { orderEvents, orderGiftCards, orderLines, orderNumbers, orders } from '../../../../db/schema/selling.ts'
import { orderTags } from '../../../../db/schema/tags.ts'
import { latestLeaseEnd, leaseIsFreeCondition, leaseOf } from '../../../core/leases.ts'
import { type DueItem, selectDue } from '../../../core/partitioned-queue.ts'
import { createStateMachine } from '../../../core/state-machine.ts'
import type { Optional } from '../../../lib/objects.ts'
import type { PageSlice } from '../../../lib/page.ts'
import { tagKeyOf } from '../../../lib/search-terms.ts'
import type { Payment } from '../../payments/payment/domain.ts'
import {
  type Dispute,
  disputeTransitions,
  type Fulfilment,
  type Order,
  type OrderEvent,
  type OrderGiftCard,
  type OrderLine,
  type OrderNote,
  orderTransitions,
  type Refund,
  refundTransitions,
  type Saga,
} from './domain.ts'
import type { FullOrder } from './view.ts'

export type OrderStore = ReturnType<typeof createOrderStore>
type Counts = {
  readonly order: (tx: Writer, order: Pick<Order, 'status'>) => void
  readonly refund: (tx: Writer, refund: Pick<Refund, 'processor' | 'status'>) => void
}

/** The filter of a list of refunds. */
export type RefundFilter = Pick<Refund, 'shopId'> & Optional<Pick<Refund, 'status'>>

/** All that an order shows. */
type OrderParts = [Order | undefined, OrderLine[], OrderGiftCard[], OrderEvent[], Payment[], Refund[], Dispute[], Fulfilment[], OrderNote[]]

const which = sql.placeholder('which')

const prepared = {
  order: rowsOf(orders, ['id']),
  /** A cart can be bought again after its checkout was cancelled; the last order counts. */
  byCart: rowsOf(orders, ['cartId'], desc(orders.number)),
  /** A request placed the order, or started a payment of it. */
  byAttempt: rowsWhere(
    orders,
    and(
      valuesOf(orders, ['cartId']),
      sql`(${orders.attemptKey} = ${sql.placeholder('attemptKey')} or exists (
        select 1 from payments where payments.order_id = ${orders.id} and payments.attempt_key = ${sql.placeholder('attemptKey')}))`,
    ),
    desc(orders.number),
  ),
  lines: rowsOf(orderLines, ['orderId'], asc(orderLines.position)),
  giftCards: rowsOf(orderGiftCards, ['orderId'], asc(orderGiftCards.giftCardId)),
  events: rowsOf(orderEvents, ['orderId'], asc(orderEvents.position)),
  payments: rowsOf(payments, ['orderId'], asc(payments.id)),
  refunds: rowsOf(refunds, ['orderId'], asc(refunds.id)),
  refund: rowsOf(refunds, ['id']),
  disputes: rowsOf(disputes, ['orderId'], asc(disputes.id)),
  parcels: rowsOf(fulfilments, ['orderId'], asc(fulfilments.id)),
  notes: rowsOf(orderNotes, ['orderId'], asc(orderNotes.id)),
  returns: rowsOf(returns, ['orderId'], asc(returns.id)),
  unfinished: prepare((queries) =>
    queries
      .select({ number: orders.number })
      .from(orders)
      .where(
        and(
          valuesOf(orders, ['shopId']),
          sql`(${orders.status} in ('PENDING_PAYMENT', 'PAID', 'COMPENSATING') or ${orders.id} in (
            select order_id from refunds where resume_at is not null and status = 'PENDING' and shop_id = ${sql.placeholder('shopId')}))`,
        ),
      )
      .orderBy(asc(orders.number))
      .limit(1),
  ),
  holdNumbers: prepare((queries) =>
    queries
      .insert(orderNumbers)
      .values({ shopId: sql.placeholder('shopId'), last: 0 })
      .onConflictDoUpdate({ target: orderNumbers.shopId, set: { last: sql`${orderNumbers.last}` } }),
  ),
  drawNumber: prepare(
    (queries) =>
      queries
        .insert(orderNumbers)
        .values({ shopId: sql.placeholder('shopId'), last: 1 })
        .onConflictDoUpdate({ target: orderNumbers.shopId, set: { last: sql`${orderNumbers.last} + 1` } }),
    { row: 'shopId' },
  ),
}
const locked = lockedRowsOf(orders, ['id'])
const { number: _number, ...orderColumns } = getTableColumns(orders)
/** Takes the number that the same write drew before it. */
const insertOrder = prepare(
  (queries) =>
    queries
      .insert(orders)
      .values({
        ...(Object.fromEntries(Object.keys(orderColumns).map((name) => [name, sql.placeholder(name)])) as unknown as Order),
        number: sql`(select last from order_numbers where shop_id = ${sql.placeholder('shopId')})`,
        // Going live locks the number's row, so the shop's mode may have changed since the request began. Null is
        // refused.
        mode: sql`(select mode from shops where id = ${sql.placeholder('shopId')} and mode = ${sql.placeholder('mode')})`,
      })
      .returning({ number: orders.number }),
  'behind',
)
const lockedRefund = lockedRowsOf(refunds, ['id'])
const inserts = {
  lines: insertAllOf(orderLines),
  giftCards: insertAllOf(orderGiftCards),
  events: insertAllOf(orderEvents),
}
const { position: _, ...eventColumns } = getTableColumns(orderEvents)
const insertEvent = prepare((queries) =>
  queries.insert(orderEvents).values({
    ...(Object.fromEntries(Object.keys(eventColumns).map((name) => [name, sql.placeholder(name)])) as unknown as OrderEvent),
    position: sql`(select coalesce(max(position), 0) + 1 from order_events where order_id = ${sql.placeholder('orderId')})`,
  }),
)
/** The columns that another run may change. */
const changingColumns = [
  'status',
  'paymentStatus',
  'capturedTotal',
  'customerId',
  'holds',
  'processor',
  'attempts',
  'expiresAt',
  'resumeAt',
  'updatedAt',
] as const
const lockAsKnown = lockAsKnownOf(orders, 'id', changingColumns)
const resting = updateOf(
  orders,
  and(
    eq(orders.id, which),
    eq(orders.status, sql.placeholder('inStatus')),
    sql`${orders.resumeAt} is not distinct from ${sql.placeholder('wasToResumeAt')}`,
  ),
)
const failing = updateOf(
  orders,
  and(eq(orders.id, which), eq(orders.status, sql.placeholder('inStatus')), eq(orders.attempts, sql.placeholder('before'))),
)
const sooner = updateOf(
  orders,
  and(
    eq(orders.id, which),
    eq(orders.status, 'PENDING_PAYMENT'),
    sql`(${orders.resumeAt} is null or ${orders.resumeAt} > ${sql.placeholder('latest')})`,
  ),
)
const refundLease = updateOf(
  refunds,
  and(
    eq(refunds.id, which),
    inArray(refunds.status, ['PENDING', 'CLAIMABLE', 'SUCCEEDED']),
    // A settled refund is not leased.
    isNotNull(refunds.resumeAt),
    // Only the run that saw it unsent may send it.
    sql`${refunds.sentAt} is not distinct from ${sql.placeholder('wasSentAt')}`,
    leaseIsFreeCondition(refunds),
  ),
)

/**
 * @param changed called inside every write that changes what an order shows
 * @param counts called inside the write for every order and refund that is new or changed its status
 */
export function createOrderStore({ read }: Pick<Database, 'read'>, changed: (tx: Writer, orderId: string) => void, counts: Counts) {
  const orderMoves = createStateMachine(orders, orderTransitions, {
    onChange: (tx, order) => changed(tx, order.id),
    onMove: counts.order,
  })
  const disputeMoves = createStateMachine(disputes, disputeTransitions, { onChange: (tx, { orderId }) => changed(tx, orderId) })
  const refundMoves = createStateMachine(refunds, refundTransitions, {
    onChange: (tx, { orderId }) => changed(tx, orderId),
    onMove: counts.refund,
  })

  async function find(id: string): Promise<Order | undefined> {
    return read.first(prepared.order, { id })
  }

  return {
    find,
    /** The last order of a cart. */
    async findByCart(cartId: string, from: Pick<Reader, 'first'> = read): Promise<Order | undefined> {
      return from.first(prepared.byCart, { cartId })
    },
    /** The order of a cart that a request placed, or started a payment of. */
    async findByAttempt(cartId: string, attemptKey: string): Promise<Order | undefined> {
      return read.first(prepared.byAttempt, { cartId, attemptKey })
    },
    /** Reads and locks an order. The lock covers its payments, refunds and events. */
    lock: async (tx: Writer, id: string): Promise<Order | undefined> => tx.first(locked, { id }),
    /** Locks an order without reading it; the write throws NothingChanged if it differs from `order`. */
    async lockAsKnown(tx: Writer, order: Order): Promise<void> {
      await lockAsKnown(tx, order)
    },
    /** Reads an order with all that it shows. SQLite answers synchronously, and so from one moment. */
    loadFullOrder(id: string): FullOrder | undefined | Promise<FullOrder | undefined> {
      const { order, lines, giftCards, events, payments: paid, refunds: back, disputes: disputed } = prepared
      const parts = read.inSnapshot(() => {
        const found = read.first(order, { id })
        if (!found) return undefined
        const allOf = <Row>(query: Prepared<Row, 'read'>) => read.all(query, { orderId: id })
        const ofMoney = [allOf(paid), allOf(back), allOf(disputed)] as const
        return [found, allOf(lines), allOf(giftCards), allOf(events), ...ofMoney, allOf(prepared.parcels), allOf(prepared.notes)] as const
      })
      if (!parts) return undefined
      return areAllAvailable(parts) ? fullOrderOf(parts) : Promise.all(parts).then(fullOrderOf)
    },
    lines: async (orderId: string, from: Pick<Reader, 'all'> = read): Promise<OrderLine[]> => from.all(prepared.lines, { orderId }),
    giftCards: async (orderId: string, from: Pick<Reader, 'all'> = read): Promise<OrderGiftCard[]> =>
      from.all(prepared.giftCards, { orderId }),
    parcelsOf: async (from: Pick<Reader, 'all'>, orderId: string): Promise<Fulfilment[]> => from.all(prepared.parcels, { orderId }),
    /** Reads the returns whose goods came back. */
    receivedReturns: async (from: Pick<Reader, 'all'>, orderId: string) =>
      (await from.all(prepared.returns, { orderId })).filter(({ status }) => status === 'RECEIVED'),
    notesOf: async (from: Pick<Reader, 'all'>, orderId: string): Promise<OrderNote[]> => from.all(prepared.notes, { orderId }),
    eventsOf: async (from: Pick<Reader, 'all'>, orderId: string): Promise<OrderEvent[]> => from.all(prepared.events, { orderId }),
    async saga(id: string): Promise<Saga | undefined> {
      const parts = read.inSnapshot(() => [read.first(prepared.order, { id }), read.all(prepared.payments, { orderId: id })] as const)
      const [order, paid] = await Promise.all(parts)
      return order && { order, payments: paid }
    },

    /** Locks a shop's order numbers, so that its other orders wait. */
    async holdNumbers(tx: Writer, shopId: string): Promise<void> {
      await tx.run(prepared.holdNumbers, { shopId })
    },
    /**
     * Inserts an order under its shop's next number. All orders of the shop wait for that row, so nothing is awaited
     * from here on and the commit follows at once. Call it last.
     * @returns the number, known with the commit
     */
    async insert(
      tx: Writer,
      order: Omit<Order, 'number'>,
      lines: readonly OrderLine[],
      cards: readonly OrderGiftCard[],
    ): Promise<{ readonly number: Promise<number> }> {
      await tx.run(prepared.drawNumber, { shopId: order.shopId })
      // SQLite answers, and refuses, synchronously.
      const inserted = tx.first(insertOrder, order)
      counts.order(tx, order)
      await inserts.lines(tx, lines)
      await inserts.giftCards(tx, cards)
      const number = Promise.resolve(inserted).then((row) => {
        if (!row) throw new Error('the insert of an order returned no row')
        return row.number
      })
      // The write reports the failure.
      number.catch(() => undefined)
      return { number }
    },
    ...orderMoves,
    /** Replaces the index entries of an order's tags, after the change of its row. */
    async replaceTags(tx: Writer, { id: orderId, shopId, number, tags }: Order): Promise<void> {
      await tx.delete(orderTags).where(eq(orderTags.orderId, orderId))
      if (tags.length > 0) await tx.insert(orderTags).values(tags.map((tag) => ({ orderId, shopId, number, tag: tagKeyOf(tag) })))
    },
    /** Sets or clears an order's due time, unless the order changed since. */
    async setResumeAt(
      tx: Writer,
      { id, status, resumeAt: before }: Order,
      resumeAt: number | null,
      updatedAt: number,
    ): Promise<Order | undefined> {
      const [order] = await resting(tx, { resumeAt, updatedAt }, { which: id, inStatus: status, wasToResumeAt: before })
      changed(tx, id)
      return order
    },
    /** Moves a waiting order's due time to `resumeAt`, if it is later or not set. */
    async resumeSooner(tx: Writer, id: string, resumeAt: number): Promise<void> {
      await sooner(tx, { resumeAt }, { which: id, latest: resumeAt })
    },
    /** Counts a failed step; undefined if the order changed since. */
    async countFailure(tx: Writer, { id, status, attempts }: Order, resumeAt: number, updatedAt: number): Promise<Order | undefined> {
      const change = { attempts: attempts + 1, resumeAt, updatedAt }
      const [order] = await failing(tx, change, { which: id, inStatus: status, before: attempts })
      changed(tx, id)
      return order
    },
    /** Appends events to an order that this write has locked. They are in the order of the writes. */
    async appendEvents(tx: Writer, orderId: string, events: readonly Omit<OrderEvent, 'position'>[]): Promise<void> {
      for (const event of events) await tx.run(insertEvent, event)
      changed(tx, orderId)
    },
    /** Appends events with known positions. */
    async insertEvents(tx: Writer, orderId: string, events: readonly OrderEvent[]): Promise<void> {
      await inserts.events(tx, events)
      changed(tx, orderId)
    },

    async settleGiftCards(tx: Writer, orderId: string, settledAt: number | null): Promise<void> {
      await tx.update(orderGiftCards).set({ settledAt }).where(eq(orderGiftCards.orderId, orderId))
    },
    async refundGiftCard(tx: Writer, orderId: string, giftCardId: string, amount: number): Promise<void> {
      await tx
        .update(orderGiftCards)
        .set({ refunded: sql`${orderGiftCards.refunded} + ${amount}` })
        .where(and(eq(orderGiftCards.orderId, orderId), eq(orderGiftCards.giftCardId, giftCardId)))
      changed(tx, orderId)
    },

    async insertRefund(tx: Writer, refund: Refund): Promise<void> {
      await tx.insert(refunds).values(refund)
      changed(tx, refund.orderId)
      counts.refund(tx, refund)
    },
    findRefund: async (from: Pick<Reader, 'first'>, id: string): Promise<Refund | undefined> => from.first(prepared.refund, { id }),
    /** Reads and locks a refund, with its lease. */
    lockRefund: async (tx: Writer, id: string): Promise<Refund | undefined> => tx.first(lockedRefund, { id }),
    refundsOf: async (from: Pick<Reader, 'all'>, orderId: string): Promise<Refund[]> => from.all(prepared.refunds, { orderId }),
    /** Leases a refund for a call; undefined while another run holds it. */
    async leaseRefund(tx: Writer, { id, sentAt }: Refund, holder: string, now: number): Promise<Refund | undefined> {
      const change = { ...leaseOf(holder, now), sentAt: sentAt ?? now }
      const [refund] = await refundLease(tx, change, { which: id, holder, now, wasSentAt: sentAt, farAhead: latestLeaseEnd(now) })
      return refund
    },
    moveRefund: refundMoves.move,
    changeRefund: refundMoves.change,
    /** Lists a shop's refunds, newest first, with the numbers of their orders. */
    async listRefunds({ shopId, status }: RefundFilter, slice: PageSlice) {
      const { rows, total } = await selectSlice(read, refunds, {
        where: and(eq(refunds.shopId, shopId), status === undefined ? undefined : eq(refunds.status, status)),
        order: [desc(refunds.id)],
        ...slice,
      })
      const orderIds = rows.map(({ orderId }) => orderId)
      const numbers = await read.select({ id: orders.id, number: orders.number }).from(orders).where(inArray(orders.id, orderIds))
      return { rows, total, numbers: new Map(numbers.map(({ id, number }) => [id, number])) }
    },

    /** Reads all disputes of an order, inside a write. */
    disputesOf: async (tx: Writer, orderId: string): Promise<Dispute[]> => tx.all(prepared.disputes, { orderId }),
    async insertDispute(tx: Writer, dispute: Dispute): Promise<void> {
      await tx.insert(disputes).values(dispute)
      changed(tx, dispute.orderId)
    },
    moveDispute: disputeMoves.move,

    /** The number of an order that is unfinished or has a pending refund. */
    async unfinished(tx: Writer, shopId: string): Promise<number | undefined> {
      return (await tx.first(prepared.unfinished, { shopId }))?.number
    },

    /** Unfinished orders due by `now`, longest waiting first for each processor. */
    toResume: (now: number, limit: number): Promise<DueItem[]> =>
      selectDue(read, sql`orders where resume_at is not null and resume_at <= ${now}`, 'resume_at', limit),
    refundsToResume: (now: number, limit: number): Promise<DueItem[]> =>
      selectDue(read, sql`refunds where resume_at is not null and resume_at <= ${now}`, 'resume_at', limit),
    /** Unpaid orders whose time is over, longest first for each processor. */
    toExpire: (now: number, limit: number): Promise<DueItem[]> =>
      selectDue(read, sql`orders where status = 'PENDING_PAYMENT' and expires_at <= ${now}`, 'expires_at', limit),
    async toComplete(sentBefore: number, limit: number): Promise<string[]> {
      const due = and(sql`status = 'FULFILLED'`, lte(orders.fulfilledAt, sentBefore))
      const rows = await read.select({ id: orders.id }).from(orders).where(due).orderBy(asc(orders.fulfilledAt)).limit(limit)
      return rows.map(({ id }) => id)
    },
  }
}

/** Returns whether no part is a promise. */
const areAllAvailable = <Parts extends readonly unknown[]>(
  parts: {
    readonly [At in keyof Parts]: Parts[At] | Promise<Parts[At]>
  },
): parts is Parts => !parts.some((part) => part instanceof Promise)

const fullOrderOf = ([order, lines, giftCards, events, paid, back, disputed, parcels, notes]: Readonly<OrderParts>):
  | FullOrder
  | undefined =>
  order && { order, lines, giftCards, events, payments: paid, refunds: back, disputes: disputed, fulfilments: parcels, notes }
