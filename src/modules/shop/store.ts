import { and, asc, desc, eq, gt, isNull, or, sql } from 'drizzle-orm'
import { type Database, namedColumns, type Writer } from '../../../db/engine.ts'
import { once } from '../../../db/prepared.ts'
import { apiKeys, shops, wallets } from '../../../db/schema/shop.ts'
import { createMemory } from '../../lib/memory.ts'

export type Shop = typeof shops.$inferSelect
export type ApiKey = typeof apiKeys.$inferSelect
export type Wallet = typeof wallets.$inferSelect
export type ShopStore = ReturnType<typeof createShopStore>

/** Of a key and its shop, what every request under the key needs. */
export type KnownKey = Readonly<Pick<ApiKey, 'id' | 'mode' | 'scopes' | 'expiresAt' | 'lastUsedAt'>> & {
  readonly shop: Readonly<Pick<Shop, 'id' | 'merchantId' | 'currency' | 'mode' | 'origins'>>
}
/** The same as the driver has it: JSON is text. */
type KeyRow = {
  id: string
  mode: ApiKey['mode']
  scopes: string
  expires_at: number | null
  last_used_at: number | null
  shop_id: string
  merchant_id: string
  currency: string
  shop_mode: Shop['mode']
  origins: string
}

type JsonOfShop = 'contact' | 'address' | 'origins' | 'taxRates' | 'shippingMethods'
type ShopRow = Omit<Shop, JsonOfShop> & Record<JsonOfShop, string>

const keptMax = 1_000

export function createShopStore({ read, foreignVersion }: Pick<Database, 'read' | 'foreignVersion'>) {
  const byId = read.one<ShopRow>(
    read
      .select(namedColumns(shops))
      .from(shops)
      .where(eq(shops.id, sql.placeholder('id')))
      .limit(1),
  )
  const byName = once(() =>
    read
      .select()
      .from(shops)
      .where(eq(shops.name, sql.placeholder('name')))
      .limit(1)
      .prepare(),
  )
  const firstOf = once(() =>
    read
      .select()
      .from(shops)
      .where(eq(shops.merchantId, sql.placeholder('merchantId')))
      .orderBy(asc(shops.id))
      .limit(1)
      .prepare(),
  )
  const keyByHash = read.one<KeyRow>(
    read
      .select({
        id: apiKeys.id,
        mode: apiKeys.mode,
        scopes: apiKeys.scopes,
        expires_at: apiKeys.expiresAt,
        last_used_at: apiKeys.lastUsedAt,
        shop_id: apiKeys.shopId,
        merchant_id: shops.merchantId,
        currency: shops.currency,
        shop_mode: sql`${shops.mode}`.as('shop_mode'),
        origins: shops.origins,
      })
      .from(apiKeys)
      .innerJoin(shops, eq(shops.id, apiKeys.shopId))
      .where(eq(apiKeys.hash, sql.placeholder('hash')))
      .limit(1),
  )
  /** The keys and shops used lately, by hash and by id. Every function below that changes one forgets what it changed. */
  const keys = createMemory<KnownKey>({ foreignVersion, entriesMax: keptMax })
  const known = createMemory<Shop>({ foreignVersion, entriesMax: keptMax })
  const forgetKeys = (tx: Writer, isStale: (key: KnownKey) => boolean) => tx.afterCommit(() => keys.forgetWhere(isStale))

  function readKey(hash: string): KnownKey | undefined | Promise<KnownKey | undefined> {
    const found = keyByHash({ hash })
    return found instanceof Promise ? found.then(asKnown) : asKnown(found)
  }

  function readShop(id: string): Shop | undefined | Promise<Shop | undefined> {
    const found = byId({ id })
    return found instanceof Promise ? found.then(asShop) : asShop(found)
  }

  return {
    /** Outside a write, one that many others may have in hand: it is not to be changed. */
    async find(id: string, tx?: Writer): Promise<Readonly<Shop> | undefined> {
      if (!tx) return known.recall(id, () => readShop(id))
      const [shop] = await tx.select().from(shops).where(eq(shops.id, id)).limit(1)
      return shop
    },
    async findByName(name: string): Promise<Shop | undefined> {
      const [shop] = await byName().execute({ name })
      return shop
    },
    async firstOf(merchantId: string): Promise<Shop | undefined> {
      const [shop] = await firstOf().execute({ merchantId })
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
      forgetKeys(tx, (key) => key.shop.id === id)
      tx.afterCommit(() => known.forget(id))
      return shop
    },

    /** The key with this hash, valid or not. SQLite answers at once. */
    findKey: (hash: string): KnownKey | undefined | Promise<KnownKey | undefined> => keys.recall(hash, () => readKey(hash)),
    /** Whether `findKey` answers at once. */
    findsKeysAtOnce: (): boolean => keys.isOn(),
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
      forgetKeys(tx, (key) => key.shop.id === shopId)
    },
    async setKeyExpiry(tx: Writer, id: string, expiresAt: number): Promise<void> {
      await tx.update(apiKeys).set({ expiresAt }).where(eq(apiKeys.id, id))
      forgetKeys(tx, (key) => key.id === id)
    },
    async touchKey(tx: Writer, id: string, lastUsedAt: number): Promise<void> {
      await tx.update(apiKeys).set({ lastUsedAt }).where(eq(apiKeys.id, id))
      forgetKeys(tx, (key) => key.id === id)
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

const asKnown = (row: KeyRow | undefined): KnownKey | undefined =>
  row && {
    id: row.id,
    mode: row.mode,
    scopes: JSON.parse(row.scopes) as ApiKey['scopes'],
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    shop: {
      id: row.shop_id,
      merchantId: row.merchant_id,
      currency: row.currency,
      mode: row.shop_mode,
      origins: JSON.parse(row.origins) as string[],
    },
  }

const asShop = (row: ShopRow | undefined): Shop | undefined =>
  row &&
  Object.freeze({
    ...row,
    contact: JSON.parse(row.contact) as Shop['contact'],
    address: JSON.parse(row.address) as Shop['address'],
    origins: JSON.parse(row.origins) as Shop['origins'],
    taxRates: JSON.parse(row.taxRates) as Shop['taxRates'],
    shippingMethods: JSON.parse(row.shippingMethods) as Shop['shippingMethods'],
  })
