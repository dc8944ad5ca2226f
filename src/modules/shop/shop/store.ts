import { and, desc, eq, getTableColumns, gt, inArray, isNotNull, isNull, lte, or, sql } from 'drizzle-orm'
import type { Database, Writer } from '../../../../db/engine.ts'
import { selectSlice } from '../../../../db/page-query.ts'
import { prepare, rowsOf, valuesOf } from '../../../../db/prepared.ts'
import { products } from '../../../../db/schema/catalog.ts'
import { discounts } from '../../../../db/schema/discounts.ts'
import { kybRecords } from '../../../../db/schema/kyb.ts'
import { shopMail } from '../../../../db/schema/mail.ts'
import { giftCards } from '../../../../db/schema/selling.ts'
import { apiKeys, shops, wallets } from '../../../../db/schema/shop.ts'
import { createCache } from '../../../core/cache.ts'
import { movesOf } from '../../../core/state-machine.ts'
import { bytesOfId } from '../../../lib/ids.ts'
import { pick } from '../../../lib/objects.ts'
import type { Slice } from '../../../lib/page.ts'
import { moveOf, type SourceOf } from '../../../lib/transitions.ts'
import { type ApiKey, type KnownKey, type Shop, type ShopFilter, type ShopStatus, shopTransitions, type Wallet } from './domain.ts'

export type ShopStore = ReturnType<typeof createShopStore>

type Versions = Partial<Pick<Shop, 'version' | 'taxRatesVersion' | 'shippingMethodsVersion'>>

const keptMax = 1_000

/** What every engine finds alike: a to z in either case, other letters as they are written. There are few shops: they are looked through. */
function holds(part: string) {
  const inside = (text: string) => `%${text.replace(/[\\%_]/g, '\\$&')}%`
  const lower = inside(part.replace(/[A-Z]/g, (letter) => letter.toLowerCase()))
  return sql`(lower(${shops.name}) like ${lower} escape '\\' or lower(${shops.title}) like ${lower} escape '\\' or ${shops.title} like ${inside(part)} escape '\\')`
}

/** What finds shops: the whole id of a merchant finds theirs, by its index, and nothing else. */
const found = (q: string) => (bytesOfId('merchant', q) ? eq(shops.merchantId, q) : or(eq(shops.id, q), holds(q)))

const byId = rowsOf(shops, ['id'])
const byName = rowsOf(shops, ['name'])
const walletOf = rowsOf(wallets, ['shopId'])
const mailOf = rowsOf(shopMail, ['shopId'])
const approved = prepare((queries) =>
  queries
    .select({ id: kybRecords.id })
    .from(kybRecords)
    // As the index of those that are live says it: SQLite would look through all that are approved, of every merchant.
    .where(and(valuesOf(kybRecords, ['merchantId']), sql`${kybRecords.status} <> 'REJECTED'`, eq(kybRecords.status, 'APPROVED')))
    .limit(1),
)
const ofVersion = eq(shops.version, sql.placeholder('wasVersion'))
const keyByHash = prepare((queries) =>
  queries
    .select({
      id: apiKeys.id,
      mode: apiKeys.mode,
      scopes: apiKeys.scopes,
      expiresAt: apiKeys.expiresAt,
      lastUsedAt: apiKeys.lastUsedAt,
      shop: getTableColumns(shops),
    })
    .from(apiKeys)
    .innerJoin(shops, eq(shops.id, apiKeys.shopId))
    .where(eq(apiKeys.hash, sql.placeholder('hash')))
    .limit(1),
)

export function createShopStore({ read, foreignVersion }: Pick<Database, 'read' | 'foreignVersion'>) {
  /** The keys and shops used lately, by hash and by id. Every function below that changes one forgets what it changed. */
  const keys = createCache<KnownKey>({ version: foreignVersion, entriesMax: keptMax })
  const known = createCache<Shop>({ version: foreignVersion, entriesMax: keptMax })
  const forgetKeys = (tx: Writer, isStale: (key: KnownKey) => boolean) => tx.afterCommit(() => keys.forgetWhere(isStale))
  function changed(tx: Writer, { id }: Pick<Shop, 'id'>): void {
    forgetKeys(tx, (key) => key.shop.id === id)
    tx.afterCommit(() => known.forget(id))
  }
  const moves = movesOf(shops, shopTransitions, { changed, guard: ofVersion })

  function readShop(id: string): Shop | undefined | Promise<Shop | undefined> {
    const found = read.first(byId, { id })
    return found instanceof Promise ? found.then(frozen) : frozen(found)
  }

  function readKey(hash: string): KnownKey | undefined | Promise<KnownKey | undefined> {
    const found = read.first(keyByHash, { hash })
    return found instanceof Promise ? found.then((key) => key && knownKey(key, key.shop)) : found && knownKey(found, undefined)
  }

  return {
    /** Outside a write, one that many others may have in hand: it is not to be changed. */
    async find(id: string, tx?: Writer): Promise<Readonly<Shop> | undefined> {
      if (!tx) return known.recall(id, () => readShop(id))
      return tx.first(byId, { id })
    },
    async findByName(name: string): Promise<Shop | undefined> {
      return read.first(byName, { name })
    },
    async insert(tx: Writer, shop: Shop): Promise<void> {
      await tx.insert(shops).values(shop)
    },
    /** The shop as it is then; undefined when there is none, or its versions are not `was` any more. */
    async update(tx: Writer, id: string, change: Partial<Shop>, was: Versions = {}): Promise<Shop | undefined> {
      const unchanged = (Object.keys(was) as (keyof Versions)[]).map((version) => eq(shops[version], was[version] ?? 0))
      const [shop] = await tx
        .update(shops)
        .set(change)
        .where(and(eq(shops.id, id), ...unchanged))
        .returning()
      changed(tx, { id })
      return shop
    },

    /** Newest first. */
    list: ({ q, status, mode }: ShopFilter, slice: Slice) =>
      selectSlice(read, shops, {
        where: and(status && eq(shops.status, status), mode && eq(shops.mode, mode), q === undefined ? undefined : found(q)),
        order: [desc(shops.id)],
        ...slice,
      }),
    /** Whether a merchant's business was approved. The KYB module knows more of it, and stands above this one. */
    async isApproved(tx: Writer, merchantId: string): Promise<boolean> {
      return (await tx.first(approved, { merchantId })) !== undefined
    },
    /** The shop as it is then; undefined when it is of another version, or in another status than `from`. */
    move: <To extends ShopStatus>(
      tx: Writer,
      { id, version }: Pick<Shop, 'id' | 'version'>,
      from: readonly SourceOf<typeof shopTransitions, To>[],
      to: To,
      fields: Partial<Pick<Shop, 'verifiedAt'>> & Pick<Shop, 'updatedAt' | 'version'>,
    ): Promise<Shop | undefined> => moves.move(tx, id, from, to, fields, { wasVersion: version }),
    /** Makes all shops of a merchant KYB_VERIFIED that may become so from where they are, and answers those. */
    async verifyAll(tx: Writer, merchantId: string, now: number): Promise<Shop[]> {
      const { from, to } = moveOf(shopTransitions, 'ACTIVE', 'KYB_VERIFIED')
      const verified = await tx
        .update(shops)
        .set({ status: to, verifiedAt: now, updatedAt: now, version: sql`${shops.version} + 1` })
        .where(and(eq(shops.merchantId, merchantId), eq(shops.status, from)))
        .returning()
      for (const shop of verified) changed(tx, shop)
      return verified
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
    /** Removes some of the keys that ended before a time; how many it was. */
    async removeEndedKeys(tx: Writer, endedBefore: number, limit: number): Promise<number> {
      const ended = tx.select({ id: apiKeys.id }).from(apiKeys).where(lte(apiKeys.expiresAt, endedBefore)).limit(limit)
      const rows = await tx.delete(apiKeys).where(inArray(apiKeys.id, ended)).returning({ id: apiKeys.id })
      return rows.length
    },
    async touchKey(tx: Writer, id: string, lastUsedAt: number): Promise<void> {
      await tx.update(apiKeys).set({ lastUsedAt }).where(eq(apiKeys.id, id))
      forgetKeys(tx, (key) => key.id === id)
    },

    /** Whether anything of a shop has a price in its currency: a product, a way of shipping, a gift card, a discount. */
    async hasPrices(tx: Writer, { id, shippingMethods }: Pick<Shop, 'id' | 'shippingMethods'>): Promise<boolean> {
      if (shippingMethods.length > 0) return true
      for (const [priced, ofShop] of [
        [products, products.shopId],
        [giftCards, giftCards.shopId],
      ] as const) {
        const [found] = await tx.select({ shopId: ofShop }).from(priced).where(eq(ofShop, id)).limit(1)
        if (found) return true
      }
      const [discount] = await tx
        .select({ id: discounts.id })
        .from(discounts)
        .where(and(eq(discounts.shopId, id), isNull(discounts.removedAt), isNotNull(discounts.currency)))
        .limit(1)
      return discount !== undefined
    },
    async findWallet(shopId: string): Promise<Wallet | undefined> {
      return read.first(walletOf, { shopId })
    },
    /** The language that a shop's mails and pages speak, where it has said so. */
    async findLanguage(shopId: string): Promise<string | undefined> {
      return (await read.first(mailOf, { shopId }))?.language
    },
    /** Undefined when the shop has one already. */
    async insertWallet(tx: Writer, wallet: Wallet): Promise<Wallet | undefined> {
      const [made] = await tx.insert(wallets).values(wallet).onConflictDoNothing().returning()
      return made
    },
  }
}

const knownKey = ({ shop, ...key }: Omit<KnownKey, 'shop'> & { readonly shop: Shop }, whole: Shop | undefined): KnownKey => ({
  ...key,
  shop: pick(shop, 'id', 'merchantId', 'currency', 'mode', 'origins'),
  whole: frozen(whole),
})

const frozen = (shop: Shop | undefined): Shop | undefined => shop && Object.freeze(shop)
