import type { Writer } from '../../../../db/engine.ts'
import type { TaxRate } from '../../../../db/schema/shop.ts'
import type { Change } from '../../../core/command-context.ts'
import type { Deps } from '../../../core/deps.ts'
import { AppError } from '../../../core/errors.ts'
import type { ShopContext } from '../../../core/principal.ts'
import type { StaffRole } from '../../../core/roles.ts'
import { assertExpected, unlessStale } from '../../../core/versions.ts'
import { isApiKey, newApiKey, prefixOf } from '../../../lib/api-keys.ts'
import { inBatches } from '../../../lib/batches.ts'
import { isCurrency } from '../../../lib/money.ts'
import { defined, type Optional, pick } from '../../../lib/objects.ts'
import { sha256 } from '../../../lib/seal.ts'
import { addFirstOwner, placeOfMember } from '../../identity/member/index.ts'
import { audit, audited, nthLastActionAt } from '../../operations/audit/index.ts'
import { recordVerifiedShops } from '../../operations/kpi/index.ts'
import { assertCountry, noProvinces, provinceCodes, provinces } from '../countries/domain.ts'
import { assertCurrencies, invalidRow, type MethodInput, methodsOf } from '../shipping/domain.ts'
import {
  type ApiKey,
  assertPages,
  endedKeysKeptMs,
  hourMs,
  isOpen,
  isReservedName,
  isTimeZone,
  type KnownKey,
  keyRotationsPerHour,
  keySeal,
  normalOrigin,
  type PublicIdentity,
  privateKeyReadsPerHour,
  type Shop,
  shopDifference,
  type Wallet,
  walletSeal,
} from './domain.ts'
import type { ShopDeps } from './providers.ts'

/** A shop as far as every request needs it. */
export const contextOf = (shop: ShopContext): ShopContext => pick(shop, 'id', 'merchantId', 'currency', 'mode', 'origins')

const keysForgottenAtOnce = 500
export const noSuchShop = () => new AppError('NOT_FOUND', 'No such shop')

/** @throws AppError NOT_FOUND */
export async function shopNamed({ shopStore }: Pick<ShopDeps, 'shopStore'>, name: string): Promise<Shop> {
  const shop = await shopStore.findByName(name)
  if (!shop) throw noSuchShop()
  return shop
}

/** The same as anybody finds it. @throws AppError NOT_FOUND, also for one that is suspended */
export async function publicShopNamed(deps: Pick<ShopDeps, 'shopStore'>, name: string): Promise<Shop> {
  const shop = await shopNamed(deps, name)
  if (!isOpen(shop)) throw noSuchShop()
  return shop
}

/** A shop by its id. @throws AppError NOT_FOUND */
export async function readShop({ shopStore }: Pick<ShopDeps, 'shopStore'>, id: string): Promise<Readonly<Shop>> {
  const shop = await shopStore.find(id)
  if (!shop) throw noSuchShop()
  return shop
}

/** For so long a shop is as it was when its request was let in, milliseconds. */
const metMs = 1_000
/** Shops that were read with the key of a request. */
const met = new WeakMap<Pick<ShopContext, 'id'>, { readonly shop: Readonly<Shop>; readonly at: number }>()

/** The shop of a request, as it was met with its key a moment ago or else as it is now: for what may be of either. @throws AppError NOT_FOUND */
export async function shopOf(deps: Pick<ShopDeps, 'shopStore' | 'clock'>, context: Pick<ShopContext, 'id'>): Promise<Readonly<Shop>> {
  const known = met.get(context)
  const age = known ? deps.clock.now() - known.at : metMs
  return known && age >= 0 && age < metMs ? known.shop : readShop(deps, context.id)
}

/** What a shop tells of itself besides; English is what it speaks where it has said nothing. */
export async function publicIdentityOf(
  { shopStore }: Pick<ShopDeps, 'shopStore'>,
  { id, mode }: Pick<Shop, 'id' | 'mode'>,
): Promise<PublicIdentity> {
  const [key, wallet, language] = await Promise.all([
    shopStore.currentKey(id, 'PUBLISHABLE', mode),
    shopStore.findWallet(id),
    shopStore.findLanguage(id),
  ])
  return { publishableKey: key?.publicValue ?? null, walletAddress: wallet?.address ?? null, language: language ?? 'en' }
}

/** The shop with this id, whoever asks. */
export async function shopContext({ shopStore }: Pick<ShopDeps, 'shopStore'>, id: string): Promise<ShopContext | undefined> {
  const shop = await shopStore.find(id)
  return shop && contextOf(shop)
}

/** The shop with this handle, whoever asks; also one that is suspended. */
export async function shopContextNamed({ shopStore }: Pick<ShopDeps, 'shopStore'>, name: string): Promise<ShopContext | undefined> {
  const shop = await shopStore.findByName(name)
  return shop && contextOf(shop)
}

/** The same as anybody finds it: not one that is suspended. */
export async function publicShopContextNamed({ shopStore }: Pick<ShopDeps, 'shopStore'>, name: string): Promise<ShopContext | undefined> {
  const shop = await shopStore.findByName(name)
  return shop && isOpen(shop) ? contextOf(shop) : undefined
}

/** The shop with this id in which somebody works, or without one the first that they came to, and their role there. */
export async function placeOf(
  deps: Pick<ShopDeps, 'shopStore' | 'memberStore'>,
  who: { userId: string; shopId: string | undefined },
): Promise<{ shop: ShopContext; role: StaffRole } | undefined> {
  const place = await placeOfMember(deps, who)
  const shop = place && (place.shop ?? (await deps.shopStore.find(place.shopId)))
  return shop && { shop: contextOf(shop), role: place.role }
}

/** What is needed to open a shop. */
export type NewShop = Pick<Shop, 'name' | 'country' | 'currency'> & { title?: string }

/** @throws AppError INVALID for an unknown currency or country, and for a name that is reserved */
export function assertNewShop({ name, currency, country }: NewShop): void {
  if (isReservedName(name)) throw new AppError('INVALID', 'shopName (body): a reserved name, choose another')
  assertCurrency(currency, 'currency')
  assertCountry(country, 'country')
}

/**
 * Opens a shop in mode TEST with its two keys, inside a write. What it is opened with was checked by `assertNewShop`. That of a merchant
 * whose business was approved before is KYB_VERIFIED at once.
 */
export async function openShop(
  tx: Writer,
  deps: ShopDeps,
  { merchantId, name, country, currency, title }: NewShop & { merchantId: string },
): Promise<Shop> {
  const now = deps.clock.now()
  const isApproved = await deps.shopStore.isApproved(tx, merchantId)
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
    status: isApproved ? 'KYB_VERIFIED' : 'ACTIVE',
    contact: {},
    address: {},
    origins: [],
    taxRates: [],
    shippingMethods: [],
    showQuantity: false,
    strictProvinces: false,
    pages: {},
    timeZone: 'UTC',
    createdAt: now,
    updatedAt: now,
    verifiedAt: isApproved ? now : null,
    version: 1,
    taxRatesVersion: 1,
    shippingMethodsVersion: 1,
  }
  await deps.shopStore.insert(tx, shop)
  if (isApproved) await recordVerifiedShops(tx, { merchantId, shopIds: [shop.id], at: now })
  for (const kind of ['PUBLISHABLE', 'SECRET'] as const) await deps.shopStore.insertKey(tx, makeKey(deps, shop.id, kind, 'TEST').row)
  await addFirstOwner(tx, deps, { shopId: shop.id, userId: merchantId })
  return shop
}

/** A new key of a shop, and the row of it. */
export function makeKey(
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

/** The keys of a shop that are in force, as whoever owns it may read them. */
export async function currentKeys(
  { shopStore, keyring }: ShopDeps,
  { id, mode }: Pick<Shop, 'id' | 'mode'>,
): Promise<{ publishable: string; secret: string }> {
  const [publishable, secret] = await Promise.all([shopStore.currentKey(id, 'PUBLISHABLE', mode), shopStore.currentKey(id, 'SECRET', mode)])
  return {
    publishable: publishable?.publicValue ?? '',
    secret: secret?.sealed ? keyring.unseal(secret.sealed, keySeal(id, secret.id)) : '',
  }
}

/** The key and its shop, while the key is valid and of the shop's mode. */
export async function keyAndShop(deps: Pick<ShopDeps, 'shopStore' | 'clock'>, presented: string): Promise<KnownKey | undefined> {
  if (!isApiKey(presented)) return undefined
  const at = deps.clock.now()
  const key = whileValid(await deps.shopStore.findKey(sha256(presented)), deps.clock.now())
  if (key?.whole) met.set(key.shop, { shop: key.whole, at })
  return key
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

export type ShopChange = Optional<
  Pick<
    Shop,
    'title' | 'description' | 'currency' | 'logoUrl' | 'contact' | 'address' | 'showQuantity' | 'strictProvinces' | 'pages' | 'timeZone'
  > & {
    storefrontOrigins: string[]
  }
>
/** `also`: what else is to be done in the write. */
type ShopWrite = Change & { readonly also?: (tx: Writer) => void }

/** @throws AppError INVALID, NOT_FOUND, PRECONDITION_FAILED; CONFLICT for another currency once there are prices in the old one */
export async function changeShop(deps: ShopDeps, by: ShopWrite, { storefrontOrigins, ...change }: ShopChange): Promise<Shop> {
  if (change.currency !== undefined) assertCurrency(change.currency, 'currency')
  if (change.address?.countryCode) assertCountry(change.address.countryCode, 'address.countryCode')
  const origins = storefrontOrigins?.map((origin) => normalOrigin(origin))
  const foreign = origins?.indexOf(undefined) ?? -1
  if (foreign >= 0) throw new AppError('INVALID', `storefrontOrigins.${foreign} (body): a scheme and a host, such as https://shop.example`)
  if (change.pages) assertPages(change.pages)
  if (change.timeZone !== undefined && !isTimeZone(change.timeZone))
    throw new AppError('INVALID', 'timeZone (body): a time zone by its IANA name, such as Asia/Dubai')
  const { contact, address, pages, ...rest } = change
  return update(deps, by, { action: 'shop.changed', version: 'version' }, async (before, tx) => {
    by.also?.(tx)
    if (change.currency !== undefined && change.currency !== before.currency && (await deps.shopStore.hasPrices(tx, before)))
      throw new AppError(
        'CONFLICT',
        'currency (body): the shop has prices, of products, shipping, gift cards or discounts, in the one that it has',
      )
    return {
      ...defined(rest),
      ...(origins ? { origins: [...new Set(origins as string[])] } : {}),
      // Within these, too, what is left out stays.
      contact: { ...before.contact, ...contact },
      address: { ...before.address, ...address },
      pages: { ...before.pages, ...pages },
    }
  })
}

/**
 * Replaces all tax rates.
 * @throws AppError INVALID for an unknown country or region, or a place that stands twice; NOT_FOUND; PRECONDITION_FAILED
 */
export async function setTaxRates(deps: ShopDeps, by: Change, taxRates: TaxRate[]): Promise<Shop> {
  for (const [at, { country }] of taxRates.entries()) assertCountry(country, `data.${at}.country`)
  const table = taxRates.some(({ region }) => region) ? await provinces() : noProvinces
  const places = new Set<string>()
  for (const [at, { country, region, class: taxClass = '' }] of taxRates.entries()) {
    const codes = region ? provinceCodes(table, country, region) : ['']
    if (codes.length === 0) throw invalidRow(at, 'region', 'no ISO 3166-2 code or name of a part of its country')
    for (const code of codes) {
      const place = `${country}/${code}/${taxClass}`
      if (places.has(place))
        throw invalidRow(at, region ? 'region' : 'country', `a country and region may have one rate ${taxClass ? 'of a class ' : ''}only`)
      places.add(place)
    }
  }
  return update(deps, by, { action: 'shop.tax_rates_set', version: 'taxRatesVersion' }, () => ({ taxRates }))
}

/**
 * Replaces all shipping methods.
 * @throws AppError INVALID as `methodsOf` of the shipping domain does, and for another currency than the shop's; NOT_FOUND; PRECONDITION_FAILED
 */
export async function setShippingMethods(deps: ShopDeps, by: Change, input: readonly MethodInput[]): Promise<Shop> {
  const namesProvinces = input.some(({ zones = [] }) => zones.some((zone) => zone.provinces))
  const shippingMethods = methodsOf(input, namesProvinces ? await provinces() : noProvinces)
  return update(deps, by, { action: 'shop.shipping_methods_set', version: 'shippingMethodsVersion' }, ({ currency }) => {
    assertCurrencies(shippingMethods, currency)
    return { shippingMethods }
  })
}

/** What a change makes of a shop, as it stands inside the write. */
type PartOf = (before: Shop, tx: Writer) => Partial<Shop> | Promise<Partial<Shop>>
type Part = { action: string; version: 'version' | 'taxRatesVersion' | 'shippingMethodsVersion' }

/** @throws AppError NOT_FOUND, PRECONDITION_FAILED */
function update(deps: ShopDeps, by: Change, { action, version }: Part, change: PartOf): Promise<Shop> {
  const { id } = by.shop
  return audited(deps, by, { action, subject: id }, async (tx, tell) => {
    const before = await deps.shopStore.find(id, tx)
    if (!before) throw noSuchShop()
    assertExpected(by.expected, before[version])
    const changes = { ...(await change(before, tx)), updatedAt: deps.clock.now(), [version]: before[version] + 1 }
    const shop = unlessStale(await deps.shopStore.update(tx, id, changes, { [version]: before[version] }))
    tell(shopDifference(before, shop))
    return shop
  })
}

function assertCurrency(code: string, field: string): void {
  if (!isCurrency(code)) throw new AppError('INVALID', `${field} (body): not an ISO 4217 currency in use`)
}

const keyRead = 'shop.private_key_read'
const keyRotated = 'shop.private_key_rotated'

type Seldom = { action: string; subject: string; most: number; what: string }

/** @throws AppError RATE_LIMITED when this was done to the shop as often as it may be within an hour */
async function assertSeldom(tx: Writer, { clock }: ShopDeps, { action, subject, most, what }: Seldom) {
  const now = clock.now()
  const first = await nthLastActionAt(tx, { action, subject, since: now - hourMs, nth: most })
  if (first === undefined) return
  throw new AppError('RATE_LIMITED', `The private key was ${what} too often: try again within the hour`, {
    retryAfterSeconds: (first + hourMs - now) / 1000,
  })
}

/** Puts a reading of the secret key on record before the key is told, and reads it in the same write. */
function reading<T>(deps: ShopDeps, by: Change<ShopContext>, read: (tx: Writer) => Promise<T>): Promise<T> {
  const entry = { action: keyRead, subject: by.shop.id }
  return audited(deps, by, entry, async (tx) => {
    await assertSeldom(tx, deps, { ...entry, most: privateKeyReadsPerHour, what: 'asked for' })
    return read(tx)
  })
}

/**
 * The shop's secret key. An audit row is on disk before the answer.
 * @throws AppError RATE_LIMITED after ten readings within an hour
 */
export async function readPrivateKey(deps: ShopDeps, by: Change<ShopContext>): Promise<string> {
  const { shop } = by
  const key = await reading(deps, by, (tx) => deps.shopStore.currentKey(shop.id, 'SECRET', shop.mode, tx))
  if (!key?.sealed) throw new AppError('NOT_FOUND', 'The shop has no private key')
  return deps.keyring.unseal(key.sealed, keySeal(shop.id, key.id))
}

/**
 * A rotation that is asked for again under its idempotency key tells the key once more: a reading like any other, on record before it is told.
 * @throws AppError RATE_LIMITED as `readPrivateKey` does
 */
export const noteToldAgain = (deps: ShopDeps, by: Change<ShopContext>): Promise<void> => reading(deps, by, async () => undefined)

/**
 * Gives the shop a new secret key; the one before stays valid for `graceSeconds`, and any older one ends at once.
 * @throws AppError RATE_LIMITED after ten rotations within an hour
 */
export function rotatePrivateKey(
  deps: ShopDeps,
  by: Change<ShopContext>,
  graceSeconds: number,
): Promise<{ privateKey: string; previousKeyExpiresAt: string }> {
  const { shopStore: store, clock } = deps
  const { id, mode } = by.shop
  const entry = { action: keyRotated, subject: id }
  const { key, row } = makeKey(deps, id, 'SECRET', mode)
  return audited(deps, by, entry, async (tx, tell) => {
    await assertSeldom(tx, deps, { ...entry, most: keyRotationsPerHour, what: 'rotated' })
    const now = clock.now()
    const previousKeyExpiresAt = now + graceSeconds * 1000
    const current = await store.currentKey(id, 'SECRET', mode, tx)
    await store.expireKeys(tx, id, 'SECRET', mode, now)
    if (current) await store.setKeyExpiry(tx, current.id, previousKeyExpiresAt)
    await store.insertKey(tx, row)
    tell({ before: { key: current?.id ?? null }, after: { key: row.id, previousKeyExpiresAt } })
    return { privateKey: key, previousKeyExpiresAt: new Date(previousKeyExpiresAt).toISOString() }
  })
}

/** Forgets keys that ended long ago; the audit trail goes on naming them by their ids. */
export async function forgetEndedKeys({ db, clock, shopStore }: ShopDeps): Promise<void> {
  const before = clock.now() - endedKeysKeptMs
  await inBatches(keysForgottenAtOnce, () => db.write((tx) => shopStore.removeEndedKeys(tx, before, keysForgottenAtOnce)))
}

/** The shop's custodial wallet, made on first call. Its key is sealed at rest and never leaves. */
export async function custodyWallet(deps: ShopDeps, { shop, actor }: Change): Promise<Wallet> {
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
  const made = await deps.db.write(async (tx) => {
    const inserted = await deps.shopStore.insertWallet(tx, wallet)
    const after = { address: wallet.address, network: 'evm' }
    if (inserted) await audit(tx, deps, { actor, action: 'shop.wallet_created', subject: shop.id, shopId: shop.id, after })
    return inserted
  })
  const kept = made ?? (await deps.shopStore.findWallet(shop.id))
  if (!kept) throw new Error('a wallet was neither made nor found')
  return kept
}
