import { and, desc, eq, getTableColumns, gt, inArray, isNotNull, isNull, lte, or, sql } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { selectSlice } from '../../../../db/page-query.ts'
import { insertOf, prepare, rowsOf, valuesOf } from '../../../../db/prepared.ts'
import { products } from '../../../../db/schema/catalog.ts'
import { discounts } from '../../../../db/schema/discounts.ts'
import { kybRecords } from '../../../../db/schema/kyb.ts'
import { shopMail } from '../../../../db/schema/mail.ts'
import { giftCards } from '../../../../db/schema/selling.ts'
import { apiKeys, shops, wallets } from '../../../../db/schema/shop.ts'
import { staff } from '../../../../db/schema/staff.ts'
import { createCache } from '../../../core/cache.ts'
import { createStateMachine } from '../../../core/state-machine.ts'
import { bytesOfId } from '../../../lib/ids.ts'
import { numberOrUndefined, pick } from '../../../lib/objects.ts'
import type { PageSlice } from '../../../lib/page.ts'
import { type SourceOf, transitionOf } from '../../../lib/transitions.ts'
import { type ApiKey, type KeyAndShop, type Shop, type ShopFilter, type ShopStatus, shopTransitions, type Wallet } from './domain.ts'

type Versions = Partial<Pick<Shop, 'version' | 'taxRatesVersion' | 'shippingMethodsVersion'>>

const cachedMax = 1_000

/** Matches alike on all engines: a to z in either case, other letters exactly. Scans the table, which is small. */
function nameContains(part: string) {
  const patternOf = (text: string) => `%${text.replace(/[\\%_]/g, '\\$&')}%`
  const lower = patternOf(part.replace(/[A-Z]/g, (letter) => letter.toLowerCase()))
  return sql`(lower(${shops.name}) like ${lower} escape '\\' or lower(${shops.title}) like ${lower} escape '\\' or ${shops.title} like ${patternOf(part)} escape '\\')`
}

/** Filters shops. A merchant's id uses its index. */
const isAccountId = (q: string) => bytesOfId('merchant', q) ?? bytesOfId('user', q)
const matchesQuery = (q: string) => (isAccountId(q) ? eq(shops.merchantId, q) : or(eq(shops.id, q), nameContains(q)))

const byId = rowsOf(shops, ['id'])
const byName = rowsOf(shops, ['name'])
const walletOf = rowsOf(wallets, ['shopId'])
const mailOf = rowsOf(shopMail, ['shopId'])
const approved = prepare((queries) =>
  queries
    .select({ id: kybRecords.id })
    .from(kybRecords)
    // In the form of the partial index: SQLite would otherwise read the approved records of all merchants.
    .where(and(valuesOf(kybRecords, ['merchantId']), sql`${kybRecords.status} <> 'REJECTED'`, eq(kybRecords.status, 'APPROVED')))
    .limit(1),
)
const isExpectedVersion = eq(shops.version, sql.placeholder('wasVersion'))
const keyByHash = prepare((queries) =>
  queries
    .select({
      ...pick(apiKeys, 'id', 'mode', 'scopes', 'expiresAt', 'lastUsedAt'),
      shop: getTableColumns(shops),
    })
    .from(apiKeys)
    .innerJoin(shops, eq(shops.id, apiKeys.shopId))
    .where(eq(apiKeys.hash, sql.placeholder('hash')))
    .limit(1),
)

export function createShopStore({ read, foreignVersion }: Pick<Database, 'read' | 'foreignVersion'>) {
  /** Recently used keys and shops, by hash and id. Every function below that changes one invalidates it. */
  const keyCache = createCache<KeyAndShop>({ version: foreignVersion, entriesMax: cachedMax })
  const shopCache = createCache<Shop>({ version: foreignVersion, entriesMax: cachedMax })
  const invalidateKeys = (tx: Writer, isStale: (key: KeyAndShop) => boolean) => tx.afterCommit(() => keyCache.deleteWhere(isStale))
  function invalidateShop(tx: Writer, { id }: Pick<Shop, 'id'>): void {
    invalidateKeys(tx, (key) => key.shop.id === id)
    tx.afterCommit(() => shopCache.delete(id))
  }
  const transitions = createStateMachine(shops, shopTransitions, { onChange: invalidateShop, guard: isExpectedVersion })

  function readShop(id: string): Shop | undefined | Promise<Shop | undefined> {
    const found = read.first(byId, { id })
    return found instanceof Promise ? found.then(freeze) : freeze(found)
  }

  function readKey(hash: string): KeyAndShop | undefined | Promise<KeyAndShop | undefined> {
    const found = read.first(keyByHash, { hash })
    return found instanceof Promise ? found.then((key) => key && keyAndShopOf(key, key.shop)) : found && keyAndShopOf(found, undefined)
  }

  return {
    /** Outside a write, the object is shared and must not be changed. */
    async find(id: string, tx?: Writer): Promise<Readonly<Shop> | undefined> {
      if (!tx) return shopCache.getOrLoad(id, () => readShop(id))
      return tx.first(byId, { id })
    },
    findByName: async (name: string): Promise<Shop | undefined> => read.first(byName, { name }),
    insert: insertOf(shops),
    /** Returns the new shop; undefined if it is missing or its versions differ from `was`. */
    async update(tx: Writer, id: string, change: Partial<Shop>, expected: Versions = {}): Promise<Shop | undefined> {
      const unchanged = (Object.keys(expected) as (keyof Versions)[]).map((version) => eq(shops[version], expected[version] ?? 0))
      const [shop] = await tx
        .update(shops)
        .set(change)
        .where(and(eq(shops.id, id), ...unchanged))
        .returning()
      invalidateShop(tx, { id })
      return shop
    },

    /** Newest first. */
    list: ({ q, status, mode }: ShopFilter, slice: PageSlice) =>
      selectSlice(read, shops, {
        where: and(status && eq(shops.status, status), mode && eq(shops.mode, mode), q === undefined ? undefined : matchesQuery(q)),
        order: [desc(shops.id)],
        ...slice,
      }),
    /** Returns whether the merchant's business is approved. Queried here because the KYB module depends on this one. */
    isApproved: async (tx: Writer, merchantId: string): Promise<boolean> => (await tx.first(approved, { merchantId })) !== undefined,
    /** Returns whether a person opened or owns a shop that is suspended. */
    async ownsSuspended(tx: Writer, userId: string): Promise<boolean> {
      const opened = tx.select({ id: shops.id }).from(shops).where(eq(shops.merchantId, userId))
      const owned = tx
        .select({ id: staff.shopId })
        .from(staff)
        .where(and(eq(staff.userId, userId), eq(staff.role, 'OWNER')))
      const where = and(or(inArray(shops.id, opened), inArray(shops.id, owned)), eq(shops.status, 'SUSPENDED'))
      return (await tx.select({ id: shops.id }).from(shops).where(where).limit(1)).length > 0
    },
    /** Returns the new shop; undefined if it has another version or a status that is not in `from`. */
    move: <To extends ShopStatus>(
      tx: Writer,
      { id, version }: Pick<Shop, 'id' | 'version'>,
      from: readonly SourceOf<typeof shopTransitions, To>[],
      to: To,
      fields: Partial<Pick<Shop, 'verifiedAt'>> & Pick<Shop, 'updatedAt' | 'version'>,
    ): Promise<Shop | undefined> => transitions.move(tx, id, from, to, fields, { wasVersion: version }),
    /** Makes all active shops of a merchant KYB_VERIFIED, and returns them. */
    async verifyAll(tx: Writer, merchantId: string, now: number): Promise<Shop[]> {
      const { from, to } = transitionOf(shopTransitions, 'ACTIVE', 'KYB_VERIFIED')
      const verified = await tx
        .update(shops)
        .set({ status: to, verifiedAt: now, updatedAt: now, version: sql`${shops.version} + 1` })
        .where(and(eq(shops.merchantId, merchantId), eq(shops.status, from)))
        .returning()
      for (const shop of verified) invalidateShop(tx, shop)
      return verified
    },

    /** Finds a key by hash, valid or not. Synchronous on SQLite. */
    findKey: (hash: string): KeyAndShop | undefined | Promise<KeyAndShop | undefined> => keyCache.getOrLoad(hash, () => readKey(hash)),
    /** Returns whether `findKey` is synchronous. */
    findsKeysAtOnce: (): boolean => keyCache.isEnabled(),
    /** Returns the newest key of a kind without an expiry. */
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
    /** Returns when a shop got its first live keys. */
    async liveSince(shopId: string, from: Pick<Reader, 'rows'> = read): Promise<number | undefined> {
      const [row] = await from.rows<{ since: string | number | null }>(
        sql`select min(created_at) as since from api_keys where shop_id = ${shopId} and mode = 'LIVE'`,
      )
      return numberOrUndefined(row?.since)
    },
    insertKey: insertOf(apiKeys),
    /** Expires all keys of a kind at `expiresAt` that would live longer. */
    async expireKeys(tx: Writer, shopId: string, kind: ApiKey['kind'], mode: ApiKey['mode'], expiresAt: number): Promise<void> {
      const longer = or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, expiresAt))
      await tx
        .update(apiKeys)
        .set({ expiresAt })
        .where(and(eq(apiKeys.shopId, shopId), eq(apiKeys.kind, kind), eq(apiKeys.mode, mode), longer))
      invalidateKeys(tx, (key) => key.shop.id === shopId)
    },
    async setKeyExpiry(tx: Writer, id: string, expiresAt: number): Promise<void> {
      await tx.update(apiKeys).set({ expiresAt }).where(eq(apiKeys.id, id))
      invalidateKeys(tx, (key) => key.id === id)
    },
    /** Deletes some expired keys. Returns their number. */
    async removeEndedKeys(tx: Writer, endedBefore: number, limit: number): Promise<number> {
      const ended = tx.select({ id: apiKeys.id }).from(apiKeys).where(lte(apiKeys.expiresAt, endedBefore)).limit(limit)
      const rows = await tx.delete(apiKeys).where(inArray(apiKeys.id, ended)).returning({ id: apiKeys.id })
      return rows.length
    },
    async touchKey(tx: Writer, id: string, lastUsedAt: number): Promise<void> {
      await tx.update(apiKeys).set({ lastUsedAt }).where(eq(apiKeys.id, id))
      invalidateKeys(tx, (key) => key.id === id)
    },

    /** Returns whether a product, shipping method, gift card or discount has a price in the shop's currency. */
    async hasPrices(tx: Writer, { id, shippingMethods }: Pick<Shop, 'id' | 'shippingMethods'>): Promise<boolean> {
      if (shippingMethods.length > 0) return true
      for (const [priced, ofShop] of [
        [products, products.shopId],
        [giftCards, giftCards.shopId],
      ] as const) {
        const [row] = await tx.select({ shopId: ofShop }).from(priced).where(eq(ofShop, id)).limit(1)
        if (row) return true
      }
      const [discount] = await tx
        .select({ id: discounts.id })
        .from(discounts)
        .where(and(eq(discounts.shopId, id), isNull(discounts.removedAt), isNotNull(discounts.currency)))
        .limit(1)
      return discount !== undefined
    },
    findWallet: async (shopId: string): Promise<Wallet | undefined> => read.first(walletOf, { shopId }),
    /** Returns the shop's language, if set. */
    findLanguage: async (shopId: string): Promise<string | undefined> => (await read.first(mailOf, { shopId }))?.language,
    /** Returns undefined if the shop has a wallet already. */
    async insertWallet(tx: Writer, wallet: Wallet): Promise<Wallet | undefined> {
      const [made] = await tx.insert(wallets).values(wallet).onConflictDoNothing().returning()
      return made
    },
  }
}

const keyAndShopOf = ({ shop, ...key }: Omit<KeyAndShop, 'shop'> & { readonly shop: Shop }, fullShop: Shop | undefined): KeyAndShop => ({
  ...key,
  shop: pick(shop, 'id', 'merchantId', 'currency', 'mode', 'origins', 'timeZone'),
  whole: freeze(fullShop),
})

const freeze = (shop: Shop | undefined): Shop | undefined => shop && Object.freeze(shop)
