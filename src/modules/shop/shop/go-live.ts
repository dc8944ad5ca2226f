import type { Reader, Writer } from '../../../../db/engine.ts'
import { AppError } from '../../../core/errors.ts'
import type { Shop } from './domain.ts'
import type { ShopDeps } from './providers.ts'
import { makeKey, noSuchShop } from './service.ts'

/**
 * Switches a shop from TEST to LIVE inside a write: test keys expire at once, and new keys are created. Irreversible.
 * @returns the shop, its key ids and the publishable key
 * @throws AppError NOT_FOUND; CONFLICT if it is LIVE already
 */
export async function makeLive(
  tx: Writer,
  deps: ShopDeps,
  id: string,
): Promise<{ readonly shop: Shop; readonly publishableKey: string; readonly keys: readonly string[] }> {
  const { shopStore: store, clock } = deps
  const before = await store.find(id, tx)
  if (!before) throw noSuchShop()
  const now = clock.now()
  const isTest = before.mode === 'TEST'
  const shop =
    isTest && (await store.update(tx, id, { mode: 'LIVE', updatedAt: now, version: before.version + 1 }, { version: before.version }))
  if (!shop) throw new AppError('CONFLICT', isTest ? 'The shop was changed by another request. Try again' : 'The shop is already LIVE')
  const newKeys = (['PUBLISHABLE', 'SECRET'] as const).map((kind) => ({ kind, ...makeKey(deps, id, kind, 'LIVE') }))
  for (const { kind, row } of newKeys) {
    await store.expireKeys(tx, id, kind, 'TEST', now)
    await store.insertKey(tx, row)
  }
  return { shop, publishableKey: newKeys[0]?.key ?? '', keys: newKeys.map(({ row }) => row.id) }
}

/** Returns when a shop went live: its live publishable key is never removed. Undefined in test mode. */
export const liveSince = (
  { shopStore }: Pick<ShopDeps, 'shopStore'>,
  shopId: string,
  from?: Pick<Reader, 'rows'>,
): Promise<number | undefined> => shopStore.liveSince(shopId, from)
