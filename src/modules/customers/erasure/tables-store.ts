import { and, eq, inArray, isNotNull, isNull, or, sql } from 'drizzle-orm'
import type { Reader, Writer } from '../../../../db/engine.ts'
import { discountUses } from '../../../../db/schema/discounts.ts'
import { draftOrders } from '../../../../db/schema/drafts.ts'
import { fulfilments, orderNotes } from '../../../../db/schema/fulfilments.ts'
import { mails, oneTimeTokens } from '../../../../db/schema/mail.ts'
import { outbox } from '../../../../db/schema/outbox.ts'
import { disputes, payments, refunds } from '../../../../db/schema/payments.ts'
import { customers, sessions } from '../../../../db/schema/people.ts'
import { addresses, carts, giftCards, orderEvents, orders } from '../../../../db/schema/selling.ts'
import type { Provinces } from '../../shop/countries/domain.ts'
import { erasedAddress, erasedDetail, erasedEmail, erasedMessage, type StillOpen } from './domain.ts'

type Order = typeof orders.$inferSelect

/** Whose rows are erased, and what is theirs. */
export type Theirs = {
  readonly customerId: string
  readonly shopId: string
  /** As they stand, locked by the write. */
  readonly orders: readonly Order[]
  /** Locked as well. */
  readonly cartIds: readonly string[]
  /** Of mails that wait and are to them. */
  readonly mailIds: readonly string[]
  readonly now: number
  readonly provinces: Provinces
}

/** So many values in a statement. */
const atOnce = 500

/** Does something with the ids of their orders, a few hundred at a time. */
async function eachPart<T>(items: readonly T[], work: (part: T[]) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < items.length; from += atOnce) await work(items.slice(from, from + atOnce))
}
const byOrders = ({ orders: theirs }: Theirs, work: (ids: string[]) => Promise<unknown>): Promise<void> =>
  eachPart(
    theirs.map(({ id }) => id),
    work,
  )

/**
 * What is done with the rows of each table that hold something of a person, inside one write: in the order in which everybody takes rows, carts
 * first. A table that is not here holds nothing of a shopper: which columns of which do is in columns.ts, and a test holds the two and the schema
 * together. Doing it again changes nothing more.
 */
export const erasers = {
  async carts(tx, { cartIds, now }) {
    await eachPart(cartIds, async (ids) => {
      await tx.update(carts).set({ email: null, shippingAddress: null, billingAddress: null }).where(inArray(carts.id, ids))
      // As `expire` of the cart's store does.
      await tx
        .update(carts)
        .set({ status: 'EXPIRED', updatedAt: sql`case when ${carts.updatedAt} >= ${now} then ${carts.updatedAt} + 1 else ${now} end` })
        .where(and(inArray(carts.id, ids), eq(carts.status, 'OPEN')))
    })
  },
  draft_orders: (tx, { cartIds }) =>
    eachPart(cartIds, (ids) => tx.update(draftOrders).set({ note: null }).where(inArray(draftOrders.cartId, ids))),
  async orders(tx, { customerId, orders: theirs, now, provinces }) {
    for (const { id, shippingAddress, billingAddress } of theirs)
      await tx
        .update(orders)
        .set({
          email: erasedEmail(customerId),
          shippingAddress: shippingAddress && erasedAddress(shippingAddress, provinces),
          billingAddress: billingAddress && erasedAddress(billingAddress, provinces),
          trackingNumber: null,
          placedFrom: null,
          updatedAt: now,
        })
        .where(eq(orders.id, id))
  },
  order_events: (tx, theirs) =>
    byOrders(theirs, async (ids) => {
      for (const { id, detail } of await tx
        .select({ id: orderEvents.id, detail: orderEvents.detail })
        .from(orderEvents)
        .where(inArray(orderEvents.orderId, ids))) {
        const kept = erasedDetail(detail)
        if (kept) await tx.update(orderEvents).set({ detail: kept }).where(eq(orderEvents.id, id))
      }
    }),
  // What people of the shop wrote of the person, or to whom it went: nobody can tell which of it is of no person.
  order_notes: (tx, theirs) => byOrders(theirs, (ids) => tx.update(orderNotes).set({ text: '' }).where(inArray(orderNotes.orderId, ids))),
  fulfilments: (tx, theirs) =>
    byOrders(theirs, (ids) => tx.update(fulfilments).set({ trackingNumber: null }).where(inArray(fulfilments.orderId, ids))),
  payments: (tx, theirs) =>
    byOrders(theirs, (ids) =>
      tx.update(payments).set({ sealedToken: null, returnUrl: null, clientParameters: {} }).where(inArray(payments.orderId, ids)),
    ),
  refunds: (tx, theirs) =>
    byOrders(theirs, (ids) => tx.update(refunds).set({ reason: null, claimUrl: null }).where(inArray(refunds.orderId, ids))),
  // A guest is counted by a hash of the e-mail address.
  discount_uses: (tx, theirs) =>
    byOrders(theirs, (ids) => tx.update(discountUses).set({ customer: theirs.customerId }).where(inArray(discountUses.orderId, ids))),
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
        name: '',
        phone: null,
        acceptsMarketing: false,
        passwordHash: null,
        emailProvenAt: null,
        erasedAt: now,
        updatedAt: now,
      })
      .where(and(eq(customers.id, customerId), isNull(customers.erasedAt)))
  },
  async addresses(tx, { customerId }) {
    await tx.delete(addresses).where(or(eq(addresses.customerId, customerId), eq(addresses.enteredBy, customerId)))
  },
  /** With them the tokens that renew them. */
  async sessions(tx, { customerId }) {
    await tx.delete(sessions).where(eq(sessions.subjectId, customerId))
  },
  async one_time_tokens(tx, { customerId }) {
    await tx.delete(oneTimeTokens).where(eq(oneTimeTokens.subjectId, customerId))
  },
  // Also what has not been sent yet: it is sent without.
  outbox: (tx, theirs) =>
    eachPart(theirs.orders, async (part) => {
      for (const { id, body } of await keyed(tx, part, messageKeys, outbox)) {
        const kept = erasedMessage(body)
        if (kept !== body) await tx.update(outbox).set({ body: kept }).where(eq(outbox.id, id))
      }
    }),
  // Those that were sent hold nothing of anybody.
  async mails(tx, { mailIds, now, ...theirs }) {
    const drop = async (ids: string[]) => {
      await tx
        .update(mails)
        .set({ status: 'DROPPED', sealed: null, recipient: null, lastError: null, nextAt: now, updatedAt: now })
        .where(and(inArray(mails.id, ids), eq(mails.status, 'PENDING')))
    }
    await eachPart(mailIds, drop)
    await eachPart(theirs.orders, async (part) =>
      eachPart(
        (await keyed(tx, part, mailKeys, mails)).map(({ id }) => id),
        drop,
      ),
    )
  },
} as const satisfies Record<string, (tx: Writer, theirs: Theirs) => Promise<unknown>>

/** What of orders messages and mails are named by. */
type Names = { orderIds: readonly string[]; refundIds: readonly string[]; parcels: readonly { id: string; version: number }[] }

const messageKeys = ({ orderIds, refundIds, parcels }: Names): string[] => [
  ...orderIds.flatMap((id) => ['confirmed', 'cancelled', 'fulfilled'].map((what) => `order.${what}:${id}`)),
  ...refundIds.flatMap((id) => ['refunded', 'refund_claimable', 'refund_manual'].map((what) => `order.${what}:${id}`)),
  ...refundIds.map((id) => `order.refunded:${id}:settled`),
  ...parcels.map(({ id }) => `order.partially_fulfilled:${id}`),
  ...parcels.flatMap(({ id, version }) => Array.from({ length: version }, (_, nth) => `order.fulfilment_updated:${id}:${nth + 1}`)),
]

const mailKeys = ({ orderIds, refundIds, parcels }: Names): string[] => [
  ...orderIds.flatMap((id) => ['order-confirmed', 'payment-failed', 'order-shipped'].map((what) => `${what}:${id}`)),
  ...parcels.map(({ id }) => `order-shipped:${id}`),
  ...refundIds.flatMap((id) => [`refund-made:${id}`, `refund-made:${id}:settled`, `refund-claim:${id}`]),
]

/** The rows of a table that are named after some orders, or after what hangs on them. */
async function keyed<Table extends typeof outbox | typeof mails>(
  tx: Writer,
  part: readonly Order[],
  keysOf: (names: Names) => string[],
  table: Table,
): Promise<Table['$inferSelect'][]> {
  const orderIds = part.map(({ id }) => id)
  const [made, sent] = await Promise.all([
    tx.select({ id: refunds.id }).from(refunds).where(inArray(refunds.orderId, orderIds)),
    tx.select({ id: fulfilments.id, version: fulfilments.version }).from(fulfilments).where(inArray(fulfilments.orderId, orderIds)),
  ])
  const rows: Table['$inferSelect'][] = []
  await eachPart(keysOf({ orderIds, refundIds: made.map(({ id }) => id), parcels: sent }), async (keys) => {
    rows.push(...((await tx.select().from(table).where(inArray(table.key, keys))) as Table['$inferSelect'][]))
  })
  return rows
}

const closed: readonly Order['status'][] = ['FULFILLED', 'COMPLETED', 'EXPIRED', 'CANCELLED']

/** What of their orders, as they were read, is not over: what still needs somebody to send to, to pay to, or to ask. */
export async function openOf(from: Pick<Reader, 'select'>, theirs: Pick<Theirs, 'orders'>): Promise<StillOpen[]> {
  const open: StillOpen[] = theirs.orders
    .filter(({ status, resumeAt }) => !closed.includes(status) || resumeAt !== null)
    .map(({ number, status }) => ({ what: `order #${number}`, status }))
  const numbers = new Map(theirs.orders.map(({ id, number }) => [id, number]))
  await eachPart([...numbers.keys()], async (ids) => {
    const [paying, back, taken] = await Promise.all([
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
      ['payment', paying],
      ['refund', back],
      ['dispute', taken],
    ] as const)
      for (const { id, orderId, status } of rows) open.push({ what: `${kind} ${id} of order #${numbers.get(orderId)}`, status })
  })
  return open
}
