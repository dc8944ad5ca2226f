import { and, asc, eq, isNotNull, lte, sql } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { countRows, selectSlice } from '../../../../db/page-query.ts'
import { insertOf, prepare, rowsOf, rowsWhere, valuesOf } from '../../../../db/prepared.ts'
import { shopHosts, shops } from '../../../../db/schema/shop.ts'
import type { PageSlice } from '../../../lib/page.ts'
import type { Shop, ShopHost } from './domain.ts'

const byShopAndHost = rowsOf(shopHosts, ['shopId', 'host'])
const isVerified = isNotNull(shopHosts.verifiedAt)
const verifiedByHost = rowsWhere(shopHosts, and(valuesOf(shopHosts, ['host']), isVerified))
const shopIdOf = prepare((queries) =>
  queries
    .select({ id: shopHosts.shopId })
    .from(shopHosts)
    .where(and(valuesOf(shopHosts, ['host']), isVerified))
    .limit(1),
)
const shopById = rowsOf(shops, ['id'])

const isSameVersion = ({ shopId, host, version }: Pick<ShopHost, 'shopId' | 'host' | 'version'>) =>
  and(eq(shopHosts.shopId, shopId), eq(shopHosts.host, host), eq(shopHosts.version, version))

export const createHostStore = ({ read }: Pick<Database, 'read'>) => ({
  async find(shopId: string, host: string, from: Pick<Reader, 'first'> = read): Promise<ShopHost | undefined> {
    return from.first(byShopAndHost, { shopId, host })
  },
  /** Oldest first. */
  list: (shopId: string, slice: PageSlice) =>
    selectSlice(read, shopHosts, {
      where: eq(shopHosts.shopId, shopId),
      order: [asc(shopHosts.createdAt), asc(shopHosts.host)],
      key: shopHosts.host,
      ...slice,
    }),
  count: (tx: Writer, shopId: string): Promise<number> => countRows(tx, shopHosts, eq(shopHosts.shopId, shopId)),
  /** Finds the verified row of a host name, of any shop. */
  async findVerified(host: string, from: Pick<Reader, 'first'> = read): Promise<ShopHost | undefined> {
    return from.first(verifiedByHost, { host })
  },
  /** Finds the shop with this verified host name. */
  async shopOf(host: string): Promise<Shop | undefined> {
    const found = await read.first(shopIdOf, { host })
    return found && (await read.first(shopById, { id: found.id }))
  },
  insert: insertOf(shopHosts),
  /** Returns the new row; undefined if it has another version. */
  async update(
    tx: Writer,
    row: ShopHost,
    change: Partial<Pick<ShopHost, 'verifiedAt' | 'checkedAt' | 'missingSince' | 'version'>>,
  ): Promise<ShopHost | undefined> {
    const [updated] = await tx.update(shopHosts).set(change).where(isSameVersion(row)).returning()
    return updated
  },
  /** Returns whether it existed in this version. */
  async remove(tx: Writer, row: ShopHost): Promise<boolean> {
    const deleted = await tx.delete(shopHosts).where(isSameVersion(row)).returning({ host: shopHosts.host })
    return deleted.length === 1
  },
  /** Returns verified host names checked before a time, the longest ago first. */
  async toCheck(before: number, limit: number): Promise<ShopHost[]> {
    return read
      .select()
      .from(shopHosts)
      .where(and(isVerified, lte(shopHosts.checkedAt, before)))
      .orderBy(asc(shopHosts.checkedAt), sql`${shopHosts.host}`)
      .limit(limit)
  },
})
