import { and, asc, count, desc, eq, gte, inArray, isNotNull, lt, lte, ne, type SQL, sql } from 'drizzle-orm'
import type { Database, Prepared, Reader, Writer } from '../../../db/engine.ts'
import { insertOf, prepare, rowsOf, updateOf } from '../../../db/prepared.ts'
import { orderEvents, orderGiftCards, orderLines, orderNumbers, orders, payments, refunds, sagaSteps } from '../../../db/schema/selling.ts'
import { movesOf } from '../../core/moves.ts'
import { isUnderWay, type Payment } from '../payment/domain.ts'
import {
  type Order,
  type OrderEvent,
  type OrderFilter,
  type OrderGiftCard,
  type OrderLine,
  type OrderStatus,
  orderTransitions,
  type Refund,
  refundTransitions,
  type Saga,
  type SagaStep,
} from './domain.ts'
import type { WholeOrder } from './view.ts'

export type OrderStore = ReturnType<typeof createOrderStore>

/** All that an order is shown with. */
type Parts = [Order | undefined, OrderLine[], OrderGiftCard[], OrderEvent[], Payment[], Refund[]]

const which = sql.placeholder('which')
const prepared = {
  order: rowsOf(orders, ['id']),
  byCart: rowsOf(orders, ['cartId']),
  lines: rowsOf(orderLines, ['orderId'], asc(orderLines.position)),
  giftCards: rowsOf(orderGiftCards, ['orderId'], asc(orderGiftCards.giftCardId)),
  events: rowsOf(orderEvents, ['orderId'], asc(orderEvents.id)),
  payments: rowsOf(payments, ['orderId'], asc(payments.id)),
  refunds: rowsOf(refunds, ['orderId'], asc(refunds.id)),
  refund: rowsOf(refunds, ['id']),
  steps: rowsOf(sagaSteps, ['orderId'], asc(sagaSteps.position)),
  nextNumber: prepare((queries) =>
    queries
      .insert(orderNumbers)
      .values({ shopId: sql.placeholder('shopId'), last: 1 })
      .onConflictDoUpdate({ target: orderNumbers.shopId, set: { last: sql`${orderNumbers.last} + 1` } })
      .returning({ last: orderNumbers.last }),
  ),
}
const inserts = {
  order: insertOf(orders),
  line: insertOf(orderLines),
  giftCard: insertOf(orderGiftCards),
  step: insertOf(sagaSteps),
  event: insertOf(orderEvents),
}
const resting = updateOf(
  orders,
  and(eq(orders.id, which), eq(orders.status, sql.placeholder('inStatus')), eq(orders.resumeAt, sql.placeholder('wasToResumeAt'))),
)
const stepsTakenOf = onceFor((statuses: readonly OrderStatus[]) =>
  updateOf(
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
  updateOf(sagaSteps, and(eq(sagaSteps.orderId, which), inArray(sagaSteps.step, [...steps]), ne(sagaSteps.state, 'DONE'))),
)

/** @param changed called inside every write that changes what an order shows */
export function createOrderStore({ read }: Pick<Database, 'read'>, changed: (tx: Writer, orderId: string) => void) {
  const orderMoves = movesOf(orders, orderTransitions, { changed: (tx, order) => changed(tx, order.id) })
  const refundMoves = movesOf(refunds, refundTransitions, { changed: (tx, { orderId }) => changed(tx, orderId) })

  async function find(id: string): Promise<Order | undefined> {
    return read.first(prepared.order, { id })
  }

  return {
    find,
    async findByCart(cartId: string): Promise<Order | undefined> {
      return read.first(prepared.byCart, { cartId })
    },
    /** Inside a write. */
    async get(tx: Writer, id: string): Promise<Order | undefined> {
      return tx.first(prepared.order, { id })
    },
    /** The order with everything that it is shown with. SQLite answers at once, and so as of one moment. */
    whole(id: string): WholeOrder | undefined | Promise<WholeOrder | undefined> {
      const { order, lines, giftCards, events, payments: paid, refunds: back } = prepared
      const parts = read.together(() => {
        const found = read.first(order, { id })
        if (!found) return undefined
        const allOf = <Row>(query: Prepared<Row, 'read'>) => read.all(query, { orderId: id })
        return [found, allOf(lines), allOf(giftCards), allOf(events), allOf(paid), allOf(back)] as const
      })
      if (!parts) return undefined
      return areThere(parts) ? wholeOf(parts) : Promise.all(parts).then(wholeOf)
    },
    lines: async (orderId: string, from: Pick<Reader, 'all'> = read): Promise<OrderLine[]> => from.all(prepared.lines, { orderId }),
    giftCards: async (orderId: string, from: Pick<Reader, 'all'> = read): Promise<OrderGiftCard[]> =>
      from.all(prepared.giftCards, { orderId }),
    async saga(id: string): Promise<Saga | undefined> {
      const parts = read.together(
        () =>
          [
            read.first(prepared.order, { id }),
            read.all(prepared.steps, { orderId: id }),
            read.all(prepared.payments, { orderId: id }),
          ] as const,
      )
      const [order, steps, paid] = await Promise.all(parts)
      if (!order) return undefined
      // Of several at most one is alive; ids of two processes need not be in the order of their making.
      const live = paid.find((payment) => isUnderWay(payment) || payment.status === 'CAPTURED')
      return { order, steps, payment: live ?? paid.at(-1) }
    },

    /** By number, newest first. */
    async list(filter: OrderFilter, { limit, offset }: { limit: number; offset: number }): Promise<{ ids: string[]; total: number }> {
      const conditions = conditionsOf(filter)
      const condition = and(eq(orders.shopId, filter.shopId), ...conditions)
      const total = conditions.length > 0 ? await countOrders(condition) : await lastNumber(filter.shopId)
      const rows = await read
        .select({ id: orders.id })
        .from(orders)
        .where(condition)
        .orderBy(desc(orders.number))
        .limit(limit)
        .offset(offset)
      return { ids: rows.map(({ id }) => id), total }
    },

    /** The next number of the shop. Its row is one that every order of the shop needs: call it as late in the write as may be. */
    async nextNumber(tx: Writer, shopId: string): Promise<number> {
      const row = await tx.first(prepared.nextNumber, { shopId })
      if (!row) throw new Error('a counter gave no number')
      return row.last
    },
    async insert(tx: Writer, order: Order, lines: OrderLine[], cards: OrderGiftCard[], steps: SagaStep[]): Promise<void> {
      await inserts.order(tx, order)
      for (const line of lines) await inserts.line(tx, line)
      for (const card of cards) await inserts.giftCard(tx, card)
      for (const step of steps) await inserts.step(tx, step)
    },
    ...orderMoves,
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

    async insertRefund(tx: Writer, refund: Refund): Promise<void> {
      await tx.insert(refunds).values(refund)
      changed(tx, refund.orderId)
    },
    async findRefund(from: Pick<Reader, 'first'>, id: string): Promise<Refund | undefined> {
      return from.first(prepared.refund, { id })
    },
    async refundsOf(from: Pick<Reader, 'all'>, orderId: string): Promise<Refund[]> {
      return from.all(prepared.refunds, { orderId })
    },
    moveRefund: refundMoves.move,
    changeRefund: refundMoves.change,

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

const emailOf = sql`lower(${orders.email})`

/** What narrows a list, besides its shop. */
function conditionsOf(filter: OrderFilter): SQL[] {
  const { shopId, status, paymentStatus, customerId, number, id, email, emailPart, from, until } = filter
  const same = [
    status === undefined ? undefined : eq(orders.status, status),
    paymentStatus === undefined ? undefined : eq(orders.paymentStatus, paymentStatus),
    customerId === undefined || customerId === null ? undefined : eq(orders.customerId, customerId),
    number === undefined ? undefined : eq(orders.number, number),
    id === undefined ? undefined : eq(orders.id, id),
    email === undefined ? undefined : sql`${emailOf} = lower(${email})`,
    from === undefined ? undefined : gte(orders.createdAt, from),
    until === undefined ? undefined : lt(orders.createdAt, until),
  ]
  if (emailPart !== undefined) {
    const pattern = `%${emailPart.replace(/[\\%_]/g, '\\$&')}%`
    // By itself, so that the index of e-mail addresses is looked through and not the orders.
    same.push(sql`${orders.id} in (select id from orders where shop_id = ${shopId} and lower(email) like lower(${pattern}) escape '\\')`)
  }
  return same.filter((condition) => condition !== undefined)
}

/** Makes something for each list of words once. */
function onceFor<Word extends string, Made>(make: (words: readonly Word[]) => Made): (words: readonly Word[]) => Made {
  const made = new Map<string, Made>()
  return (words) => made.getOrInsertComputed(words.join(), () => make(words))
}

/** Whether nothing of it is still to come. */
const areThere = <Parts extends readonly unknown[]>(
  parts: {
    readonly [At in keyof Parts]: Parts[At] | Promise<Parts[At]>
  },
): parts is Parts => !parts.some((part) => part instanceof Promise)

const wholeOf = ([order, lines, giftCards, events, paid, back]: Readonly<Parts>): WholeOrder | undefined =>
  order && { order, lines, giftCards, events, payments: paid, refunds: back }
