import { and, asc, desc, eq, getTableColumns, inArray, isNotNull, lte, sql } from 'drizzle-orm'
import type { Database, Prepared, Reader, Writer } from '../../../../db/engine.ts'
import { selectSlice } from '../../../../db/page-query.ts'
import { insertAllOf, lockAsKnownOf, lockedRowsOf, prepare, rowsOf, updateOf, valuesOf } from '../../../../db/prepared.ts'
import { fulfilments, orderNotes } from '../../../../db/schema/fulfilments.ts'
import { disputes, payments, refunds } from '../../../../db/schema/payments.ts'
import { orderEvents, orderGiftCards, orderLines, orderNumbers, orders } from '../../../../db/schema/selling.ts'
import { leaseIsFree, leaseMs, leaseOf } from '../../../core/leases.ts'
import { type Due, dueOf } from '../../../core/partitioned-queue.ts'
import { movesOf } from '../../../core/state-machine.ts'
import type { Optional } from '../../../lib/objects.ts'
import type { Slice } from '../../../lib/page.ts'
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

/** Which refunds of a shop are asked for. */
export type RefundFilter = Pick<Refund, 'shopId'> & Optional<Pick<Refund, 'status'>>

/** All that an order is shown with. */
type Parts = [Order | undefined, OrderLine[], OrderGiftCard[], OrderEvent[], Payment[], Refund[], Dispute[], Fulfilment[], OrderNote[]]

const which = sql.placeholder('which')

const prepared = {
  order: rowsOf(orders, ['id']),
  /** A cart whose checkout was taken back may be bought again: the order that was made last counts. */
  byCart: rowsOf(orders, ['cartId'], desc(orders.number)),
  /** A request has made an order, or begun a payment of one. */
  byAttempt: prepare((queries) =>
    queries
      .select()
      .from(orders)
      .where(
        and(
          valuesOf(orders, ['cartId']),
          sql`(${orders.attemptKey} = ${sql.placeholder('attemptKey')} or exists (
            select 1 from payments where payments.order_id = ${orders.id} and payments.attempt_key = ${sql.placeholder('attemptKey')}))`,
        ),
      )
      .orderBy(desc(orders.number)),
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
/** Under the number that was drawn before it in the same write. */
const insertOrder = prepare(
  (queries) =>
    queries
      .insert(orders)
      .values({
        ...(Object.fromEntries(Object.keys(orderColumns).map((name) => [name, sql.placeholder(name)])) as unknown as Order),
        number: sql`(select last from order_numbers where shop_id = ${sql.placeholder('shopId')})`,
        // Going live has that number's row to itself: what a shop was when the request came in, it need not be any more. Null is refused.
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
/** What of an order may be another once somebody else has had it. */
const known = [
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
const lockAsKnown = lockAsKnownOf(orders, 'id', known)
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
    // One that came through meanwhile is nobody's any more.
    isNotNull(refunds.resumeAt),
    // Whoever sends it must be the one who saw that nobody has.
    sql`${refunds.sentAt} is not distinct from ${sql.placeholder('wasSentAt')}`,
    leaseIsFree(refunds),
  ),
)

/**
 * @param changed called inside every write that changes what an order shows
 * @param counts told of every order and refund that has moved on, or that is new, inside the write
 */
export function createOrderStore({ read }: Pick<Database, 'read'>, changed: (tx: Writer, orderId: string) => void, counts: Counts) {
  const orderMoves = movesOf(orders, orderTransitions, { changed: (tx, order) => changed(tx, order.id), moved: counts.order, known })
  const disputeMoves = movesOf(disputes, disputeTransitions, { changed: (tx, { orderId }) => changed(tx, orderId) })
  const refundMoves = movesOf(refunds, refundTransitions, { changed: (tx, { orderId }) => changed(tx, orderId), moved: counts.refund })

  async function find(id: string): Promise<Order | undefined> {
    return read.first(prepared.order, { id })
  }

  return {
    find,
    /** The order that a cart became last. */
    async findByCart(cartId: string, from: Pick<Reader, 'first'> = read): Promise<Order | undefined> {
      return from.first(prepared.byCart, { cartId })
    },
    /** Of a cart's orders the one that a request has made, or begun a payment of. */
    async findByAttempt(cartId: string, attemptKey: string): Promise<Order | undefined> {
      return read.first(prepared.byAttempt, { cartId, attemptKey })
    },
    /** As it stands inside a write, which has it to itself from then on: with it its payments, its refunds and its events. */
    async lock(tx: Writer, id: string): Promise<Order | undefined> {
      return tx.first(locked, { id })
    },
    /** Has an order to itself that is as it is known; if it is not, the write throws NothingChanged. */
    async lockAsKnown(tx: Writer, order: Order): Promise<void> {
      await lockAsKnown(tx, order)
    },
    /** The order with everything that it is shown with. SQLite answers at once, and so as of one moment. */
    whole(id: string): FullOrder | undefined | Promise<FullOrder | undefined> {
      const { order, lines, giftCards, events, payments: paid, refunds: back, disputes: disputed } = prepared
      const parts = read.together(() => {
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
    notesOf: async (from: Pick<Reader, 'all'>, orderId: string): Promise<OrderNote[]> => from.all(prepared.notes, { orderId }),
    async eventsOf(from: Pick<Reader, 'all'>, orderId: string): Promise<OrderEvent[]> {
      return from.all(prepared.events, { orderId })
    },
    async saga(id: string): Promise<Saga | undefined> {
      const parts = read.together(() => [read.first(prepared.order, { id }), read.all(prepared.payments, { orderId: id })] as const)
      const [order, paid] = await Promise.all(parts)
      return order && { order, payments: paid }
    },

    /** Has the numbers of a shop to itself from then on: its other orders wait. */
    async holdNumbers(tx: Writer, shopId: string): Promise<void> {
      await tx.run(prepared.holdNumbers, { shopId })
    },
    /**
     * Makes an order under the next number of its shop. That number's row is one that every order of the shop waits for: no answer is waited
     * for from here on, so that the commit follows at once. Call it last.
     * @returns the number, which is known with the commit
     */
    async insert(
      tx: Writer,
      order: Omit<Order, 'number'>,
      lines: readonly OrderLine[],
      cards: readonly OrderGiftCard[],
    ): Promise<{ readonly number: Promise<number> }> {
      await tx.run(prepared.drawNumber, { shopId: order.shopId })
      // SQLite answers, and refuses, at once.
      const inserted = tx.first(insertOrder, order)
      counts.order(tx, order)
      await inserts.lines(tx, lines)
      await inserts.giftCards(tx, cards)
      const number = Promise.resolve(inserted).then((row) => {
        if (!row) throw new Error('an order was not made')
        return row.number
      })
      // Of a write that failed it is the write that says so.
      number.catch(() => undefined)
      return { number }
    },
    ...orderMoves,
    /** Notes when somebody needs to look at an order again, or that nobody does, unless somebody has changed it since. */
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
    /** Has the job look at an order that waits for its payment by `resumeAt`, if nobody would so soon. */
    async resumeSooner(tx: Writer, id: string, resumeAt: number): Promise<void> {
      await sooner(tx, { resumeAt }, { which: id, latest: resumeAt })
    },
    /** Notes that what comes next has failed as often as `attempts` says; undefined when somebody else has changed the order since. */
    async countFailure(tx: Writer, { id, status, attempts }: Order, resumeAt: number, updatedAt: number): Promise<Order | undefined> {
      const change = { attempts: attempts + 1, resumeAt, updatedAt }
      const [order] = await failing(tx, change, { which: id, inStatus: status, before: attempts })
      changed(tx, id)
      return order
    },
    /** Appends to the trail of an order whose row this write has: the events of one order are in the order of their writes. */
    async appendEvents(tx: Writer, orderId: string, events: readonly Omit<OrderEvent, 'position'>[]): Promise<void> {
      for (const event of events) await tx.run(insertEvent, event)
      changed(tx, orderId)
    },
    /** The same where their positions are known. */
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
    async findRefund(from: Pick<Reader, 'first'>, id: string): Promise<Refund | undefined> {
      return from.first(prepared.refund, { id })
    },
    /** As it stands, with its lease, in a write that has it to itself from then on. */
    async lockRefund(tx: Writer, id: string): Promise<Refund | undefined> {
      return tx.first(lockedRefund, { id })
    },
    async refundsOf(from: Pick<Reader, 'all'>, orderId: string): Promise<Refund[]> {
      return from.all(prepared.refunds, { orderId })
    },
    /** Takes a refund that its processor is asked about for a call to it; undefined while somebody else has it. */
    async leaseRefund(tx: Writer, { id, sentAt }: Refund, holder: string, now: number): Promise<Refund | undefined> {
      const change = { ...leaseOf(holder, now), sentAt: sentAt ?? now }
      const [refund] = await refundLease(tx, change, { which: id, holder, now, wasSentAt: sentAt, farAhead: now + leaseMs })
      return refund
    },
    moveRefund: refundMoves.move,
    changeRefund: refundMoves.change,
    /** A shop's refunds, newest first. */
    listRefunds: ({ shopId, status }: RefundFilter, slice: Slice) =>
      selectSlice(read, refunds, {
        where: and(eq(refunds.shopId, shopId), status === undefined ? undefined : eq(refunds.status, status)),
        order: [desc(refunds.id)],
        ...slice,
      }),

    /** All disputes of an order's payments, inside a write. */
    async disputesOf(tx: Writer, orderId: string): Promise<Dispute[]> {
      return tx.all(prepared.disputes, { orderId })
    },
    async insertDispute(tx: Writer, dispute: Dispute): Promise<void> {
      await tx.insert(disputes).values(dispute)
      changed(tx, dispute.orderId)
    },
    moveDispute: disputeMoves.move,

    /** The number of an order of the shop that is neither a sale nor over, or of which money is on its way back. */
    async unfinished(tx: Writer, shopId: string): Promise<number | undefined> {
      return (await tx.first(prepared.unfinished, { shopId }))?.number
    },

    /** Orders whose saga nobody has finished by `now`: the longest waiting of each processor. */
    toResume: (now: number, limit: number): Promise<Due[]> =>
      dueOf(read, sql`orders where resume_at is not null and resume_at <= ${now}`, 'resume_at', limit),
    refundsToResume: (now: number, limit: number): Promise<Due[]> =>
      dueOf(read, sql`refunds where resume_at is not null and resume_at <= ${now}`, 'resume_at', limit),
    /** Orders whose time to be paid is over: the longest of each processor. */
    toExpire: (now: number, limit: number): Promise<Due[]> =>
      dueOf(read, sql`orders where status = 'PENDING_PAYMENT' and expires_at <= ${now}`, 'expires_at', limit),
    async toComplete(sentBefore: number, limit: number): Promise<string[]> {
      const due = and(sql`status = 'FULFILLED'`, lte(orders.fulfilledAt, sentBefore))
      const rows = await read.select({ id: orders.id }).from(orders).where(due).orderBy(asc(orders.fulfilledAt)).limit(limit)
      return rows.map(({ id }) => id)
    },
  }
}

/** Whether nothing of it is still to come. */
const areAllAvailable = <Parts extends readonly unknown[]>(
  parts: {
    readonly [At in keyof Parts]: Parts[At] | Promise<Parts[At]>
  },
): parts is Parts => !parts.some((part) => part instanceof Promise)

const fullOrderOf = ([order, lines, giftCards, events, paid, back, disputed, parcels, notes]: Readonly<Parts>): FullOrder | undefined =>
  order && { order, lines, giftCards, events, payments: paid, refunds: back, disputes: disputed, fulfilments: parcels, notes }
