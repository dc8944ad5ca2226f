import { and, asc, eq, gt, inArray, isNull, or, type SQL, sql } from 'drizzle-orm'
import type { BackgroundReader, Reader } from '../../../../db/engine.ts'
import { discountUses } from '../../../../db/schema/discounts.ts'
import { draftOrders } from '../../../../db/schema/drafts.ts'
import { fulfilments } from '../../../../db/schema/fulfilments.ts'
import { mails } from '../../../../db/schema/mail.ts'
import { refunds } from '../../../../db/schema/payments.ts'
import { auditLog, sessions } from '../../../../db/schema/people.ts'
import { returns } from '../../../../db/schema/returns.ts'
import { addresses, cartLines, carts, giftCards, orders } from '../../../../db/schema/selling.ts'
import { orderMailKeys } from '../customer/domain.ts'

type Selects = Pick<Reader, 'select'>
/** A page of rows by id. */
type IdPage = { readonly after: string; readonly limit: number }
type ExportedPerson = { readonly customerId: string; readonly shopId: string; readonly email: string }

/** Reads a customer's data page by page, so that it is never in memory as a whole. */
export const exportStore = {
  addresses: (from: Selects, { customerId, shopId }: ExportedPerson, { after, limit }: IdPage) =>
    from
      .select()
      .from(addresses)
      .where(
        and(
          eq(addresses.shopId, shopId),
          or(eq(addresses.customerId, customerId), and(isNull(addresses.customerId), eq(addresses.enteredBy, customerId))),
          gt(addresses.id, after),
        ),
      )
      .orderBy(asc(addresses.id))
      .limit(limit),
  orderIds: (from: Selects, { customerId, shopId }: ExportedPerson, page: IdPage) =>
    idsOf(from, and(eq(orders.customerId, customerId), eq(orders.shopId, shopId)), page),
  /** Orders bought as a guest. */
  guestOrderIds: (from: Selects, { shopId, email }: ExportedPerson, page: IdPage) =>
    idsOf(from, and(eq(orders.shopId, shopId), sql`lower(${orders.email}) = ${email}`, sql`customer_id is null`), page),
  carts: (from: Selects, { customerId, shopId }: ExportedPerson, { after, limit }: IdPage) =>
    from
      .select()
      .from(carts)
      .where(and(eq(carts.customerId, customerId), eq(carts.shopId, shopId), gt(carts.id, after)))
      .orderBy(asc(carts.id))
      .limit(limit),
  /** Scans the table: there is no index for these. */
  async guestCartIds(reader: Pick<BackgroundReader, 'rows'>, { shopId, email }: ExportedPerson): Promise<string[]> {
    const rows = await reader.rows<{ id: string }>(
      sql`select id from carts where shop_id = ${shopId} and lower(email) = ${email} and customer_id is null order by id`,
    )
    return rows.map(({ id }) => id)
  },
  cartsById: (from: Selects, ids: readonly string[]) =>
    from
      .select()
      .from(carts)
      .where(inArray(carts.id, [...ids]))
      .orderBy(asc(carts.id)),
  lines: (from: Selects, cartIds: readonly string[]) =>
    from
      .select()
      .from(cartLines)
      .where(inArray(cartLines.cartId, [...cartIds]))
      .orderBy(asc(cartLines.id)),
  sessions: (from: Selects, { customerId }: ExportedPerson, { after, limit }: IdPage) =>
    from
      .select()
      .from(sessions)
      .where(and(eq(sessions.subjectId, customerId), gt(sessions.id, after)))
      .orderBy(asc(sessions.id))
      .limit(limit),
  giftCards: (from: Selects, { customerId, shopId }: ExportedPerson, { after, limit }: IdPage) =>
    from
      .select()
      .from(giftCards)
      .where(and(eq(giftCards.customerId, customerId), eq(giftCards.shopId, shopId), gt(giftCards.id, after)))
      .orderBy(asc(giftCards.id))
      .limit(limit),
  discountUses: (from: Selects, orderIds: readonly string[]) =>
    from
      .select()
      .from(discountUses)
      .where(inArray(discountUses.orderId, [...orderIds]))
      .orderBy(asc(discountUses.orderId), asc(discountUses.discountId)),
  /** Draft orders by their carts. */
  draftsOf: (from: Selects, cartIds: readonly string[]) =>
    from
      .select()
      .from(draftOrders)
      .where(inArray(draftOrders.cartId, [...cartIds])),
  /** Returns the keys of mails about orders. */
  async mailKeys(from: Selects, orderIds: readonly string[]): Promise<string[]> {
    const idsIn = async (table: typeof refunds | typeof returns | typeof fulfilments): Promise<string[]> => {
      const rows = await from
        .select({ id: table.id })
        .from(table)
        .where(inArray(table.orderId, [...orderIds]))
      return rows.map(({ id }) => id)
    }
    const [refundIds, returnIds, fulfilmentIds] = await Promise.all([idsIn(refunds), idsIn(returns), idsIn(fulfilments)])
    return orderMailKeys({ orderIds, refundIds, returnIds, fulfilmentIds })
  },
  /** Returns mails by key, without content. */
  mails(from: Selects, keys: readonly string[]) {
    const { id, key, template, language, status, createdAt, updatedAt } = mails
    const mailColumns = { id, key, template, language, status, createdAt, updatedAt }
    return from
      .select(mailColumns)
      .from(mails)
      .where(inArray(key, [...keys]))
      .orderBy(asc(id))
  },
  /** Returns the audit rows of the customer's actions and of actions on their account. */
  activity: (from: Selects, { customerId, shopId }: ExportedPerson, by: 'actor' | 'subject', { after, limit }: IdPage) =>
    from
      .select()
      .from(auditLog)
      .where(
        and(
          eq(auditLog.shopId, shopId),
          eq(auditLog[by], customerId),
          // Excludes rows that are in both lists.
          by === 'subject' ? sql`${auditLog.actor} <> ${customerId}` : undefined,
          gt(auditLog.id, after),
        ),
      )
      .orderBy(asc(auditLog.id))
      .limit(limit),
}

async function idsOf(from: Selects, where: SQL | undefined, { after, limit }: IdPage): Promise<{ id: string }[]> {
  return from
    .select({ id: orders.id })
    .from(orders)
    .where(and(where, gt(orders.id, after)))
    .orderBy(asc(orders.id))
    .limit(limit)
}
