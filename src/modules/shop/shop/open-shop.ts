import type { Writer } from '../../../../db/engine.ts'
import type { CommandContext } from '../../../core/command-context.ts'
import { refuseTaken } from '../../../core/conflict.ts'
import { AppError, invalidField } from '../../../core/errors.ts'
import { pick } from '../../../lib/objects.ts'
import { addFirstOwner, assertBelowShopLimit } from '../../identity/member/index.ts'
import { type Difference, differenceOf } from '../../operations/audit/domain.ts'
import { audited } from '../../operations/audit/index.ts'
import { recordVerifiedShops } from '../../operations/kpi/index.ts'
import { assertCountry } from '../countries/domain.ts'
import { isReservedName, type Shop, timeZoneOf } from './domain.ts'
import type { ShopDeps } from './providers.ts'
import { assertCurrency, makeKey } from './service.ts'

export const shopNameTaken = 'another shop has this name, choose another'

/** The fields of a new shop. */
export type NewShop = Pick<Shop, 'name' | 'country' | 'currency'> & { title?: string; timeZone?: string }

/** Returns whether a shop has this name. */
export const hasShopNamed = async ({ shopStore }: Pick<ShopDeps, 'shopStore'>, name: string): Promise<boolean> =>
  (await shopStore.findByName(name)) !== undefined

/**
 * Checks the fields of a new shop.
 * @param path of the fields in the body, with the last dot
 * @throws AppError INVALID for an unknown currency, country or time zone, and for a reserved name
 */
export function assertNewShop({ name, currency, country, timeZone }: NewShop, path = ''): void {
  if (isReservedName(name)) throw invalidField(`${path}shopName`, 'is reserved: choose another name')
  assertCurrency(currency, `${path}currency`)
  assertCountry(country, `${path}country`)
  if (timeZone !== undefined) timeZoneOf(timeZone, `${path}timeZone`)
}

/**
 * Opens a shop in mode TEST with its keys, inside a write. `assertNewShop` has checked the input. If the merchant's
 * business is approved, it is KYB_VERIFIED at once.
 */
export async function openShop(
  tx: Writer,
  deps: ShopDeps,
  { merchantId, id, name, country, currency, title, timeZone }: NewShop & { merchantId: string; id?: string },
): Promise<Shop> {
  const now = deps.clock.now()
  const isApproved = await deps.shopStore.isApproved(tx, merchantId)
  const shop: Shop = {
    id: id ?? deps.newId('shop'),
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
    returnDays: 30,
    pages: {},
    timeZone: timeZoneOf(timeZone ?? 'UTC', 'timeZone'),
    legalName: null,
    taxNumber: null,
    invoiceNote: null,
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

/**
 * Opens another shop of the caller, who becomes its owner.
 * @param by `isSuperAdmin`: may open one beside a suspended shop, which they can restore
 * @param answerOf builds the response, which is stored for retries
 * @throws AppError INVALID as `assertNewShop`; CONFLICT if the name is taken, the caller works in too many shops, or a
 * shop of theirs is suspended
 */
export async function openAnotherShop<Answer>(
  deps: ShopDeps,
  { actor, write, isSuperAdmin }: Pick<CommandContext, 'actor' | 'write'> & { isSuperAdmin: boolean },
  newShop: NewShop,
  answerOf: (shop: Shop) => Answer,
): Promise<Answer> {
  assertNewShop(newShop)
  const id = deps.newId('shop')
  const entry = { action: 'shop.created', subject: id }
  return audited(deps, { actor, write, shop: { id } }, entry, async (tx, setDifference) => {
    await assertBelowShopLimit(tx, deps, actor.id)
    if (!isSuperAdmin && (await deps.shopStore.ownsSuspended(tx, actor.id)))
      throw new AppError('CONFLICT', 'You own a suspended shop. Ask the administrator of this instance to restore it first', {
        code: 'shop_suspended',
      })
    const shop = await openShop(tx, deps, { ...newShop, id, merchantId: actor.id })
    setDifference(shopCreation(shop))
    return answerOf(shop)
  }).catch(refuseTaken(shopNameTaken, 'shopName'))
}

const createdFields = ['name', 'title', 'country', 'currency'] as const
/** Returns the audited difference of a new shop. */
export const shopCreation = (shop: Shop): Difference => differenceOf(undefined, pick(shop, ...createdFields), createdFields)
