import { and, asc, count, desc, eq, inArray, isNotNull, lte, ne, type SQL, sql } from 'drizzle-orm'
import { type Database, namedColumns, type Reader, type Writer } from '../../../db/engine.ts'
import { insertOf, once, updateOf } from '../../../db/prepared.ts'
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

/** @param kept what is remembered of orders: every function below that changes what an order shows forgets it */
export function createOrderStore({ read, statement }: Pick<Database, 'read' | 'statement'>, kept: Pick<Memory<unknown>, 'forget'>) {
  const id = sql.placeholder('id')
  const prepared = once(() => {
    const all = {
      orders: namedColumns(orders),
      lines: namedColumns(orderLines),
      giftCards: namedColumns(orderGiftCards),
      events: namedColumns(orderEvents),
      payments: namedColumns(payments),
      refunds: namedColumns(refunds),
      steps: namedColumns(sagaSteps),
    }
    return {
      order: read.one<RawOrder>(read.select(all.orders).from(orders).where(eq(orders.id, id)).limit(1)),
      byCart: read.one<RawOrder>(read.select(all.orders).from(orders).where(eq(orders.cartId, id)).limit(1)),
      lines: read.many<RawLine>(
        read.select(all.lines).from(orderLines).where(eq(orderLines.orderId, id)).orderBy(asc(orderLines.position)),
      ),
      giftCards: read.many<OrderGiftCard>(
        read.select(all.giftCards).from(orderGiftCards).where(eq(orderGiftCards.orderId, id)).orderBy(asc(orderGiftCards.giftCardId)),
      ),
      events: read.many<RawEvent>(
        read.select(all.events).from(orderEvents).where(eq(orderEvents.orderId, id)).orderBy(asc(orderEvents.id)),
      ),
      payments: read.many<RawPayment>(read.select(all.payments).from(payments).where(eq(payments.orderId, id)).orderBy(asc(payments.id))),
      refunds: read.many<RawRefund>(read.select(all.refunds).from(refunds).where(eq(refunds.orderId, id)).orderBy(asc(refunds.id))),
      steps: read.many<SagaStep>(read.select(all.steps).from(sagaSteps).where(eq(sagaSteps.orderId, id)).orderBy(asc(sagaSteps.position))),
    }
  })
  const which = sql.placeholder('which')
  const inserts = {
    order: insertOf({ statement }, orders),
    line: insertOf({ statement }, orderLines),
    giftCard: insertOf({ statement }, orderGiftCards),
    step: insertOf({ statement }, sagaSteps),
    event: insertOf({ statement }, orderEvents),
    payment: insertOf({ statement }, payments),
  }
  const writing = {
    order: statement((queries) => queries.select().from(orders).where(eq(orders.id, id)).limit(1)),
    payment: statement((queries) => queries.select().from(payments).where(eq(payments.id, id)).limit(1)),
    capturedPayment: statement((queries) =>
      queries
        .select()
        .from(payments)
        .where(and(eq(payments.orderId, id), eq(payments.status, 'CAPTURED')))
        .limit(1),
    ),
    nextNumber: statement((queries) =>
      queries
        .insert(orderNumbers)
        .values({ shopId: id, last: 1 })
        .onConflictDoUpdate({ target: orderNumbers.shopId, set: { last: sql`${orderNumbers.last} + 1` } })
        .returning({ last: orderNumbers.last }),
    ),
  }
  /** For each set of statuses that a change starts from. */
  const changesOf = onceFor((statuses: readonly OrderStatus[]) =>
    updateOf({ statement }, orders, and(eq(orders.id, which), inArray(orders.status, [...statuses]))),
  )
  const paymentChangesOf = onceFor((statuses: readonly PaymentStatus[]) =>
    updateOf({ statement }, payments, and(eq(payments.id, which), inArray(payments.status, [...statuses]))),
  )
  const resting = updateOf(
    { statement },
    orders,
    and(eq(orders.id, which), eq(orders.status, sql.placeholder('inStatus')), eq(orders.resumeAt, sql.placeholder('wasToResumeAt'))),
  )
  const stepsTakenOf = onceFor((statuses: readonly OrderStatus[]) =>
    updateOf(
      { statement },
      sagaSteps,
      and(
        eq(sagaSteps.orderId, which),
        eq(sagaSteps.position, sql.placeholder('nth')),
        eq(sagaSteps.state, sql.placeholder('from')),
        inArray(sql`(select ${orders.status} from ${orders} where ${orders.id} = ${which})`, [...statuses]),
      ),
    ),
  )
  const stepsDoneOf = onceFor((steps: readonly string[]) =>
    updateOf({ statement }, sagaSteps, and(eq(sagaSteps.orderId, which), inArray(sagaSteps.step, [...steps]), ne(sagaSteps.state, 'DONE'))),
  )
  const changed = (tx: Writer, orderId: string) => tx.afterCommit(() => kept.forget(orderId))

  async function find(id: string): Promise<Order | undefined> {
    return orderOf(await prepared().order({ id }))
  }

  return {
    find,
    async findByCart(cartId: string): Promise<Order | undefined> {
      return orderOf(await prepared().byCart({ id: cartId }))
    },
    /** Inside a write. */
    async get(tx: Writer, id: string): Promise<Order | undefined> {
      const [order] = await writing.order(tx, { id })
      return order
    },
    /** The order with everything that it is shown with. SQLite answers at once, and so as of one moment. */
    whole(id: string): WholeOrder | undefined | Promise<WholeOrder | undefined> {
      const { order, lines, giftCards, events, payments: paid, refunds: back } = prepared()
      const parts = read.together(() => {
        const found = order({ id })
        return found && ([found, lines({ id }), giftCards({ id }), events({ id }), paid({ id }), back({ id })] as const)
      })
      if (!parts) return undefined
      return areThere(parts) ? wholeOf(parts) : Promise.all(parts).then(wholeOf)
    },
    lines: async (id: string): Promise<OrderLine[]> => (await prepared().lines({ id })).map(lineOf),
    giftCards: async (id: string): Promise<OrderGiftCard[]> => prepared().giftCards({ id }),
    payments: async (id: string): Promise<Payment[]> => (await prepared().payments({ id })).map(paymentOf),
    async saga(id: string): Promise<Saga | undefined> {
      const parts = read.together(() => [prepared().order({ id }), prepared().steps({ id }), prepared().payments({ id })] as const)
      const [order, steps, all] = await Promise.all(parts)
      if (!order) return undefined
      const paid = all.map(paymentOf)
      // Of several at most one is alive; ids of two processes need not be in the order of their making.
      const live = paid.find((payment) => isUnderWay(payment) || payment.status === 'CAPTURED')
      return { order: orderOf(order), steps, payment: live ?? paid.at(-1) }
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
      const [row] = await writing.nextNumber(tx, { id: shopId })
      if (!row) throw new Error('a counter gave no number')
      return row.last
    },
    async insert(tx: Writer, order: Order, lines: OrderLine[], cards: OrderGiftCard[], steps: SagaStep[]): Promise<void> {
      await inserts.order(tx, order)
      for (const line of lines) await inserts.line(tx, line)
      for (const card of cards) await inserts.giftCard(tx, card)
      for (const step of steps) await inserts.step(tx, step)
    },
    /** Changes an order that is in one of `from`; undefined when it is not. */
    async change(tx: Writer, id: string, from: readonly OrderStatus[], change: Partial<Order>): Promise<Order | undefined> {
      const [order] = await changesOf(from)(tx, change, { which: id })
      changed(tx, id)
      return order
    },
    /** Notes that nobody needs to look at an order again, unless somebody has changed it since. */
    async comeToRest(tx: Writer, { id, status, resumeAt }: Order, updatedAt: number): Promise<Order | undefined> {
      const [order] = await resting(tx, { resumeAt: null, updatedAt }, { which: id, inStatus: status, wasToResumeAt: resumeAt })
      changed(tx, id)
      return order
    },
    async appendEvent(tx: Writer, event: OrderEvent): Promise<void> {
      await inserts.event(tx, event)
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
      const rows = await stepsTakenOf(statuses)(tx, { state: to, at }, { which: orderId, nth: position, from })
      return rows.length > 0
    },
    /** Notes that these steps are done, which were not. */
    async stepsDone(tx: Writer, orderId: string, steps: readonly string[], at: number): Promise<void> {
      await stepsDoneOf(steps)(tx, { state: 'DONE', at }, { which: orderId })
    },
    /** Counts a failure of a step that had failed so often before. Returns how often it has by now; undefined when somebody else counted. */
    async countAttempt(tx: Writer, orderId: string, position: number, before: number): Promise<number | undefined> {
      const [row] = await tx
        .update(sagaSteps)
        .set({ attempts: sql`${sagaSteps.attempts} + 1` })
        .where(and(eq(sagaSteps.orderId, orderId), eq(sagaSteps.position, position), eq(sagaSteps.attempts, before)))
        .returning({ attempts: sagaSteps.attempts })
      return row?.attempts
    },
    /** Begins to count anew how often these steps have failed. */
    async forgetAttempts(tx: Writer, orderId: string, steps: readonly string[]): Promise<void> {
      await tx
        .update(sagaSteps)
        .set({ attempts: 0 })
        .where(and(eq(sagaSteps.orderId, orderId), inArray(sagaSteps.step, [...steps])))
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

    async insertPayment(tx: Writer, payment: Payment): Promise<void> {
      await inserts.payment(tx, payment)
      changed(tx, payment.orderId)
    },
    async findPayment(id: string): Promise<Payment | undefined> {
      const [payment] = await read.select().from(payments).where(eq(payments.id, id)).limit(1)
      return payment
    },
    /** Inside a write. */
    async getPayment(tx: Writer, id: string): Promise<Payment | undefined> {
      const [payment] = await writing.payment(tx, { id })
      return payment
    },
    async countPayments(tx: Writer, orderId: string): Promise<number> {
      const [row] = await tx.select({ n: count() }).from(payments).where(eq(payments.orderId, orderId))
      return Number(row?.n ?? 0)
    },
    /** Whether a payment of the order can still be captured, or was. */
    async hasLivePayment(tx: Writer, orderId: string): Promise<boolean> {
      const rows = await tx
        .select({ id: payments.id })
        .from(payments)
        .where(and(eq(payments.orderId, orderId), inArray(payments.status, [...underWay, 'CAPTURED'])))
        .limit(1)
      return rows.length > 0
    },
    /** The payment that an order was paid with. */
    async capturedPayment(tx: Writer, orderId: string): Promise<Payment | undefined> {
      const [payment] = await writing.capturedPayment(tx, { id: orderId })
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
    async changePayment(tx: Writer, id: string, from: readonly PaymentStatus[], change: Partial<Payment>): Promise<Payment | undefined> {
      const [payment] = await paymentChangesOf(from)(tx, change, { which: id })
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
    async changeRefund(tx: Writer, id: string, change: Partial<Refund>): Promise<Refund | undefined> {
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

/** Makes something for each list of words once. */
function onceFor<Word extends string, Made>(make: (words: readonly Word[]) => Made): (words: readonly Word[]) => Made {
  const made = new Map<string, Made>()
  return (words) => {
    const key = words.join()
    const known = made.get(key) ?? make(words)
    made.set(key, known)
    return known
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
