import { and, eq, inArray, isNotNull, isNull, or, sql } from 'drizzle-orm'
import type { Reader, Writer } from '../../../../db/engine.ts'
import { agentMessages, agentSessions } from '../../../../db/schema/agents.ts'
import { discountUses } from '../../../../db/schema/discounts.ts'
import { draftOrders } from '../../../../db/schema/drafts.ts'
import { fulfilments, orderNotes } from '../../../../db/schema/fulfilments.ts'
import { invoices } from '../../../../db/schema/invoices.ts'
import { mails, oneTimeTokens } from '../../../../db/schema/mail.ts'
import { outbox } from '../../../../db/schema/outbox.ts'
import { disputes, payments, refunds } from '../../../../db/schema/payments.ts'
import { customers, sessions } from '../../../../db/schema/people.ts'
import { returns } from '../../../../db/schema/returns.ts'
import { type Address, addresses, carts, giftCards, orderEvents, orders } from '../../../../db/schema/selling.ts'
import { customerTags, orderTags } from '../../../../db/schema/tags.ts'
import { emptyRequest } from '../../agents/agent-session/domain.ts'
import type { Provinces } from '../../shop/countries/domain.ts'
import { emptyProfile, emptyStaffFields, type OrderRecordIds, orderMailKeys } from '../customer/domain.ts'
import { type BlockingRecord, eraseAddress, eraseDetail, erasedEmail, eraseMessage } from './domain.ts'

type Order = typeof orders.$inferSelect

/** The customer to erase and their records. */
export type ErasureTarget = {
  readonly customerId: string
  readonly shopId: string
  /** Locked by the write. */
  readonly orders: readonly Order[]
  /** Locked by the write. */
  readonly cartIds: readonly string[]
  /** Pending mails to the customer. */
  readonly mailIds: readonly string[]
  readonly now: number
  readonly provinces: Provinces
}

/** Values per statement. */
const chunkSize = 500

/** Runs `work` with at most `chunkSize` items at a time. */
async function forEachChunk<T>(items: readonly T[], work: (part: T[]) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < items.length; from += chunkSize) await work(items.slice(from, from + chunkSize))
}
const forEachOrderChunk = ({ orders: target }: ErasureTarget, work: (ids: string[]) => Promise<unknown>): Promise<void> =>
  forEachChunk(
    target.map(({ id }) => id),
    work,
  )

/**
 * Erases the rows of each table inside one write, in the lock order: carts first. Tables that are not here have
 * no personal data of shoppers: columns.ts lists all, and a test compares both with the schema. Idempotent.
 */
export const erasers = {
  async carts(tx, { cartIds, now }) {
    await forEachChunk(cartIds, async (ids) => {
      await tx
        .update(carts)
        .set({ email: null, shippingAddress: null, billingAddress: null, giftCardRecipient: null, acceptsMarketing: false })
        .where(inArray(carts.id, ids))
      await tx.delete(oneTimeTokens).where(inArray(oneTimeTokens.subjectId, ids))
      // As `expire` of the cart store does.
      await tx
        .update(carts)
        .set({ status: 'EXPIRED', updatedAt: sql`case when ${carts.updatedAt} >= ${now} then ${carts.updatedAt} + 1 else ${now} end` })
        .where(and(inArray(carts.id, ids), eq(carts.status, 'OPEN')))
    })
  },
  // A converted cart has no e-mail address: its order leads to the session.
  agent_sessions: (tx, { cartIds, orders: target }) =>
    forEachChunk([...cartIds, ...target.map(({ cartId }) => cartId)], (ids) =>
      tx.update(agentSessions).set({ request: emptyRequest }).where(inArray(agentSessions.cartId, ids)),
    ),
  agent_messages: (tx, target) => forEachOrderChunk(target, (ids) => tx.delete(agentMessages).where(inArray(agentMessages.orderId, ids))),
  draft_orders: (tx, { cartIds }) =>
    forEachChunk(cartIds, (ids) => tx.update(draftOrders).set({ note: null }).where(inArray(draftOrders.cartId, ids))),
  async orders(tx, { customerId, orders: target, now, provinces }) {
    for (const { id, shippingAddress, billingAddress } of target)
      await tx
        .update(orders)
        .set({
          email: erasedEmail(customerId),
          shippingAddress: shippingAddress && eraseAddress(shippingAddress, provinces),
          billingAddress: billingAddress && eraseAddress(billingAddress, provinces),
          giftCardRecipient: null,
          trackingNumber: null,
          placedFrom: null,
          tags: [],
          updatedAt: now,
        })
        .where(eq(orders.id, id))
  },
  /** The seller keeps its copies of invoices, as the law asks: what is stored here need not outlive the customer. */
  invoices: (tx, target) =>
    forEachOrderChunk(target, async (ids) => {
      const erase = (address: Address | null) => address && eraseAddress(address, target.provinces)
      for (const { orderId, buyer } of await tx.select().from(invoices).where(inArray(invoices.orderId, ids))) {
        const erased = { email: '', billingAddress: erase(buyer.billingAddress), shippingAddress: erase(buyer.shippingAddress) }
        await tx.update(invoices).set({ buyer: erased }).where(eq(invoices.orderId, orderId))
      }
    }),
  order_events: (tx, target) =>
    forEachOrderChunk(target, async (ids) => {
      for (const { id, detail } of await tx
        .select({ id: orderEvents.id, detail: orderEvents.detail })
        .from(orderEvents)
        .where(inArray(orderEvents.orderId, ids))) {
        const erased = eraseDetail(detail)
        if (erased) await tx.update(orderEvents).set({ detail: erased }).where(eq(orderEvents.id, id))
      }
    }),
  // Notes by staff may be about the person or the recipient, so all are erased.
  order_notes: (tx, target) =>
    forEachOrderChunk(target, (ids) => tx.update(orderNotes).set({ text: '' }).where(inArray(orderNotes.orderId, ids))),
  order_tags: (tx, target) => forEachOrderChunk(target, (ids) => tx.delete(orderTags).where(inArray(orderTags.orderId, ids))),
  fulfilments: (tx, target) =>
    forEachOrderChunk(target, (ids) => tx.update(fulfilments).set({ trackingNumber: null }).where(inArray(fulfilments.orderId, ids))),
  payments: (tx, target) =>
    forEachOrderChunk(target, (ids) =>
      tx.update(payments).set({ sealedToken: null, returnUrl: null, clientParameters: {} }).where(inArray(payments.orderId, ids)),
    ),
  refunds: (tx, target) =>
    forEachOrderChunk(target, (ids) => tx.update(refunds).set({ reason: null, claimUrl: null }).where(inArray(refunds.orderId, ids))),
  // Shoppers type the reasons of returns.
  returns: (tx, target) =>
    forEachOrderChunk(target, async (ids) => {
      for (const { id, lines } of await tx
        .select({ id: returns.id, lines: returns.lines })
        .from(returns)
        .where(inArray(returns.orderId, ids))) {
        const erased = lines.map((line) => ({ ...line, reason: '' }))
        await tx.update(returns).set({ lines: erased, rejection: null }).where(eq(returns.id, id))
      }
    }),
  // Guests are counted by a hash of the e-mail address.
  discount_uses: (tx, target) =>
    forEachOrderChunk(target, (ids) =>
      tx.update(discountUses).set({ customer: target.customerId }).where(inArray(discountUses.orderId, ids)),
    ),
  async gift_cards(tx, { customerId }) {
    await tx
      .update(giftCards)
      .set({ note: null })
      .where(and(eq(giftCards.customerId, customerId), isNotNull(giftCards.note)))
  },
  async customers(tx, { customerId, now }) {
    await tx
      .update(customers)
      .set({
        email: erasedEmail(customerId),
        ...emptyProfile,
        ...emptyStaffFields,
        passwordHash: null,
        emailProvenAt: null,
        erasedAt: now,
        updatedAt: now,
      })
      .where(and(eq(customers.id, customerId), isNull(customers.erasedAt)))
  },
  async customer_tags(tx, { customerId }) {
    await tx.delete(customerTags).where(eq(customerTags.customerId, customerId))
  },
  async addresses(tx, { customerId }) {
    await tx.delete(addresses).where(or(eq(addresses.customerId, customerId), eq(addresses.enteredBy, customerId)))
  },
  /** Refresh tokens are deleted with their session. */
  async sessions(tx, { customerId }) {
    await tx.delete(sessions).where(eq(sessions.subjectId, customerId))
  },
  async one_time_tokens(tx, { customerId }) {
    await tx.delete(oneTimeTokens).where(eq(oneTimeTokens.subjectId, customerId))
  },
  // Including unsent messages, which are sent without the data.
  outbox: (tx, target) =>
    forEachChunk(target.orders, async (part) => {
      for (const { id, body } of await selectByKeys(tx, part, messageKeys, outbox)) {
        const erased = eraseMessage(body)
        if (erased !== body) await tx.update(outbox).set({ body: erased }).where(eq(outbox.id, id))
      }
    }),
  // Sent mails have no content.
  async mails(tx, { mailIds, now, ...target }) {
    const drop = async (ids: string[]) => {
      await tx
        .update(mails)
        .set({ status: 'DROPPED', sealed: null, recipient: null, lastError: null, nextAt: now, updatedAt: now })
        .where(and(inArray(mails.id, ids), eq(mails.status, 'PENDING')))
    }
    await forEachChunk(mailIds, drop)
    await forEachChunk(target.orders, async (part) =>
      forEachChunk(
        (await selectByKeys(tx, part, orderMailKeys, mails)).map(({ id }) => id),
        drop,
      ),
    )
  },
} as const satisfies Record<string, (tx: Writer, target: ErasureTarget) => Promise<unknown>>

/** The ids that message and mail keys contain. */
type KeyIds = OrderRecordIds & { readonly fulfilmentVersions: readonly { id: string; version: number }[] }

const messageKeys = ({ orderIds, refundIds, fulfilmentIds, fulfilmentVersions }: KeyIds): string[] => [
  ...orderIds.flatMap((id) => ['confirmed', 'cancelled', 'fulfilled'].map((what) => `order.${what}:${id}`)),
  ...refundIds.flatMap((id) => ['refunded', 'refund_claimable', 'refund_manual'].map((what) => `order.${what}:${id}`)),
  ...refundIds.map((id) => `order.refunded:${id}:settled`),
  ...fulfilmentIds.map((id) => `order.partially_fulfilled:${id}`),
  ...fulfilmentVersions.flatMap(({ id, version }) =>
    Array.from({ length: version }, (_, nth) => `order.fulfilment_updated:${id}:${nth + 1}`),
  ),
]

/** Returns the rows whose keys name these orders or their refunds and fulfilments. */
async function selectByKeys<Table extends typeof outbox | typeof mails>(
  tx: Writer,
  part: readonly Order[],
  keysOf: (names: KeyIds) => string[],
  table: Table,
): Promise<Table['$inferSelect'][]> {
  const orderIds = part.map(({ id }) => id)
  const [refundRows, returnRows, fulfilmentRows] = await Promise.all([
    tx.select({ id: refunds.id }).from(refunds).where(inArray(refunds.orderId, orderIds)),
    tx.select({ id: returns.id }).from(returns).where(inArray(returns.orderId, orderIds)),
    tx.select({ id: fulfilments.id, version: fulfilments.version }).from(fulfilments).where(inArray(fulfilments.orderId, orderIds)),
  ])
  const rows: Table['$inferSelect'][] = []
  const idsOf = (all: readonly { id: string }[]) => all.map(({ id }) => id)
  const names = {
    ...{ orderIds, refundIds: idsOf(refundRows), returnIds: idsOf(returnRows) },
    ...{ fulfilmentIds: idsOf(fulfilmentRows), fulfilmentVersions: fulfilmentRows },
  }
  await forEachChunk(keysOf(names), async (keys) => {
    rows.push(...((await tx.select().from(table).where(inArray(table.key, keys))) as Table['$inferSelect'][]))
  })
  return rows
}

const closedStatuses: readonly Order['status'][] = ['FULFILLED', 'COMPLETED', 'EXPIRED', 'CANCELLED']

/** Returns the open orders, payments, refunds and disputes, which still need the data. */
export async function findBlockingRecords(from: Pick<Reader, 'select'>, target: Pick<ErasureTarget, 'orders'>): Promise<BlockingRecord[]> {
  const open: BlockingRecord[] = target.orders
    .filter(({ status, resumeAt }) => !closedStatuses.includes(status) || resumeAt !== null)
    .map(({ number, status }) => ({ what: `order #${number}`, status }))
  const numbers = new Map(target.orders.map(({ id, number }) => [id, number]))
  await forEachChunk([...numbers.keys()], async (ids) => {
    const [openPayments, openRefunds, openDisputes] = await Promise.all([
      from
        .select({ id: payments.id, orderId: payments.orderId, status: payments.status })
        .from(payments)
        .where(and(inArray(payments.orderId, ids), inArray(payments.status, ['PENDING', 'REQUIRES_ACTION', 'AUTHORIZED', 'PROCESSING']))),
      from
        .select({ id: refunds.id, orderId: refunds.orderId, status: refunds.status })
        .from(refunds)
        .where(and(inArray(refunds.orderId, ids), inArray(refunds.status, ['PENDING', 'CLAIMABLE', 'MANUAL']))),
      from
        .select({ id: disputes.id, orderId: disputes.orderId, status: disputes.status })
        .from(disputes)
        .where(and(inArray(disputes.orderId, ids), eq(disputes.status, 'OPEN'))),
    ])
    for (const [kind, rows] of [
      ['payment', openPayments],
      ['refund', openRefunds],
      ['dispute', openDisputes],
    ] as const)
      for (const { id, orderId, status } of rows) open.push({ what: `${kind} ${id} of order #${numbers.get(orderId)}`, status })
  })
  return open
}
