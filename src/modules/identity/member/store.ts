import { and, asc, count, eq, getTableColumns, gt, isNotNull, notExists, or, sql } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { prepare, rowsOf, valuesOf } from '../../../../db/prepared.ts'
import { users } from '../../../../db/schema/people.ts'
import { shops } from '../../../../db/schema/shop.ts'
import { staff } from '../../../../db/schema/staff.ts'
import { createCache } from '../../../core/cache.ts'
import type { ShopContext } from '../../../core/principal.ts'
import type { StaffRole } from '../../../core/roles.ts'
import type { Slice } from '../../../lib/page.ts'
import { type KnownMember, type Member, shopsPerPersonMax } from './domain.ts'

/** Where somebody works, and as what. */
export type Place = { readonly userId: string; readonly shopId: string; readonly role: StaffRole }
/** The shop besides, where it was read with it and is not remembered. */
type FoundPlace = Place & { readonly shop?: ShopContext }

export type MemberStore = ReturnType<typeof createMemberStore>

const keptMax = 1_000

const fields = { userId: staff.userId, shopId: staff.shopId, role: staff.role }
const shopFields = { id: shops.id, merchantId: shops.merchantId, currency: shops.currency, mode: shops.mode, origins: shops.origins }
// The first is the one that they came to first: an invitation that is taken changes nobody's default.
const firstJoined = [asc(staff.joinedAt), asc(staff.shopId)] as const
const placeIn = prepare((queries) =>
  queries
    .select(fields)
    .from(staff)
    .where(valuesOf(staff, ['userId', 'shopId']))
    .limit(1),
)
const firstPlace = prepare((queries) =>
  queries
    .select(fields)
    .from(staff)
    .where(valuesOf(staff, ['userId']))
    .orderBy(...firstJoined)
    .limit(1),
)
const placeAndShopIn = prepare((queries) =>
  queries
    .select({ ...fields, shop: shopFields })
    .from(staff)
    .innerJoin(shops, eq(shops.id, staff.shopId))
    .where(valuesOf(staff, ['userId', 'shopId']))
    .limit(1),
)
const firstPlaceAndShop = prepare((queries) =>
  queries
    .select({ ...fields, shop: shopFields })
    .from(staff)
    .innerJoin(shops, eq(shops.id, staff.shopId))
    .where(valuesOf(staff, ['userId']))
    .orderBy(...firstJoined)
    .limit(1),
)
const byId = rowsOf(staff, ['id'])
const ofUser = rowsOf(staff, ['userId', 'shopId'])

const address = sql<string>`coalesce(${users.email}, ${staff.email})`
const known = (from: Pick<Reader, 'select'>) =>
  from
    .select({ ...getTableColumns(staff), address })
    .from(staff)
    .leftJoin(users, eq(users.id, staff.userId))
const ownersOf = (shopId: string) => and(eq(staff.shopId, shopId), eq(staff.role, 'OWNER'), isNotNull(staff.userId))

export function createMemberStore({ read, foreignVersion }: Pick<Database, 'read' | 'foreignVersion'>) {
  /** Who was asked about lately. Every function below that changes what somebody may do forgets them. */
  const places = createCache<Place>({ version: foreignVersion, entriesMax: keptMax })
  const forget = (tx: Writer, userId: string | null) =>
    userId === null ? undefined : tx.afterCommit(() => places.forgetWhere((place) => place.userId === userId))

  return {
    /** Where somebody works: in this shop, or in the first. */
    async placeOf(userId: string, shopId: string | undefined): Promise<FoundPlace | undefined> {
      const values = { userId, ...(shopId === undefined ? {} : { shopId }) }
      const query = shopId === undefined ? firstPlace : placeIn
      if (places.isOn())
        return places.recall(shopId === undefined ? userId : `${userId} ${shopId}`, () => read.first(query, values) as Place | undefined)
      return read.first(shopId === undefined ? firstPlaceAndShop : placeAndShopIn, values) as Promise<FoundPlace | undefined>
    },
    /** Somebody as they are inside a write. */
    async memberIn(tx: Writer, userId: string, shopId: string): Promise<Member | undefined> {
      return tx.first(ofUser, { userId, shopId })
    },
    /** All shops of somebody, with the role in each, the one that they came to first before the others. */
    async shopsOf(userId: string) {
      return read
        .select({ shop: getTableColumns(shops), role: staff.role })
        .from(staff)
        .innerJoin(shops, eq(shops.id, staff.shopId))
        .where(eq(staff.userId, userId))
        .orderBy(...firstJoined)
        .limit(shopsPerPersonMax)
    },
    async countShopsOf(tx: Writer, userId: string): Promise<number> {
      const [row] = await tx.select({ n: count() }).from(staff).where(eq(staff.userId, userId))
      return Number(row?.n ?? 0)
    },

    async list(shopId: string, { limit, offset, after }: Slice): Promise<{ rows: KnownMember[]; total: number }> {
      const [totals] = after === undefined ? await read.select({ n: count() }).from(staff).where(eq(staff.shopId, shopId)) : []
      const beyond = typeof after === 'string' ? gt(staff.id, after) : undefined
      const rows = await known(read)
        .where(and(eq(staff.shopId, shopId), beyond))
        .orderBy(asc(staff.id))
        .limit(limit)
        .offset(offset)
      return { rows, total: Number(totals?.n ?? 0) }
    },
    async find(from: Pick<Reader, 'select'>, shopId: string, id: string): Promise<KnownMember | undefined> {
      const [member] = await known(from)
        .where(and(eq(staff.id, id), eq(staff.shopId, shopId)))
        .limit(1)
      return member
    },
    async findInvited(from: Pick<Reader, 'first'>, id: string): Promise<Member | undefined> {
      const member = await from.first(byId, { id })
      return member?.userId === null ? member : undefined
    },
    async acceptedBy(tx: Writer, userId: string, limit: number): Promise<Member[]> {
      return tx.select().from(staff).where(eq(staff.acceptedBy, userId)).orderBy(asc(staff.id)).limit(limit)
    },
    /** Whoever is known in a shop by this address, in its one spelling. */
    async withAddress(tx: Writer, shopId: string, email: string): Promise<KnownMember | undefined> {
      const [member] = await known(tx)
        .where(and(eq(staff.shopId, shopId), or(eq(staff.email, email), eq(users.email, email))))
        .limit(1)
      return member
    },
    async count(tx: Writer, shopId: string): Promise<number> {
      const [row] = await tx.select({ n: count() }).from(staff).where(eq(staff.shopId, shopId))
      return Number(row?.n ?? 0)
    },
    async countOwners(tx: Writer, shopId: string): Promise<number> {
      const [row] = await tx.select({ n: count() }).from(staff).where(ownersOf(shopId))
      return Number(row?.n ?? 0)
    },

    /** Some of the shops that nobody works in. */
    async deserted(from: Pick<Reader, 'select'>, limit: number): Promise<{ shopId: string; userId: string; openedAt: number }[]> {
      const nobody = notExists(from.select({ id: staff.id }).from(staff).where(eq(staff.shopId, shops.id)))
      return from
        .select({ shopId: shops.id, userId: shops.merchantId, openedAt: shops.createdAt })
        .from(shops)
        .where(nobody)
        .orderBy(asc(shops.id))
        .limit(limit)
    },
    async insert(tx: Writer, member: Member): Promise<void> {
      await tx.insert(staff).values(member)
      forget(tx, member.userId)
    },
    /** The row as it is then; undefined when it is gone, or of another version than the one that was read. */
    async update(tx: Writer, { id, version }: Pick<Member, 'id' | 'version'>, change: Partial<Member>): Promise<Member | undefined> {
      const [member] = await tx
        .update(staff)
        .set({ ...change, version: version + 1 })
        .where(and(eq(staff.id, id), eq(staff.version, version)))
        .returning()
      forget(tx, member?.userId ?? null)
      return member
    },
    /** False when it is gone, or of another version. */
    async remove(tx: Writer, { id, version, userId }: Pick<Member, 'id' | 'version' | 'userId'>): Promise<boolean> {
      const rows = await tx
        .delete(staff)
        .where(and(eq(staff.id, id), eq(staff.version, version)))
        .returning({ id: staff.id })
      forget(tx, userId)
      return rows.length > 0
    },
  }
}
