import { and, asc, desc, eq, gt, isNull, or, sql } from 'drizzle-orm'
import type { Database, Writer } from '../../../db/engine.ts'
import { apiKeys, shops, wallets } from '../../../db/schema/shop.ts'

export type Shop = typeof shops.$inferSelect
export type ApiKey = typeof apiKeys.$inferSelect
export type Wallet = typeof wallets.$inferSelect
export type ShopStore = ReturnType<typeof createShopStore>

export function createShopStore({ read }: Pick<Database, 'read'>) {
  const byId = read
    .select()
    .from(shops)
    .where(eq(shops.id, sql.placeholder('id')))
    .limit(1)
    .prepare()
  const byName = read
    .select()
    .from(shops)
    .where(eq(shops.name, sql.placeholder('name')))
    .limit(1)
    .prepare()
  const firstOf = read
    .select()
    .from(shops)
    .where(eq(shops.merchantId, sql.placeholder('merchantId')))
    .orderBy(asc(shops.id))
    .limit(1)
    .prepare()
  const keyByHash = read
    .select({ key: apiKeys, shop: shops })
    .from(apiKeys)
    .innerJoin(shops, eq(shops.id, apiKeys.shopId))
    .where(eq(apiKeys.hash, sql.placeholder('hash')))
    .limit(1)
    .prepare()

  return {
    async find(id: string, tx?: Writer): Promise<Shop | undefined> {
      const [shop] = tx ? await tx.select().from(shops).where(eq(shops.id, id)).limit(1) : await byId.execute({ id })
      return shop
    },
    async findByName(name: string): Promise<Shop | undefined> {
      const [shop] = await byName.execute({ name })
      return shop
    },
    async firstOf(merchantId: string): Promise<Shop | undefined> {
      const [shop] = await firstOf.execute({ merchantId })
      return shop
    },
    async listOf(merchantId: string): Promise<Shop[]> {
      return read.select().from(shops).where(eq(shops.merchantId, merchantId)).orderBy(asc(shops.id)).limit(100)
    },
    async insert(tx: Writer, shop: Shop): Promise<void> {
      await tx.insert(shops).values(shop)
    },
    async update(tx: Writer, id: string, change: Partial<Shop>): Promise<Shop | undefined> {
      const [shop] = await tx.update(shops).set(change).where(eq(shops.id, id)).returning()
      return shop
    },

    async findKey(hash: string): Promise<{ key: ApiKey; shop: Shop } | undefined> {
      const [row] = await keyByHash.execute({ hash })
      return row
    },
    /** The newest key of a kind that has no end set. */
    async currentKey(
      shopId: string,
      kind: ApiKey['kind'],
      mode: ApiKey['mode'],
      from: Pick<Writer, 'select'> = read,
    ): Promise<ApiKey | undefined> {
      const current = and(eq(apiKeys.shopId, shopId), eq(apiKeys.kind, kind), eq(apiKeys.mode, mode), isNull(apiKeys.expiresAt))
      const [key] = await from.select().from(apiKeys).where(current).orderBy(desc(apiKeys.createdAt), desc(apiKeys.id)).limit(1)
      return key
    },
    async insertKey(tx: Writer, key: ApiKey): Promise<void> {
      await tx.insert(apiKeys).values(key)
    },
    /** Ends at `expiresAt` every key of a kind that would live longer. */
    async expireKeys(tx: Writer, shopId: string, kind: ApiKey['kind'], mode: ApiKey['mode'], expiresAt: number): Promise<void> {
      const longer = or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, expiresAt))
      await tx
        .update(apiKeys)
        .set({ expiresAt })
        .where(and(eq(apiKeys.shopId, shopId), eq(apiKeys.kind, kind), eq(apiKeys.mode, mode), longer))
    },
    async setKeyExpiry(tx: Writer, id: string, expiresAt: number): Promise<void> {
      await tx.update(apiKeys).set({ expiresAt }).where(eq(apiKeys.id, id))
    },
    async touchKey(tx: Writer, id: string, lastUsedAt: number): Promise<void> {
      await tx.update(apiKeys).set({ lastUsedAt }).where(eq(apiKeys.id, id))
    },

    async findWallet(shopId: string): Promise<Wallet | undefined> {
      const [wallet] = await read.select().from(wallets).where(eq(wallets.shopId, shopId)).limit(1)
      return wallet
    },
    /** Undefined when the shop has one already. */
    async insertWallet(tx: Writer, wallet: Wallet): Promise<Wallet | undefined> {
      const [made] = await tx.insert(wallets).values(wallet).onConflictDoNothing().returning()
      return made
    },
  }
}
