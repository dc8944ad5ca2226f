import { and, asc, eq, gt, inArray, isNull, lte, sql } from 'drizzle-orm'
import type { Reader, Writer } from '../../../../db/engine.ts'
import { insertOf, lockedRowsIn, lockNames, rowsOf } from '../../../../db/prepared.ts'
import { mails, mailTexts, shopMail } from '../../../../db/schema/mail.ts'
import { normalMailAddress } from '../../../lib/mail-address.ts'
import { numberOrUndefined } from '../../../lib/objects.ts'
import type { Mail, MailTexts, ShopMail } from './domain.ts'

/** Number of pending mails, since when the first is due, and when the oldest was created. */
export type QueueFigures = { readonly waiting: number; readonly dueAt: number | undefined; readonly oldestAt: number | undefined }
/** A lane with its mail that has been due longest. */
export type DueLane = { readonly lane: string; readonly mailId: string }

/** What a quota counts by. */
export type QuotaSubject = 'shop' | 'recipient' | 'cause'
const quotaColumns: Readonly<Record<QuotaSubject, string>> = { shop: 'shop_id', recipient: 'recipient', cause: 'cause' }

const lockedMails = lockedRowsIn(mails, 'id')
const settingsOf = rowsOf(shopMail, ['shopId'])
const textsOf = rowsOf(mailTexts, ['shopId', 'template', 'language'])
type SelectReader = Pick<Reader, 'select'>

/** Literal, so that the partial indexes apply. */
const pending = sql`${mails.status} = 'PENDING'`

export const mailStore = {
  /** Ignores a mail whose key exists. */
  insert: insertOf(mails, 'leave'),

  /** Returns whether mails are due, and whether pending ones have expired. */
  async work(read: Reader, now: number): Promise<{ due: boolean; expired: boolean }> {
    const [row] = await read.rows<{ due: number; expired: number }>(
      sql`select case when exists (select 1 from mails where status = 'PENDING' and next_at <= ${now}) then 1 else 0 end as due,
            case when exists (select 1 from mails where status = 'PENDING' and expires_at <= ${now} and next_at <= ${now}) then 1 else 0 end as expired`,
    )
    return { due: Number(row?.due) === 1, expired: Number(row?.expired) === 1 }
  },
  /**
   * Returns lanes by name with the mail that has been due longest. One index seek per lane, however many mails it has.
   * @param after the lane to continue after
   */
  async lanes(read: Reader, { now, after, limit }: { now: number; after: string; limit: number }): Promise<DueLane[]> {
    return read.rows<DueLane>(
      sql`with recursive lanes (name) as (
            select min(m.lane) from mails m where m.status = 'PENDING' and m.lane > ${after}
            union all
            select (select min(m.lane) from mails m where m.status = 'PENDING' and m.lane > lanes.name) from lanes where lanes.name is not null
          ), due as (
            select name, (select m.id from mails m where m.status = 'PENDING' and m.lane = lanes.name and m.next_at <= ${now} order by m.next_at limit 1) as mail_id
            from lanes where name is not null
          )
          select name as lane, mail_id as "mailId" from due where mail_id is not null order by name limit ${limit}`,
    )
  },
  /** Locks those of `ids` that are due, oldest first. */
  async due(tx: Writer, ids: readonly string[], now: number): Promise<Mail[]> {
    if (ids.length === 0) return []
    const found = await lockedMails(tx, ids)
    return found.filter(({ status, nextAt, expiresAt }) => status === 'PENDING' && nextAt <= now && expiresAt > now)
  },
  /** Locks quota counters until the end of the write. */
  hold: (tx: Writer, names: readonly string[]): void => lockNames(tx, names),
  /** Counts a mail towards its quotas; an exempt one not towards that of its recipient. */
  async count(tx: Writer, id: string, now: number, isExempt = false): Promise<void> {
    await tx
      .update(mails)
      .set({ countedAt: now, ...(isExempt ? { recipient: null } : {}) })
      .where(eq(mails.id, id))
  },
  /** Counts mails since a time, up to `most`, and returns the time of the oldest of these. */
  async counted(
    from: Pick<Reader, 'rows'>,
    by: QuotaSubject,
    value: string,
    since: number,
    most: number,
  ): Promise<{ count: number; oldestAt: number | undefined }> {
    const column = quotaColumns[by]
    const [row] = await from.rows<{ count: number | string; oldest: number | string | null }>(
      sql`select count(*) as count, min(at) as oldest from
          (select counted_at as at from mails where ${sql.raw(column)} = ${value} and counted_at > ${since} order by counted_at desc limit ${most}) newest`,
    )
    return { count: Number(row?.count ?? 0), oldestAt: numberOrUndefined(row?.oldest) }
  },
  /** Returns the shop's status and mode, and whether an address is its staff's or was invited. */
  async sender(
    from: Pick<Reader, 'rows'>,
    shopId: string,
    to: string,
  ): Promise<{ status: string; mode: string; isStaff: boolean; isInvited: boolean } | undefined> {
    const email = normalMailAddress(to)
    const [row] = await from.rows<{ status: string; mode: string; joined: number; invited: number }>(
      sql`select status, mode,
            case when exists (select 1 from staff m join users u on u.id = m.user_id where m.shop_id = s.id and u.email = ${email}) then 1 else 0 end as joined,
            case when exists (select 1 from staff m where m.shop_id = s.id and m.email = ${email}) then 1 else 0 end as invited
          from shops s where s.id = ${shopId}`,
    )
    return row && { status: row.status, mode: row.mode, isStaff: Number(row.joined) === 1, isInvited: Number(row.invited) === 1 }
  },
  /** Ends a mail that may not be sent. */
  async refuse(tx: Writer, id: string, lastError: string, now: number): Promise<number> {
    await tx
      .update(mails)
      .set({ status: 'DROPPED', sealed: null, recipient: null, cause: null, lastError, nextAt: now, updatedAt: now })
      .where(eq(mails.id, id))
    return 1
  },
  /** Delays a mail, or all due and uncounted mails of its lane. Returns their number. */
  async delay(
    tx: Writer,
    { id, lane }: Pick<Mail, 'id' | 'lane'>,
    { why, until, now, lane: all }: { why: string; until: number; now: number; lane: boolean },
  ): Promise<number> {
    const which = all ? and(pending, eq(mails.lane, lane), lte(mails.nextAt, now), isNull(mails.countedAt)) : eq(mails.id, id)
    const rows = await tx.update(mails).set({ nextAt: until, lastError: why, updatedAt: now }).where(which).returning({ id: mails.id })
    return rows.length
  },
  /** Counts a shop's mails that wait for a quota, and those refused since a time; each up to 1,000. */
  async countHeld(from: Pick<Reader, 'rows'>, shopId: string, since: number): Promise<{ delayed: number; refusedLastDay: number }> {
    const [row] = await from.rows<{ delayed: number | string; refused: number | string }>(
      sql`select
            (select count(*) from (select 1 as one from mails where status = 'PENDING' and lane in (${`${shopId}/told`}, ${`${shopId}/awaited`}) and last_error like 'over the quota%' limit 1000) d) as delayed,
            (select count(*) from (select 1 as one from mails where status = 'DROPPED' and shop_id = ${shopId} and updated_at > ${since} and last_error is not null limit 1000) r) as refused`,
    )
    return { delayed: Number(row?.delayed ?? 0), refusedLastDay: Number(row?.refused ?? 0) }
  },
  /** Claims due mails until `until`. Mails that another process claimed are not returned. */
  async claim(tx: Writer, ids: readonly string[], now: number, until: number): Promise<Mail[]> {
    if (ids.length === 0) return []
    return tx
      .update(mails)
      .set({ nextAt: until, attempts: sql`${mails.attempts} + 1`, updatedAt: now })
      .where(and(inArray(mails.id, [...ids]), pending, lte(mails.nextAt, now), gt(mails.expiresAt, now)))
      .returning()
  },
  /** Stores the result of an attempt. If a later attempt has begun, only success is stored. */
  async settle(
    tx: Writer,
    { id, attempts }: Pick<Mail, 'id' | 'attempts'>,
    change: Pick<Mail, 'status' | 'nextAt' | 'lastError' | 'updatedAt'> & { attempts?: number; sealed?: null; recipient?: null },
  ): Promise<boolean> {
    const isLast = change.status === 'SENT' ? undefined : eq(mails.attempts, attempts)
    const rows = await tx
      .update(mails)
      .set(change)
      .where(and(eq(mails.id, id), pending, isLast))
      .returning({ id: mails.id })
    return rows.length > 0
  },
  /** Ends some expired mails that no process is sending. Returns their number. */
  async giveUp(tx: Writer, now: number, end: Pick<Mail, 'status' | 'lastError'>, limit: number): Promise<number> {
    const isOver = and(pending, lte(mails.expiresAt, now), lte(mails.nextAt, now))
    const some = tx.select({ id: mails.id }).from(mails).where(isOver).limit(limit)
    const rows = await tx
      .update(mails)
      .set({ ...end, sealed: null, recipient: null, cause: null, updatedAt: now })
      .where(and(inArray(mails.id, some), isOver))
      .returning({ id: mails.id })
    return rows.length
  },
  /** Reads all pending rows. */
  async queue(read: Reader): Promise<QueueFigures> {
    const [row] = await read.rows<Record<keyof QueueFigures, number | string | null>>(
      sql`select count(*) as waiting, min(next_at) as "dueAt", min(created_at) as "oldestAt" from mails where status = 'PENDING'`,
    )
    return { waiting: Number(row?.waiting ?? 0), dueAt: numberOrUndefined(row?.dueAt), oldestAt: numberOrUndefined(row?.oldestAt) }
  },
  /** Counts mails by status, and the most frequent errors. */
  async statusCounts(
    read: Pick<Reader, 'rows'>,
  ): Promise<{ byStatus: { status: string; n: number }[]; errors: { error: string; n: number }[] }> {
    const [byStatus, errors] = await Promise.all([
      read.rows<{ status: string; n: number }>(
        sql`select status, cast(count(*) as integer) as n from mails group by status order by status`,
      ),
      read.rows<{ error: string; n: number }>(
        sql`select last_error as error, cast(count(*) as integer) as n from mails where last_error is not null group by last_error order by n desc, last_error limit 10`,
      ),
    ])
    return { byStatus, errors }
  },
  /** Deletes recipient and cause of mails counted before a time. Returns their number. */
  async forgetCounted(tx: Writer, before: number, limit: number): Promise<number> {
    const some = tx
      .select({ id: mails.id })
      .from(mails)
      .where(and(sql`${mails.recipient} is not null`, lte(mails.countedAt, before)))
      .limit(limit)
    const rows = await tx.update(mails).set({ recipient: null, cause: null }).where(inArray(mails.id, some)).returning({ id: mails.id })
    return rows.length
  },
  /** Deletes finished mails with an id before `before`. Returns their number. */
  async removeOld(tx: Writer, before: string, limit: number): Promise<number> {
    const rows = await tx.rows(
      sql`delete from mails where id in
          (select id from mails where id < ${before} and status <> 'PENDING' order by id limit ${limit}) returning 1 as done`,
    )
    return rows.length
  },
  /** Returns pending mails of lanes, by id after `after`. */
  async pendingOfLanes(from: SelectReader, lanes: readonly string[], after: string, limit: number): Promise<Pick<Mail, 'id' | 'sealed'>[]> {
    const { id, sealed, lane } = mails
    return from
      .select({ id, sealed })
      .from(mails)
      .where(and(pending, inArray(lane, [...lanes]), gt(id, after)))
      .orderBy(asc(id))
      .limit(limit)
  },
  async find(from: SelectReader, id: string): Promise<Mail | undefined> {
    const [mail] = await from.select().from(mails).where(eq(mails.id, id)).limit(1)
    return mail
  },

  settings: async (from: Pick<Reader, 'first'>, shopId: string): Promise<ShopMail | undefined> => from.first(settingsOf, { shopId }),
  /** Returns undefined if the shop has settings already. */
  async insertSettings(tx: Writer, row: ShopMail): Promise<ShopMail | undefined> {
    const [made] = await tx.insert(shopMail).values(row).onConflictDoNothing().returning()
    return made
  },
  /** Returns undefined if they have another version. */
  async updateSettings(tx: Writer, { shopId, ...row }: ShopMail, expectedVersion: number): Promise<ShopMail | undefined> {
    const [changed] = await tx
      .update(shopMail)
      .set(row)
      .where(and(eq(shopMail.shopId, shopId), eq(shopMail.version, expectedVersion)))
      .returning()
    return changed
  },

  texts: async (
    from: Pick<Reader, 'first'>,
    { shopId, template, language }: Pick<MailTexts, 'shopId' | 'template' | 'language'>,
  ): Promise<MailTexts | undefined> => from.first(textsOf, { shopId, template, language }),
  /** Returns undefined if the template has texts already. */
  async insertTexts(tx: Writer, row: MailTexts): Promise<MailTexts | undefined> {
    const [made] = await tx.insert(mailTexts).values(row).onConflictDoNothing().returning()
    return made
  },
  /** Returns undefined if they have another version. */
  async updateTexts(
    tx: Writer,
    { shopId, template, language, ...row }: MailTexts,
    expectedVersion: number,
  ): Promise<MailTexts | undefined> {
    const isRow = and(eq(mailTexts.shopId, shopId), eq(mailTexts.template, template), eq(mailTexts.language, language))
    const [changed] = await tx
      .update(mailTexts)
      .set(row)
      .where(and(isRow, eq(mailTexts.version, expectedVersion)))
      .returning()
    return changed
  },
}
