import type { Writer } from '../../../../db/engine.ts'
import type { Actor } from '../../../core/command-context.ts'
import { assertNotStale, assertVersion, type ExpectedVersion } from '../../../core/versions.ts'
import { type Page, type PageSlice, pageOf } from '../../../lib/page.ts'
import type { Difference } from '../../operations/audit/domain.ts'
import { audit } from '../../operations/audit/index.ts'
import { recordVerifiedShops } from '../../operations/kpi/index.ts'
import { resolveStatus, type Shop, type ShopFilter, type ShopStatus, shopDifference } from './domain.ts'
import type { ShopDeps } from './providers.ts'
import { noSuchShop } from './service.ts'

/**
 * Lists all shops of the instance, newest first.
 * @param filter `q` is part of a handle or title, or the id of a shop or merchant
 */
export async function listShops({ shopStore }: Pick<ShopDeps, 'shopStore'>, filter: ShopFilter, slice: PageSlice): Promise<Page<Shop>> {
  const { rows, total } = await shopStore.list(filter, slice)
  return pageOf(rows, total, slice)
}

/**
 * Makes a merchant's shops KYB_VERIFIED inside the write of the approval. A suspended one becomes so when it is
 * restored.
 */
export async function verifyShops(tx: Writer, deps: ShopDeps, { merchantId, actor }: { merchantId: string; actor: Actor }): Promise<void> {
  const now = deps.clock.now()
  const shops = await deps.shopStore.verifyAll(tx, merchantId, now)
  await recordVerifiedShops(tx, { merchantId, shopIds: shops.map(({ id }) => id), at: now })
  for (const shop of shops) {
    const difference = shopDifference({ ...shop, status: 'ACTIVE', verifiedAt: null }, shop)
    await audit(tx, deps, { actor, action: 'shop.verified', subject: shop.id, shopId: shop.id, ...difference })
  }
}

/**
 * Suspends or restores a shop inside a write. Does nothing if the status is the same.
 * @returns the shop, and the audited difference
 * @throws AppError NOT_FOUND, PRECONDITION_FAILED; CONFLICT for any other change of its status
 */
export async function changeShopStatus(
  tx: Writer,
  { shopStore: store, clock }: ShopDeps,
  { id, requested, expected }: { id: string; requested: ShopStatus; expected: ExpectedVersion | undefined },
): Promise<{ shop: Shop; difference: Difference }> {
  const before = await store.find(id, tx)
  if (!before) throw noSuchShop()
  assertVersion(expected, before.version)
  const to = resolveStatus(before, requested, { isApproved: await store.isApproved(tx, before.merchantId) })
  if (to === before.status) return { shop: before, difference: shopDifference(before, before) }
  const now = clock.now()
  const fields = { updatedAt: now, version: before.version + 1 }
  const moved =
    to === 'SUSPENDED'
      ? store.move(tx, before, ['ACTIVE', 'KYB_VERIFIED'], to, fields)
      : store.move(tx, before, ['SUSPENDED'], to, { ...fields, ...(to === 'KYB_VERIFIED' && { verifiedAt: before.verifiedAt ?? now }) })
  const shop = assertNotStale(await moved)
  if (before.verifiedAt === null && shop.verifiedAt !== null)
    await recordVerifiedShops(tx, { merchantId: shop.merchantId, shopIds: [id], at: shop.verifiedAt })
  return { shop, difference: shopDifference(before, shop) }
}
