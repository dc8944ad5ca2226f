import { and, asc, eq, getTableColumns, gt, isNotNull, notExists, or, sql } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { countRows } from '../../../../db/page-query.ts'
import { prepare, rowsOf, updateOfVersion, valuesOf } from '../../../../db/prepared.ts'
import { users } from '../../../../db/schema/people.ts'
import { shops } from '../../../../db/schema/shop.ts'
import { staff } from '../../../../db/schema/staff.ts'
import { createCache } from '../../../core/cache.ts'
import type { ShopContext } from '../../../core/principal.ts'
import type { StaffRole } from '../../../core/roles.ts'
import { pick } from '../../../lib/objects.ts'
import type { PageSlice } from '../../../lib/page.ts'
import { type Member, type MemberWithAddress, shopsPerPersonMax } from './domain.ts'

/** A person's role in a shop. */
type Membership = { readonly userId: string; readonly shopId: string; readonly role: StaffRole }
/** With the shop, if it was read along. Caches hold memberships without it. */
type MembershipAndShop = Membership & { readonly shop?: ShopContext }

const cachedMembershipsMax = 1_000

const fields = { userId: staff.userId, shopId: staff.shopId, role: staff.role }
const shopFields = pick(shops, 'id', 'merchantId', 'currency', 'mode', 'origins', 'timeZone')
// By joining date, so that a new membership does not change a person's default shop.
const firstJoined = [asc(staff.joinedAt), asc(staff.shopId)] as const
const updateMember = updateOfVersion(staff)
const membershipIn = prepare((queries) =>
  queries
    .select(fields)
    .from(staff)
    .where(valuesOf(staff, ['userId', 'shopId']))
    .limit(1),
)
const firstMembership = prepare((queries) =>
  queries
    .select(fields)
    .from(staff)
    .where(valuesOf(staff, ['userId']))
    .orderBy(...firstJoined)
    .limit(1),
)
const membershipAndShopIn = prepare((queries) =>
  queries
    .select({ ...fields, shop: shopFields })
    .from(staff)
    .innerJoin(shops, eq(shops.id, staff.shopId))
    .where(valuesOf(staff, ['userId', 'shopId']))
    .limit(1),
)
const firstMembershipAndShop = prepare((queries) =>
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
const selectMembers = (from: Pick<Reader, 'select'>) =>
  from
    .select({ ...getTableColumns(staff), address })
    .from(staff)
    .leftJoin(users, eq(users.id, staff.userId))
const ownersOf = (shopId: string) => and(eq(staff.shopId, shopId), eq(staff.role, 'OWNER'), isNotNull(staff.userId))

export function createMemberStore({ read, foreignVersion }: Pick<Database, 'read' | 'foreignVersion'>) {
  /** Recently read memberships. Every function below that changes a member invalidates them. */
  const memberships = createCache<Membership>({ version: foreignVersion, entriesMax: cachedMembershipsMax })
  const invalidate = (tx: Writer, userId: string | null) =>
    userId === null ? undefined : tx.afterCommit(() => memberships.deleteWhere((entry) => entry.userId === userId))

  return {
    /** Finds a person's membership in this shop, or in the first that they joined. */
    async membershipOf(userId: string, shopId: string | undefined): Promise<MembershipAndShop | undefined> {
      const values = { userId, ...(shopId === undefined ? {} : { shopId }) }
      const query = shopId === undefined ? firstMembership : membershipIn
      if (memberships.isEnabled())
        return memberships.getOrLoad(
          shopId === undefined ? userId : `${userId} ${shopId}`,
          () => read.first(query, values) as Membership | undefined,
        )
      return read.first(shopId === undefined ? firstMembershipAndShop : membershipAndShopIn, values) as Promise<
        MembershipAndShop | undefined
      >
    },
    /** Reads a member inside a write. */
    memberIn: async (tx: Writer, userId: string, shopId: string): Promise<Member | undefined> => tx.first(ofUser, { userId, shopId }),
    /** Lists a person's shops with roles, in the order of joining. */
    async shopsOf(userId: string) {
      return read
        .select({ shop: getTableColumns(shops), role: staff.role })
        .from(staff)
        .innerJoin(shops, eq(shops.id, staff.shopId))
        .where(eq(staff.userId, userId))
        .orderBy(...firstJoined)
        .limit(shopsPerPersonMax)
    },
    countShopsOf: (tx: Writer, userId: string): Promise<number> => countRows(tx, staff, eq(staff.userId, userId)),

    async list(shopId: string, { limit, offset, after }: PageSlice): Promise<{ rows: MemberWithAddress[]; total: number }> {
      const total = after === undefined ? await countRows(read, staff, eq(staff.shopId, shopId)) : 0
      const beyond = typeof after === 'string' ? gt(staff.id, after) : undefined
      const rows = await selectMembers(read)
        .where(and(eq(staff.shopId, shopId), beyond))
        .orderBy(asc(staff.id))
        .limit(limit)
        .offset(offset)
      return { rows, total }
    },
    async find(from: Pick<Reader, 'select'>, shopId: string, id: string): Promise<MemberWithAddress | undefined> {
      const [member] = await selectMembers(from)
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
    /** Finds the member or invitation with this normalised address. */
    async withAddress(tx: Writer, shopId: string, email: string): Promise<MemberWithAddress | undefined> {
      const [member] = await selectMembers(tx)
        .where(and(eq(staff.shopId, shopId), or(eq(staff.email, email), eq(users.email, email))))
        .limit(1)
      return member
    },
    count: (tx: Writer, shopId: string): Promise<number> => countRows(tx, staff, eq(staff.shopId, shopId)),
    countOwners: (tx: Writer, shopId: string): Promise<number> => countRows(tx, staff, ownersOf(shopId)),

    /** Returns some shops without staff. */
    async listWithoutStaff(from: Pick<Reader, 'select'>, limit: number): Promise<{ shopId: string; userId: string; openedAt: number }[]> {
      const hasNoStaff = notExists(from.select({ id: staff.id }).from(staff).where(eq(staff.shopId, shops.id)))
      return from
        .select({ shopId: shops.id, userId: shops.merchantId, openedAt: shops.createdAt })
        .from(shops)
        .where(hasNoStaff)
        .orderBy(asc(shops.id))
        .limit(limit)
    },
    async insert(tx: Writer, member: Member): Promise<void> {
      await tx.insert(staff).values(member)
      invalidate(tx, member.userId)
    },
    /** Returns the new row; undefined if it is gone or has another version. */
    async update(tx: Writer, { id, version }: Pick<Member, 'id' | 'version'>, change: Partial<Member>): Promise<Member | undefined> {
      const member = await updateMember(tx, { id, version }, { ...change, version: version + 1 })
      invalidate(tx, member?.userId ?? null)
      return member
    },
    /** Returns false if it is gone or has another version. */
    async remove(tx: Writer, { id, version, userId }: Pick<Member, 'id' | 'version' | 'userId'>): Promise<boolean> {
      const rows = await tx
        .delete(staff)
        .where(and(eq(staff.id, id), eq(staff.version, version)))
        .returning({ id: staff.id })
      invalidate(tx, userId)
      return rows.length > 0
    },
  }
}
