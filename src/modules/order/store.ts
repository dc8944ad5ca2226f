import { and, asc, type Column, count, desc, eq, getTableColumns, inArray, isNotNull, lte, ne, notExists, type SQL, sql } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../db/engine.ts'
import { orderEvents, orderGiftCards, orderLines, orderNumbers, orders, payments, refunds, sagaSteps } from '../../../db/schema/selling.ts'
import type { Memory } from '../../lib/memory.ts'
import {
  isUnderWay,
  type Order,
  type OrderEvent,
  type OrderGiftCard,
  type OrderLine,
  type OrderStatus,
  type Payment,
  type PaymentStatus,
  paymentStatuses,
  type Refund,
  type Saga,
  type SagaStep,
  type WholeOrder,
} from './domain.ts'

export type OrderStore = ReturnType<typeof createOrderStore>
type Queries = Pick<Reader, 'select'>

const underWay = paymentStatuses.filter((status) => isUnderWay({ status }))

/** A row as the driver has it: JSON is text. */
type Raw<Row, Json extends keyof Row> = Omit<Row, Json> & { [Name in Json]: string | Extract<Row[Name], null> }
type RawOrder = Raw<Order, 'shippingAddress' | 'billingAddress' | 'shippingMethod'>
/** On SQLite a truth is 0 or 1. */
type RawLine = Omit<OrderLine, 'taxInclusive' | 'tracked'> & { taxInclusive: unknown; tracked: unknown }
type RawEvent = Raw<OrderEvent, 'detail'>
type RawPayment = Raw<Payment, 'clientParameters'>
type RawRefund = Raw<Refund, 'giftCards'>
/** All that an order is shown with. */
type RawWhole = [RawOrder | undefined, RawLine[], OrderGiftCard[], RawEvent[], RawPayment[], RawRefund[]]

/** The columns of a table under the names that they have here. */
const named = (columns: Record<string, Column>) =>
  Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, sql`${column}`.as(name)]))

/** @param kept what is remembered of orders: every function below that changes what an order shows forgets it */
export function createOrderStore({ read }: Pick<Database, 'read'>, kept: Pick<Memory<unknown>, 'forget'>) {
  const all = {
    orders: named(getTableColumns(orders)),
    lines: named(getTableColumns(orderLines)),
    giftCards: named(getTableColumns(orderGiftCards)),
    events: named(getTableColumns(orderEvents)),
    payments: named(getTableColumns(payments)),
    refunds: named(getTableColumns(refunds)),
    steps: named(getTableColumns(sagaSteps)),
  }
  const id = sql.placeholder('id')
  const prepared = {
    order: read.one<RawOrder>(read.select(all.orders).from(orders).where(eq(orders.id, id)).limit(1)),
    byCart: read.one<RawOrder>(read.select(all.orders).from(orders).where(eq(orders.cartId, id)).limit(1)),
    lines: read.many<RawLine>(read.select(all.lines).from(orderLines).where(eq(orderLines.orderId, id)).orderBy(asc(orderLines.position))),
    giftCards: read.many<OrderGiftCard>(
      read.select(all.giftCards).from(orderGiftCards).where(eq(orderGiftCards.orderId, id)).orderBy(asc(orderGiftCards.giftCardId)),
    ),
    events: read.many<RawEvent>(read.select(all.events).from(orderEvents).where(eq(orderEvents.orderId, id)).orderBy(asc(orderEvents.id))),
    payments: read.many<RawPayment>(read.select(all.payments).from(payments).where(eq(payments.orderId, id)).orderBy(asc(payments.id))),
    refunds: read.many<RawRefund>(read.select(all.refunds).from(refunds).where(eq(refunds.orderId, id)).orderBy(asc(refunds.id))),
    steps: read.many<SagaStep>(read.select(all.steps).from(sagaSteps).where(eq(sagaSteps.orderId, id)).orderBy(asc(sagaSteps.position))),
  }
  const changed = (tx: Writer, orderId: string) => tx.afterCommit(() => kept.forget(orderId))

  async function find(id: string): Promise<Order | undefined> {
    return orderOf(await prepared.order({ id }))
  }

  return {
    find,
    async findByCart(cartId: string): Promise<Order | undefined> {
      return orderOf(await prepared.byCart({ id: cartId }))
    },
    /** Inside a write. */
    async get(tx: Writer, id: string): Promise<Order | undefined> {
      const [order] = await tx.select().from(orders).where(eq(orders.id, id)).limit(1)
      return order
    },
    /** The order with everything that it is shown with. SQLite answers at once, and so as of one moment. */
    whole(id: string): WholeOrder | undefined | Promise<WholeOrder | undefined> {
      const order = prepared.order({ id })
      if (!order) return undefined
      const { lines, giftCards, events, payments: paid, refunds: back } = prepared
      const parts = [order, lines({ id }), giftCards({ id }), events({ id }), paid({ id }), back({ id })] as const
      return areThere(parts) ? wholeOf(parts) : Promise.all(parts).then(wholeOf)
    },
    lines: async (id: string): Promise<OrderLine[]> => (await prepared.lines({ id })).map(lineOf),
    giftCards: async (id: string): Promise<OrderGiftCard[]> => prepared.giftCards({ id }),
    payments: async (id: string): Promise<Payment[]> => (await prepared.payments({ id })).map(paymentOf),
    async saga(id: string): Promise<Saga | undefined> {
      const [order, steps, all] = await Promise.all([prepared.order({ id }), prepared.steps({ id }), prepared.payments({ id })])
      return order && { order: orderOf(order), steps, payment: all.map(paymentOf).at(-1) }
    },

    async list(
      filter: { shopId: string; status?: OrderStatus | undefined; customerId?: string | undefined },
      { limit, offset }: { limit: number; offset: number },
    ): Promise<{ ids: string[]; total: number }> {
      const condition = and(
        eq(orders.shopId, filter.shopId),
        filter.status ? eq(orders.status, filter.status) : undefined,
        filter.customerId ? eq(orders.customerId, filter.customerId) : undefined,
      )
      const narrowed = filter.status !== undefined || filter.customerId !== undefined
      const total = narrowed ? await countOrders(condition) : await lastNumber(filter.shopId)
      const rows = await read.select({ id: orders.id }).from(orders).where(condition).orderBy(desc(orders.id)).limit(limit).offset(offset)
      return { ids: rows.map(({ id }) => id), total }
    },

    /** The next number of the shop. Its row is one that every order of the shop needs: call it as late in the write as may be. */
    async nextNumber(tx: Writer, shopId: string): Promise<number> {
      const [row] = await tx
        .insert(orderNumbers)
        .values({ shopId, last: 1 })
        .onConflictDoUpdate({ target: orderNumbers.shopId, set: { last: sql`${orderNumbers.last} + 1` } })
        .returning({ last: orderNumbers.last })
      if (!row) throw new Error('a counter gave no number')
      return row.last
    },
    async insert(tx: Writer, order: Order, lines: OrderLine[], cards: OrderGiftCard[], steps: SagaStep[]): Promise<void> {
      await tx.insert(orders).values(order)
      await tx.insert(orderLines).values(lines)
      if (cards.length > 0) await tx.insert(orderGiftCards).values(cards)
      await tx.insert(sagaSteps).values(steps)
    },
    /** Changes an order that is in one of `from`; undefined when it is not. */
    async change(
      tx: Writer,
      id: string,
      from: readonly OrderStatus[],
      change: { [Column in keyof Order]?: Order[Column] | SQL },
      condition?: SQL,
    ): Promise<Order | undefined> {
      const [order] = await tx
        .update(orders)
        .set(change)
        .where(and(eq(orders.id, id), inArray(orders.status, [...from]), condition))
        .returning()
      changed(tx, id)
      return order
    },
    async appendEvent(tx: Writer, event: OrderEvent): Promise<void> {
      await tx.insert(orderEvents).values(event)
      changed(tx, event.orderId)
    },

    /**
     * Takes a step from one state to the next while the order is in one of `statuses`.
     * @returns false when somebody else did, or the order has moved on: then nothing of the step may be done
     */
    async takeStep(
      tx: Writer,
      { orderId, position }: SagaStep,
      [from, to]: readonly [SagaStep['state'], SagaStep['state']],
      statuses: readonly OrderStatus[],
      at: number,
    ): Promise<boolean> {
      const rows = await tx
        .update(sagaSteps)
        .set({ state: to, at })
        .where(
          and(
            eq(sagaSteps.orderId, orderId),
            eq(sagaSteps.position, position),
            eq(sagaSteps.state, from),
            inArray(sql`(select ${orders.status} from ${orders} where ${orders.id} = ${orderId})`, [...statuses]),
          ),
        )
        .returning({ position: sagaSteps.position })
      return rows.length > 0
    },
    /** Notes that these steps are done, which were not. */
    async stepsDone(tx: Writer, orderId: string, steps: readonly string[], at: number): Promise<void> {
      await tx
        .update(sagaSteps)
        .set({ state: 'DONE', at })
        .where(and(eq(sagaSteps.orderId, orderId), inArray(sagaSteps.step, [...steps]), ne(sagaSteps.state, 'DONE')))
    },
    /** Returns how often a step has failed by now. */
    async countAttempt(tx: Writer, orderId: string, position: number): Promise<number> {
      const [row] = await tx
        .update(sagaSteps)
        .set({ attempts: sql`${sagaSteps.attempts} + 1` })
        .where(and(eq(sagaSteps.orderId, orderId), eq(sagaSteps.position, position)))
        .returning({ attempts: sagaSteps.attempts })
      return row?.attempts ?? 0
    },
    async settleGiftCards(tx: Writer, orderId: string, settledAt: number | null): Promise<void> {
      await tx.update(orderGiftCards).set({ settledAt }).where(eq(orderGiftCards.orderId, orderId))
      changed(tx, orderId)
    },
    async refundGiftCard(tx: Writer, orderId: string, giftCardId: string, amount: number): Promise<void> {
      await tx
        .update(orderGiftCards)
        .set({ refunded: sql`${orderGiftCards.refunded} + ${amount}` })
        .where(and(eq(orderGiftCards.orderId, orderId), eq(orderGiftCards.giftCardId, giftCardId)))
      changed(tx, orderId)
    },

    async insertPayment(tx: Writer, payment: Payment): Promise<void> {
      await tx.insert(payments).values(payment)
      changed(tx, payment.orderId)
    },
    async findPayment(from: Queries, id: string): Promise<Payment | undefined> {
      const [payment] = await from.select().from(payments).where(eq(payments.id, id)).limit(1)
      return payment
    },
    /** Holds for an order of which no payment can still be captured. */
    noPaymentUnderWay: (orderId: string): SQL =>
      notExists(
        read
          .select({ id: payments.id })
          .from(payments)
          .where(and(eq(payments.orderId, orderId), inArray(payments.status, [...underWay, 'CAPTURED']))),
      ),
    /** The payment that an order was paid with. */
    async capturedPayment(tx: Writer, orderId: string): Promise<Payment | undefined> {
      const [payment] = await tx
        .select()
        .from(payments)
        .where(and(eq(payments.orderId, orderId), eq(payments.status, 'CAPTURED')))
        .limit(1)
      return payment
    },
    /** By the name that its processor has for it. */
    async findPaymentByReference(processor: string, reference: string): Promise<Payment | undefined> {
      const [payment] = await read
        .select()
        .from(payments)
        .where(and(eq(payments.processor, processor), eq(payments.processorReference, reference)))
        .limit(1)
      return payment
    },
    /** Changes a payment that is in one of `from`; undefined when it is not. */
    async changePayment(
      tx: Writer,
      id: string,
      from: readonly PaymentStatus[],
      change: { [Column in keyof Payment]?: Payment[Column] | SQL },
      condition?: SQL,
    ): Promise<Payment | undefined> {
      const [payment] = await tx
        .update(payments)
        .set(change)
        .where(and(eq(payments.id, id), inArray(payments.status, [...from]), condition))
        .returning()
      if (payment) changed(tx, payment.orderId)
      return payment
    },

    async insertRefund(tx: Writer, refund: Refund): Promise<void> {
      await tx.insert(refunds).values(refund)
      changed(tx, refund.orderId)
    },
    async findRefund(from: Queries, id: string): Promise<Refund | undefined> {
      const [refund] = await from.select().from(refunds).where(eq(refunds.id, id)).limit(1)
      return refund
    },
    async refundsOf(from: Queries, orderId: string): Promise<Refund[]> {
      return from.select().from(refunds).where(eq(refunds.orderId, orderId)).orderBy(asc(refunds.id))
    },
    async linesOf(tx: Writer, orderId: string): Promise<OrderLine[]> {
      return tx.select().from(orderLines).where(eq(orderLines.orderId, orderId)).orderBy(asc(orderLines.position))
    },
    async giftCardsOf(tx: Writer, orderId: string): Promise<OrderGiftCard[]> {
      return tx.select().from(orderGiftCards).where(eq(orderGiftCards.orderId, orderId)).orderBy(asc(orderGiftCards.giftCardId))
    },
    /** Changes a refund that is still PENDING; undefined when it is not. */
    async changeRefund(tx: Writer, id: string, change: { [Column in keyof Refund]?: Refund[Column] | SQL }): Promise<Refund | undefined> {
      const [refund] = await tx
        .update(refunds)
        .set(change)
        .where(and(eq(refunds.id, id), eq(refunds.status, 'PENDING')))
        .returning()
      if (refund) changed(tx, refund.orderId)
      return refund
    },

    /** Orders whose saga nobody has finished by `now`, the longest waiting first. */
    async toResume(now: number, limit: number): Promise<string[]> {
      const due = and(isNotNull(orders.resumeAt), lte(orders.resumeAt, now))
      const rows = await read.select({ id: orders.id }).from(orders).where(due).orderBy(asc(orders.resumeAt)).limit(limit)
      return rows.map(({ id }) => id)
    },
    async refundsToResume(now: number, limit: number): Promise<string[]> {
      const due = and(isNotNull(refunds.resumeAt), lte(refunds.resumeAt, now))
      const rows = await read.select({ id: refunds.id }).from(refunds).where(due).orderBy(asc(refunds.resumeAt)).limit(limit)
      return rows.map(({ id }) => id)
    },
    async toExpire(now: number, limit: number): Promise<string[]> {
      const due = and(sql`status = 'PENDING_PAYMENT'`, lte(orders.expiresAt, now))
      const rows = await read.select({ id: orders.id }).from(orders).where(due).orderBy(asc(orders.expiresAt)).limit(limit)
      return rows.map(({ id }) => id)
    },
    async toComplete(sentBefore: number, limit: number): Promise<string[]> {
      const due = and(sql`status = 'FULFILLED'`, lte(orders.fulfilledAt, sentBefore))
      const rows = await read.select({ id: orders.id }).from(orders).where(due).orderBy(asc(orders.fulfilledAt)).limit(limit)
      return rows.map(({ id }) => id)
    },
  }

  async function countOrders(condition: SQL | undefined): Promise<number> {
    const [row] = await read.select({ n: count() }).from(orders).where(condition)
    return Number(row?.n ?? 0)
  }

  /** Numbers have no gap: the last one is how many there are. */
  async function lastNumber(shopId: string): Promise<number> {
    const [row] = await read.select({ last: orderNumbers.last }).from(orderNumbers).where(eq(orderNumbers.shopId, shopId)).limit(1)
    return row?.last ?? 0
  }
}

/** Whether nothing of it is still to come. */
const areThere = <Parts extends readonly unknown[]>(
  parts: {
    readonly [At in keyof Parts]: Parts[At] | Promise<Parts[At]>
  },
): parts is Parts => !parts.some((part) => part instanceof Promise)

const wholeOf = ([order, lines, giftCards, events, paid, back]: Readonly<RawWhole>): WholeOrder | undefined =>
  order && {
    order: orderOf(order),
    lines: lines.map(lineOf),
    giftCards,
    events: events.map(eventOf),
    payments: paid.map(paymentOf),
    refunds: back.map(refundOf),
  }

const maybe = <T>(json: string | null): T | null => (json === null ? null : (JSON.parse(json) as T))

function orderOf(row: RawOrder): Order
function orderOf(row: RawOrder | undefined): Order | undefined
function orderOf(row: RawOrder | undefined): Order | undefined {
  return (
    row && {
      ...row,
      shippingAddress: maybe(row.shippingAddress),
      billingAddress: maybe(row.billingAddress),
      shippingMethod: maybe(row.shippingMethod),
    }
  )
}
const lineOf = (row: RawLine): OrderLine => ({ ...row, taxInclusive: Boolean(row.taxInclusive), tracked: Boolean(row.tracked) })
const eventOf = (row: RawEvent): OrderEvent => ({ ...row, detail: JSON.parse(row.detail) as OrderEvent['detail'] })
const paymentOf = (row: RawPayment): Payment => ({
  ...row,
  clientParameters: JSON.parse(row.clientParameters) as Payment['clientParameters'],
})
const refundOf = (row: RawRefund): Refund => ({ ...row, giftCards: JSON.parse(row.giftCards) as Refund['giftCards'] })
