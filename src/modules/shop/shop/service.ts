import type { Writer } from '../../../../db/engine.ts'
import type { TaxRate } from '../../../../db/schema/shop.ts'
import type { CommandContext } from '../../../core/command-context.ts'
import type { Deps } from '../../../core/deps.ts'
import { AppError, fieldError, invalidField } from '../../../core/errors.ts'
import type { ShopContext } from '../../../core/principal.ts'
import type { StaffRole } from '../../../core/roles.ts'
import { assertNotStale, assertVersion } from '../../../core/versions.ts'
import { isApiKey, newApiKey, prefixOf } from '../../../lib/api-keys.ts'
import { inBatches } from '../../../lib/batches.ts'
import { hourMs } from '../../../lib/day.ts'
import { isCurrency } from '../../../lib/money.ts'
import { type Optional, pick, withoutUndefined } from '../../../lib/objects.ts'
import { sha256 } from '../../../lib/seal.ts'
import { isTaxRate } from '../../../lib/tax-rate.ts'
import { membershipOf } from '../../identity/member/index.ts'
import { audit, audited, nthLastActionAt } from '../../operations/audit/index.ts'
import { assertCountry, loadProvinceTable, noProvinces, provinceCodes } from '../countries/domain.ts'
import { assertCurrencies, invalidRow, type MethodInput, parseMethods } from '../shipping/domain.ts'
import {
  type ApiKey,
  assertPages,
  expiredKeysRetentionMs,
  isOpen,
  type KeyAndShop,
  keyRotationsPerHour,
  keySeal,
  normalOrigin,
  type PublicIdentity,
  privateKeyReadsPerHour,
  type Shop,
  shopDifference,
  timeZoneOf,
  type Wallet,
  walletSeal,
} from './domain.ts'
import type { ShopDeps } from './providers.ts'

/** Returns the fields of a shop that every request needs. */
export const contextOf = (shop: ShopContext): ShopContext => pick(shop, 'id', 'merchantId', 'currency', 'mode', 'origins', 'timeZone')

const deletionBatchSize = 500
/** Creates the error for a missing shop. */
export const noSuchShop = () => new AppError('NOT_FOUND', 'No such shop')

/** @throws AppError NOT_FOUND */
export async function findShopByName({ shopStore }: Pick<ShopDeps, 'shopStore'>, name: string): Promise<Shop> {
  const shop = await shopStore.findByName(name)
  if (!shop) throw noSuchShop()
  return shop
}

/** Finds a shop by handle. @throws AppError NOT_FOUND, also for a suspended one */
export async function findPublicShopByName(deps: Pick<ShopDeps, 'shopStore'>, name: string): Promise<Shop> {
  const shop = await findShopByName(deps, name)
  if (!isOpen(shop)) throw noSuchShop()
  return shop
}

/** Reads a shop by its id. @throws AppError NOT_FOUND */
export async function readShop({ shopStore }: Pick<ShopDeps, 'shopStore'>, id: string): Promise<Readonly<Shop>> {
  const shop = await shopStore.find(id)
  if (!shop) throw noSuchShop()
  return shop
}

/** Time for which the shop read with a request's key is current enough, in milliseconds. */
const shopMaxAgeMs = 1_000
/** Shops that were read with the key of a request. */
const shopsOfRequests = new WeakMap<Pick<ShopContext, 'id'>, { readonly shop: Readonly<Shop>; readonly at: number }>()

/** Returns the shop of a request, possibly as it was when the key was read. @throws AppError NOT_FOUND */
export async function shopOf(deps: Pick<ShopDeps, 'shopStore' | 'clock'>, context: Pick<ShopContext, 'id'>): Promise<Readonly<Shop>> {
  const cached = shopsOfRequests.get(context)
  const age = cached ? deps.clock.now() - cached.at : shopMaxAgeMs
  return cached && age >= 0 && age < shopMaxAgeMs ? cached.shop : readShop(deps, context.id)
}

/** Returns the values that a storefront needs. The default language is English. */
export async function readPublicIdentity(
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

/** Finds the context of a shop by its id, suspended or not. */
export async function findShopContext({ shopStore }: Pick<ShopDeps, 'shopStore'>, id: string): Promise<ShopContext | undefined> {
  const shop = await shopStore.find(id)
  return shop && contextOf(shop)
}

/** Finds a shop by handle, suspended or not. */
export async function findShopContextByName({ shopStore }: Pick<ShopDeps, 'shopStore'>, name: string): Promise<ShopContext | undefined> {
  const shop = await shopStore.findByName(name)
  return shop && contextOf(shop)
}

/** Finds a shop by handle; undefined if suspended. */
export async function findPublicShopContextByName(
  { shopStore }: Pick<ShopDeps, 'shopStore'>,
  name: string,
): Promise<ShopContext | undefined> {
  const shop = await shopStore.findByName(name)
  return shop && isOpen(shop) ? contextOf(shop) : undefined
}

/** Returns the shop and the person's role in it; without `shopId` the first that they joined. */
export async function shopAndRoleOf(
  deps: Pick<ShopDeps, 'shopStore' | 'memberStore'>,
  person: { userId: string; shopId: string | undefined },
): Promise<{ shop: ShopContext; role: StaffRole } | undefined> {
  const membership = await membershipOf(deps, person)
  const shop = membership && (membership.shop ?? (await deps.shopStore.find(membership.shopId)))
  return shop && { shop: contextOf(shop), role: membership.role }
}

/** Creates a key and its row. */
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

/** Returns the current keys of a shop in plain text, for its owner. */
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

/** Returns the key and its shop if the key is valid and of the shop's mode. */
export async function findKeyAndShop(deps: Pick<ShopDeps, 'shopStore' | 'clock'>, presented: string): Promise<KeyAndShop | undefined> {
  if (!isApiKey(presented)) return undefined
  const at = deps.clock.now()
  const key = ifValid(await deps.shopStore.findKey(sha256(presented)), deps.clock.now())
  if (key?.whole) shopsOfRequests.set(key.shop, { shop: key.whole, at })
  return key
}

/** Does `findKeyAndShop` synchronously; undefined also if the engine cannot answer so. */
export function findKeyAndShopSync({ shopStore, clock }: Pick<ShopDeps, 'shopStore' | 'clock'>, presented: string): KeyAndShop | undefined {
  if (!shopStore.findsKeysAtOnce() || !isApiKey(presented)) return undefined
  const found = shopStore.findKey(sha256(presented))
  return found instanceof Promise ? undefined : ifValid(found, clock.now())
}

function ifValid(key: KeyAndShop | undefined, now: number): KeyAndShop | undefined {
  const isValid = key && (key.expiresAt === null || key.expiresAt > now) && key.mode === key.shop.mode
  return isValid ? key : undefined
}

type ShopChange = Optional<
  Pick<
    Shop,
    | 'title'
    | 'description'
    | 'currency'
    | 'logoUrl'
    | 'contact'
    | 'address'
    | 'showQuantity'
    | 'strictProvinces'
    | 'returnDays'
    | 'pages'
    | 'timeZone'
    | 'legalName'
    | 'taxNumber'
    | 'invoiceNote'
  > & {
    storefrontOrigins: string[]
  }
>
/** `also` runs inside the write. */
type ShopWrite = CommandContext & { readonly also?: (tx: Writer) => void }

/** @throws AppError INVALID, NOT_FOUND, PRECONDITION_FAILED; CONFLICT for another currency once there are prices */
export async function changeShop(deps: ShopDeps, by: ShopWrite, { storefrontOrigins, ...change }: ShopChange): Promise<Shop> {
  if (change.currency !== undefined) assertCurrency(change.currency)
  if (change.address?.countryCode) assertCountry(change.address.countryCode, 'address.countryCode')
  const origins = storefrontOrigins?.map((origin) => normalOrigin(origin))
  const invalidAt = origins?.indexOf(undefined) ?? -1
  if (invalidAt >= 0) throw invalidField(`storefrontOrigins.${invalidAt}`, 'must be a scheme and a host, such as https://shop.example')
  if (change.pages) assertPages(change.pages)
  const timeZone = change.timeZone === undefined ? undefined : timeZoneOf(change.timeZone, 'timeZone')
  const { contact, address, pages, ...rest } = change
  return update(deps, by, { action: 'shop.changed', version: 'version' }, async (before, tx) => {
    by.also?.(tx)
    if (change.currency !== undefined && change.currency !== before.currency && (await deps.shopStore.hasPrices(tx, before)))
      throw fieldError('CONFLICT', 'currency', 'cannot change while products, shipping, gift cards or discounts have prices in it', {
        code: 'in_use',
      })
    return {
      ...withoutUndefined({ ...rest, timeZone }),
      ...(origins ? { origins: [...new Set(origins as string[])] } : {}),
      // Nested fields that are left out stay, too.
      contact: { ...before.contact, ...contact },
      address: { ...before.address, ...address },
      pages: { ...before.pages, ...pages },
    }
  })
}

/**
 * Replaces all tax rates.
 * @throws AppError INVALID for an unknown country or region, a repeated one or a rate with more than two decimals;
 *   NOT_FOUND; PRECONDITION_FAILED
 */
export async function setTaxRates(deps: ShopDeps, by: CommandContext, taxRates: TaxRate[]): Promise<Shop> {
  for (const [at, { country, rateBps }] of taxRates.entries()) {
    assertCountry(country, `data.${at}.country`)
    if (!isTaxRate(rateBps)) throw invalidRow(at, 'rateBps', 'must have at most two decimals')
  }
  const table = taxRates.some(({ region }) => region) ? await loadProvinceTable() : noProvinces
  const keys = new Set<string>()
  for (const [at, { country, region, class: taxClass = '' }] of taxRates.entries()) {
    const codes = region ? provinceCodes(table, country, region) : ['']
    if (codes.length === 0) throw invalidRow(at, 'region', 'must be an ISO 3166-2 code or a name of a province of its country')
    for (const code of codes) {
      const key = `${country}/${code}/${taxClass}`
      if (keys.has(key))
        throw invalidRow(at, region ? 'region' : 'country', `a country and region can have only one rate${taxClass ? ' of a class' : ''}`)
      keys.add(key)
    }
  }
  return update(deps, by, { action: 'shop.tax_rates_set', version: 'taxRatesVersion' }, () => ({ taxRates }))
}

/**
 * Replaces all shipping methods.
 * @throws AppError INVALID as `parseMethods`, and for another currency than the shop's; NOT_FOUND; PRECONDITION_FAILED
 */
export async function setShippingMethods(deps: ShopDeps, by: CommandContext, input: readonly MethodInput[]): Promise<Shop> {
  const namesProvinces = input.some(({ zones = [] }) => zones.some((zone) => zone.provinces))
  const shippingMethods = parseMethods(input, namesProvinces ? await loadProvinceTable() : noProvinces)
  return update(deps, by, { action: 'shop.shipping_methods_set', version: 'shippingMethodsVersion' }, ({ currency }) => {
    assertCurrencies(shippingMethods, currency)
    return { shippingMethods }
  })
}

/** Returns the changes for a shop read inside the write. */
type ShopChanges = (before: Shop, tx: Writer) => Partial<Shop> | Promise<Partial<Shop>>
type ShopSection = { action: string; version: 'version' | 'taxRatesVersion' | 'shippingMethodsVersion' }

/** @throws AppError NOT_FOUND, PRECONDITION_FAILED */
function update(deps: ShopDeps, by: CommandContext, { action, version }: ShopSection, change: ShopChanges): Promise<Shop> {
  const { id } = by.shop
  return audited(deps, by, { action, subject: id }, async (tx, setDifference) => {
    const before = await deps.shopStore.find(id, tx)
    if (!before) throw noSuchShop()
    assertVersion(by.expected, before[version])
    const changes = { ...(await change(before, tx)), updatedAt: deps.clock.now(), [version]: before[version] + 1 }
    const shop = assertNotStale(await deps.shopStore.update(tx, id, changes, { [version]: before[version] }))
    setDifference(shopDifference(before, shop))
    return shop
  })
}

/** @throws AppError INVALID unless it is a currency in use */
export function assertCurrency(code: string, path = 'currency'): void {
  if (!isCurrency(code)) throw invalidField(path, 'must be an ISO 4217 currency in use')
}

const keyRead = 'shop.private_key_read'
const keyRotated = 'shop.private_key_rotated'

type HourlyLimit = { action: string; subject: string; most: number; what: string }

/** @throws AppError RATE_LIMITED if the action reached its hourly limit for the shop */
async function assertHourlyLimit(tx: Writer, { clock }: ShopDeps, { action, subject, most, what }: HourlyLimit) {
  const now = clock.now()
  const first = await nthLastActionAt(tx, { action, subject, since: now - hourMs, nth: most })
  if (first === undefined) return
  throw new AppError('RATE_LIMITED', `The secret key was ${what} too often. Try again in an hour`, {
    retryAfterSeconds: (first + hourMs - now) / 1000,
  })
}

/** Audits a reading of the secret key, and reads it in the same write, before it is returned. */
function auditKeyReading<T>(deps: ShopDeps, by: CommandContext<ShopContext>, read: (tx: Writer) => Promise<T>): Promise<T> {
  const entry = { action: keyRead, subject: by.shop.id }
  return audited(deps, by, entry, async (tx) => {
    await assertHourlyLimit(tx, deps, { ...entry, most: privateKeyReadsPerHour, what: 'asked for' })
    return read(tx)
  })
}

/**
 * Returns the shop's secret key, after the audit row is stored.
 * @throws AppError RATE_LIMITED after ten readings within an hour
 */
export async function readPrivateKey(deps: ShopDeps, by: CommandContext<ShopContext>): Promise<string> {
  const { shop } = by
  const key = await auditKeyReading(deps, by, (tx) => deps.shopStore.currentKey(shop.id, 'SECRET', shop.mode, tx))
  if (!key?.sealed) throw new AppError('NOT_FOUND', 'The shop has no secret key')
  return deps.keyring.unseal(key.sealed, keySeal(shop.id, key.id))
}

/**
 * Audits a repeated rotation response, which shows the key again, as a reading.
 * @throws AppError RATE_LIMITED as `readPrivateKey`
 */
export const auditRepeatedKeyReading = (deps: ShopDeps, by: CommandContext<ShopContext>): Promise<void> =>
  auditKeyReading(deps, by, async () => undefined)

/**
 * Replaces the secret key. The previous one stays valid for `graceSeconds`; older ones expire at once.
 * @throws AppError RATE_LIMITED after ten rotations within an hour
 */
export function rotatePrivateKey(
  deps: ShopDeps,
  by: CommandContext<ShopContext>,
  graceSeconds: number,
): Promise<{ privateKey: string; previousKeyExpiresAt: string }> {
  const { shopStore: store, clock } = deps
  const { id, mode } = by.shop
  const entry = { action: keyRotated, subject: id }
  const { key, row } = makeKey(deps, id, 'SECRET', mode)
  return audited(deps, by, entry, async (tx, setDifference) => {
    await assertHourlyLimit(tx, deps, { ...entry, most: keyRotationsPerHour, what: 'rotated' })
    const now = clock.now()
    const previousKeyExpiresAt = now + graceSeconds * 1000
    const current = await store.currentKey(id, 'SECRET', mode, tx)
    await store.expireKeys(tx, id, 'SECRET', mode, now)
    if (current) await store.setKeyExpiry(tx, current.id, previousKeyExpiresAt)
    await store.insertKey(tx, row)
    setDifference({ before: { key: current?.id ?? null }, after: { key: row.id, previousKeyExpiresAt } })
    return { privateKey: key, previousKeyExpiresAt: new Date(previousKeyExpiresAt).toISOString() }
  })
}

/** Deletes keys that expired long ago. The audit trail still has their ids. */
export async function deleteExpiredKeys({ db, clock, shopStore }: ShopDeps): Promise<void> {
  const before = clock.now() - expiredKeysRetentionMs
  await inBatches(deletionBatchSize, () => db.write((tx) => shopStore.removeEndedKeys(tx, before, deletionBatchSize)))
}

/** Returns the shop's custodial wallet, created at the first call. Its key is sealed and never returned. */
export async function ensureCustodyWallet(deps: ShopDeps, { shop, actor }: CommandContext): Promise<Wallet> {
  const existing = await deps.shopStore.findWallet(shop.id)
  if (existing) return existing
  // Loaded at the first use, so that the start stays fast.
  const { generatePrivateKey, privateKeyToAddress } = await import('viem/accounts')
  const key = generatePrivateKey()
  const wallet: Wallet = {
    shopId: shop.id,
    address: privateKeyToAddress(key),
    sealedKey: deps.keyring.seal(key, walletSeal(shop.id)),
    createdAt: deps.clock.now(),
  }
  const inserted = await deps.db.write(async (tx) => {
    const inserted = await deps.shopStore.insertWallet(tx, wallet)
    const after = { address: wallet.address, network: 'evm' }
    if (inserted) await audit(tx, deps, { actor, action: 'shop.wallet_created', subject: shop.id, shopId: shop.id, after })
    return inserted
  })
  const stored = inserted ?? (await deps.shopStore.findWallet(shop.id))
  if (!stored) throw new Error('a wallet was neither created nor found')
  return stored
}
