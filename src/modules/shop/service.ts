import type { Writer } from '../../../db/engine.ts'
import type { ShippingMethod, TaxRate } from '../../../db/schema/shop.ts'
import type { Deps } from '../../core/deps.ts'
import { AppError } from '../../core/errors.ts'
import type { Keep } from '../../core/idempotency.ts'
import type { ShopContext } from '../../core/principal.ts'
import { isApiKey, newApiKey, prefixOf } from '../../lib/api-keys.ts'
import { isCurrency } from '../../lib/money.ts'
import { sha256 } from '../../lib/seal.ts'
import { type Actor, audit, timesDone } from '../audit/service.ts'
import { isCountry } from '../location/domain.ts'
import { hourMs, keySeal, normalOrigin, privateKeyReadsPerHour, walletSeal } from './domain.ts'
import type { ApiKey, KnownKey, Shop, ShopStore, Wallet } from './store.ts'

export type ShopDeps = Deps & { readonly shopStore: ShopStore }

/** A shop as the HTTP layer hands it on. */
export const contextOf = ({ id, merchantId, currency, mode, origins }: ShopContext): ShopContext => ({
  id,
  merchantId,
  currency,
  mode,
  origins,
})

/** @throws AppError NOT_FOUND */
export async function shopNamed({ shopStore }: Pick<ShopDeps, 'shopStore'>, name: string): Promise<Shop> {
  const shop = await shopStore.findByName(name)
  if (!shop) throw new AppError('NOT_FOUND', 'No such shop')
  return shop
}

/** What is needed to open a shop; `id` and times are given by the caller, before its write. */
export type NewShop = Pick<Shop, 'name' | 'country' | 'currency'> & { title?: string }

/**
 * Prepares a shop in mode TEST with its two keys; call `insert` inside the write that opens it.
 * @throws AppError INVALID for an unknown currency or country
 */
export function openShop(
  deps: ShopDeps,
  merchantId: string,
  { name, country, currency, title }: NewShop,
): { shop: Shop; insert: (tx: Writer) => Promise<void> } {
  assertCurrency(currency, 'currency')
  assertCountry(country, 'country')
  const now = deps.clock.now()
  const shop: Shop = {
    id: deps.newId('shop'),
    merchantId,
    name,
    title: title ?? name,
    description: '',
    logoUrl: null,
    currency,
    country,
    mode: 'TEST',
    status: 'ACTIVE',
    contact: {},
    address: {},
    origins: [],
    taxRates: [],
    shippingMethods: [],
    createdAt: now,
    updatedAt: now,
  }
  const keys = [makeKey(deps, shop.id, 'PUBLISHABLE', 'TEST'), makeKey(deps, shop.id, 'SECRET', 'TEST')]
  return {
    shop,
    async insert(tx) {
      await deps.shopStore.insert(tx, shop)
      for (const { row } of keys) await deps.shopStore.insertKey(tx, row)
    },
  }
}

function makeKey(
  { newId, clock, randomBytes, keyring }: Deps,
  shopId: string,
  kind: ApiKey['kind'],
  mode: ApiKey['mode'],
): { key: string; row: ApiKey } {
  const key = newApiKey(kind, mode, randomBytes)
  const id = newId('key')
  const secret = kind === 'SECRET'
  const row: ApiKey = {
    id,
    shopId,
    kind,
    mode,
    prefix: prefixOf(key),
    hash: sha256(key),
    scopes: secret ? ['storefront', 'server'] : ['storefront'],
    sealed: secret ? keyring.seal(key, keySeal(shopId, id)) : null,
    publicValue: secret ? null : key,
    createdAt: clock.now(),
    lastUsedAt: null,
    expiresAt: null,
  }
  return { key, row }
}

/** The key and its shop, while the key is valid and of the shop's mode. */
export async function keyAndShop(deps: Pick<ShopDeps, 'shopStore' | 'clock'>, presented: string): Promise<KnownKey | undefined> {
  return isApiKey(presented) ? whileValid(await deps.shopStore.findKey(sha256(presented)), deps.clock.now()) : undefined
}

/** The same where it can be said at once; undefined also where it cannot. */
export function keyAndShopNow({ shopStore, clock }: Pick<ShopDeps, 'shopStore' | 'clock'>, presented: string): KnownKey | undefined {
  if (!shopStore.findsKeysAtOnce() || !isApiKey(presented)) return undefined
  const found = shopStore.findKey(sha256(presented))
  return found instanceof Promise ? undefined : whileValid(found, clock.now())
}

function whileValid(key: KnownKey | undefined, now: number): KnownKey | undefined {
  const isValid = key && (key.expiresAt === null || key.expiresAt > now) && key.mode === key.shop.mode
  return isValid ? key : undefined
}

export type ShopChange = {
  title?: string | undefined
  description?: string | undefined
  currency?: string | undefined
  logoUrl?: string | null | undefined
  contact?: Shop['contact'] | undefined
  address?: Shop['address'] | undefined
  storefrontOrigins?: string[] | undefined
}

/** @throws AppError INVALID, NOT_FOUND */
export async function changeShop(
  deps: ShopDeps,
  shop: ShopContext,
  { storefrontOrigins, ...change }: ShopChange,
  actor: Actor,
): Promise<Shop> {
  if (change.currency !== undefined) assertCurrency(change.currency, 'currency')
  if (change.address?.countryCode) assertCountry(change.address.countryCode, 'address.countryCode')
  const origins = storefrontOrigins?.map((origin) => normalOrigin(origin))
  if (origins?.some((origin) => origin === undefined))
    throw new AppError('INVALID', 'storefrontOrigins (body): each is a scheme and a host, such as https://shop.example')
  const { contact, address, ...rest } = change
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
  return update(
    deps,
    shop.id,
    (before) => ({
      ...given,
      ...(origins ? { origins: [...new Set(origins as string[])] } : {}),
      // Within these, too, what is left out stays.
      contact: { ...before.contact, ...contact },
      address: { ...before.address, ...address },
    }),
    'shop.changed',
    actor,
  )
}

/**
 * Replaces all tax rates.
 * @throws AppError INVALID for an unknown country, or a place that stands twice; NOT_FOUND
 */
export async function setTaxRates(deps: ShopDeps, shop: ShopContext, taxRates: TaxRate[], actor: Actor): Promise<Shop> {
  for (const { country } of taxRates) assertCountry(country, 'data.country')
  const places = taxRates.map(({ country, region }) => `${country}/${region ?? ''}`)
  if (new Set(places).size < places.length) throw new AppError('INVALID', 'data (body): a country and region may have one rate only')
  return update(deps, shop.id, () => ({ taxRates }), 'shop.tax_rates_set', actor)
}

/**
 * Replaces all shipping methods.
 * @throws AppError INVALID for an unknown country, another currency than the shop's, or a code that stands twice; NOT_FOUND
 */
export async function setShippingMethods(
  deps: ShopDeps,
  shop: ShopContext,
  shippingMethods: ShippingMethod[],
  actor: Actor,
): Promise<Shop> {
  const codes = shippingMethods.map(({ code }) => code)
  if (new Set(codes).size < codes.length) throw new AppError('INVALID', 'data (body): each code may stand once only')
  for (const { price, countries } of shippingMethods) {
    if (price.currency !== shop.currency) throw new AppError('INVALID', "data.price.currency (body): not the shop's currency")
    for (const country of countries) assertCountry(country, 'data.countries')
  }
  return update(deps, shop.id, () => ({ shippingMethods }), 'shop.shipping_methods_set', actor)
}

async function update(deps: ShopDeps, id: string, change: (before: Shop) => Partial<Shop>, action: string, actor: Actor): Promise<Shop> {
  const record = audit(deps, actor, { action, subject: id, shopId: id })
  const updatedAt = deps.clock.now()
  return deps.db.write(async (tx) => {
    const before = await deps.shopStore.find(id, tx)
    const shop = before && (await deps.shopStore.update(tx, id, { ...change(before), updatedAt }))
    if (!shop) throw new AppError('NOT_FOUND', 'No such shop')
    await record(tx)
    return shop
  })
}

function assertCurrency(code: string, field: string): void {
  if (!isCurrency(code)) throw new AppError('INVALID', `${field} (body): not an ISO 4217 currency in use`)
}

function assertCountry(code: string, field: string): void {
  if (!isCountry(code)) throw new AppError('INVALID', `${field} (body): not an ISO 3166-1 country`)
}

/**
 * The shop's secret key. An audit row is on disk before the answer.
 * @throws AppError RATE_LIMITED after ten readings within an hour
 */
export async function readPrivateKey(deps: ShopDeps, shop: ShopContext, actor: Actor): Promise<string> {
  const record = audit(deps, actor, { action: 'shop.private_key_read', subject: shop.id, shopId: shop.id })
  const since = deps.clock.now() - hourMs
  const key = await deps.db.write(async (tx) => {
    if ((await timesDone(tx, 'shop.private_key_read', shop.id, since)) >= privateKeyReadsPerHour) {
      throw new AppError('RATE_LIMITED', 'The private key was read too often: try again within the hour', undefined, hourMs / 1000)
    }
    await record(tx)
    return deps.shopStore.currentKey(shop.id, 'SECRET', shop.mode, tx)
  })
  if (!key?.sealed) throw new AppError('NOT_FOUND', 'The shop has no private key')
  return deps.keyring.unseal(key.sealed, keySeal(shop.id, key.id))
}

/**
 * Gives the shop a new secret key; the one before stays valid for `graceSeconds`, and any older one ends at once.
 */
export async function rotatePrivateKey(
  deps: ShopDeps,
  shop: ShopContext,
  graceSeconds: number,
  actor: Actor,
  keep?: Keep,
): Promise<{ privateKey: string; previousKeyExpiresAt: string }> {
  const now = deps.clock.now()
  const { key, row } = makeKey(deps, shop.id, 'SECRET', shop.mode)
  const record = audit(deps, actor, { action: 'shop.private_key_rotated', subject: shop.id, shopId: shop.id })
  const previousKeyExpiresAt = now + graceSeconds * 1000
  const answer = { privateKey: key, previousKeyExpiresAt: new Date(previousKeyExpiresAt).toISOString() }
  await deps.db.write(async (tx) => {
    const current = await deps.shopStore.currentKey(shop.id, 'SECRET', shop.mode, tx)
    await deps.shopStore.expireKeys(tx, shop.id, 'SECRET', shop.mode, now)
    if (current) await deps.shopStore.setKeyExpiry(tx, current.id, previousKeyExpiresAt)
    await deps.shopStore.insertKey(tx, row)
    await record(tx)
    await keep?.(tx, answer)
  })
  return answer
}

/** The shop's custodial wallet, made on first call. Its key is sealed at rest and never leaves. */
export async function custodyWallet(deps: ShopDeps, shop: ShopContext, actor: Actor): Promise<Wallet> {
  const existing = await deps.shopStore.findWallet(shop.id)
  if (existing) return existing
  // Loaded when it is needed: the program starts without it.
  const { generatePrivateKey, privateKeyToAddress } = await import('viem/accounts')
  const key = generatePrivateKey()
  const wallet: Wallet = {
    shopId: shop.id,
    address: privateKeyToAddress(key),
    sealedKey: deps.keyring.seal(key, walletSeal(shop.id)),
    createdAt: deps.clock.now(),
  }
  const record = audit(deps, actor, { action: 'shop.wallet_created', subject: shop.id, shopId: shop.id })
  const made = await deps.db.write(async (tx) => {
    const inserted = await deps.shopStore.insertWallet(tx, wallet)
    if (inserted) await record(tx)
    return inserted
  })
  const kept = made ?? (await deps.shopStore.findWallet(shop.id))
  if (!kept) throw new Error('a wallet was neither made nor found')
  return kept
}
