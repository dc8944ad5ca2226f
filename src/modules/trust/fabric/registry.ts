/** Changes of the registry. Callers run these in their own locking write, after they locked the owners' rows. */
import type { Writer } from '../../../../db/engine.ts'
import type { Actor } from '../../../core/command-context.ts'
import { fieldError } from '../../../core/errors.ts'
import { schemaNames } from '../../../lib/eas.ts'
import { differenceOf } from '../../operations/audit/domain.ts'
import { audit } from '../../operations/audit/index.ts'
import {
  activeTimesOf,
  alwaysActive,
  type CountName,
  firstDifference,
  type Grant,
  grantsOf,
  type Holder,
  type OwnedWallet,
  overlap,
  type Wallet,
  walletView,
} from './domain.ts'
import type { TrustDeps } from './providers.ts'
import type { WalletDraft } from './wallets.ts'

type Deps = Pick<TrustDeps, 'trustStore' | 'newId' | 'clock'>

/**
 * Adds to the public counts in name order, so that concurrent writes do not deadlock.
 * @param chainId 0 for figures that belong to no chain
 */
export async function addCounts(
  tx: Writer,
  { trustStore }: Pick<TrustDeps, 'trustStore'>,
  chainId: number,
  deltas: Readonly<Partial<Record<CountName, number>>>,
): Promise<void> {
  for (const name of (Object.keys(deltas) as CountName[]).sort()) {
    const change = deltas[name]
    if (change) await trustStore.addCount(tx, name, chainId, change)
  }
}

const isSameWallet = (a: Wallet, b: Wallet) => a.address === b.address && a.fromAt === b.fromAt && a.toAt === b.toAt

/**
 * Replaces a holder's wallets and updates the registry. Each added, changed or removed wallet adds a row to the audit
 * trail.
 * @param drafts must not overlap
 * @returns the wallets before and after, by address and time
 * @throws AppError CONFLICT if another owner has a wallet of that address in its period
 */
export async function setWallets(
  tx: Writer,
  deps: Deps,
  { actor, holder, drafts }: { actor: Actor; holder: Holder & { ownerId: string }; drafts: readonly WalletDraft[] },
): Promise<{ before: Wallet[]; after: Wallet[]; isChanged: boolean }> {
  const before = await deps.trustStore.walletsOf(holder, tx)
  const now = deps.clock.now()
  const after = drafts
    .map(({ address, fromAt, toAt }): Wallet => {
      const existing = before.find((wallet) => wallet.address === address && wallet.fromAt === fromAt)
      if (!existing) return { id: deps.newId('wallet'), ...holder, address, fromAt, toAt, createdAt: now, updatedAt: now, version: 1 }
      return existing.toAt === toAt ? existing : { ...existing, toAt, updatedAt: now, version: existing.version + 1 }
    })
    .toSorted((a, b) => (a.address < b.address ? -1 : a.address > b.address ? 1 : a.fromAt - b.fromAt))
  const pathOf = ({ address, fromAt }: Wallet) =>
    `wallets.${drafts.findIndex((draft) => draft.address === address && draft.fromAt === fromAt)}.address`
  await changeWallets(tx, deps, { before, after, pathOf })
  const subject = holder.ownerId
  for (const wallet of before.filter(({ id }) => after.every((one) => one.id !== id)))
    await audit(tx, deps, { actor, action: 'wallet.removed', subject, ...differenceIn(wallet, undefined) })
  for (const wallet of after.filter((one) => !before.includes(one))) {
    const previous = before.find(({ id }) => id === wallet.id)
    await audit(tx, deps, { actor, action: previous ? 'wallet.changed' : 'wallet.added', subject, ...differenceIn(previous, wallet) })
  }
  return { before, after, isChanged: after.length !== before.length || after.some((wallet) => !before.includes(wallet)) }
}

const differenceIn = (before: Wallet | undefined, after: Wallet | undefined) =>
  differenceOf(before && walletView(before), after && walletView(after), ['address', 'from', 'to'])

/**
 * Replaces wallets, which keep their ids if they stay, and updates the registry.
 * @param pathOf returns the path of a wallet's address in the body
 * @throws AppError CONFLICT
 */
export async function changeWallets(
  tx: Writer,
  deps: Deps,
  { before, after, pathOf }: { before: readonly Wallet[]; after: readonly Wallet[]; pathOf: (wallet: Wallet) => string },
): Promise<void> {
  const { trustStore: store, clock } = deps
  const [beforeById, afterById] = [new Map(before.map((one) => [one.id, one])), new Map(after.map((one) => [one.id, one]))]
  const removed = before.filter(({ id }) => !afterById.has(id))
  const added = after.filter(({ id }) => !beforeById.has(id))
  const changed = after.filter((wallet) => {
    const old = beforeById.get(wallet.id)
    return old !== undefined && !isSameWallet(old, wallet)
  })
  const old = changed.flatMap(({ id }) => beforeById.get(id) ?? [])
  const addresses = [...new Set([...removed, ...added, ...changed, ...old].map(({ address }) => address))].sort()
  if (addresses.length === 0) return
  await store.raise(tx)
  const existing = await store.walletsAt(addresses, tx)
  const otherWallets = existing.filter(({ id }) => !beforeById.has(id))
  const conflicting = [...added, ...changed].find((one) =>
    otherWallets.some((other) => other.address === one.address && overlap(one, other)),
  )
  if (conflicting)
    throw fieldError('CONFLICT', pathOf(conflicting), 'another wallet has this address in that period', { code: 'already_exists' })
  await store.removeWallets(
    tx,
    removed.map(({ id }) => id),
  )
  for (const wallet of changed) await store.changeWallet(tx, wallet)
  for (const wallet of added) await store.insertWallet(tx, wallet)
  const now = [...otherWallets, ...after.filter(({ address }) => addresses.includes(address))]
  for (const address of addresses)
    await registerAddress(tx, deps, address, earliest(existing, address), earliest(now, address), clock.now())
  await recomputeGrants(tx, deps, addresses, now)
}

const earliest = (wallets: readonly Wallet[], address: string) =>
  Math.min(...wallets.filter((wallet) => wallet.address === address).map(({ fromAt }) => fromAt))

/** Registers an address and queues backfills for blocks that were read before it was registered. */
async function registerAddress(
  tx: Writer,
  { trustStore: store, newId }: Deps,
  address: string,
  before: number,
  fromAt: number,
  now: number,
): Promise<void> {
  if (fromAt === Number.POSITIVE_INFINITY) return
  const isNew = await store.register(tx, address, now)
  if (!isNew && fromAt >= before) return
  for (const chainId of await store.chainsReadPast(tx, fromAt))
    await store.queueBackfill(tx, { id: newId('backfill'), chainId, address, readTo: null, lastBlock: null, fromAt, queuedAt: now })
}

/** Recomputes a holder's grants after its status history has changed. */
export async function applyStatusChange(tx: Writer, deps: Deps, holder: Holder & { ownerId: string }): Promise<void> {
  const addresses = [...new Set((await deps.trustStore.walletsOf(holder, tx)).map(({ address }) => address))].sort()
  if (addresses.length === 0) return
  await deps.trustStore.raise(tx)
  await recomputeGrants(tx, deps, addresses, await deps.trustStore.walletsAt(addresses, tx))
}

/** Recomputes the grants of addresses, and recounts their attestations from the first change on. */
async function recomputeGrants(tx: Writer, deps: Deps, addresses: readonly string[], wallets: readonly Wallet[]): Promise<void> {
  const { trustStore: store } = deps
  const before = await store.grantsOfAddresses(addresses, tx)
  const next = grantsOf(await addActiveTimes(tx, deps, wallets))
  const changes = changedGrants(addresses, before, next)
  if (changes.length === 0) return
  const changed = new Set(changes.map(({ address }) => address))
  await store.replaceGrants(
    tx,
    [...changed],
    next.filter(({ address }) => changed.has(address)),
  )
  const deltas = new Map<number, Partial<Record<CountName, number>>>()
  for (const change of changes)
    for (const [chainId, by] of await store.recount(tx, change)) {
      const ofChain = deltas.getOrInsertComputed(chainId, () => ({}))
      const name = `attestations.${change.schema}` as const
      ofChain[name] = (ofChain[name] ?? 0) + by
    }
  for (const [chainId, ofChain] of [...deltas].sort(([one], [other]) => one - other)) await addCounts(tx, deps, chainId, ofChain)
}

/** Returns the changed schemas of each address, with the first moment that changes. */
function changedGrants(addresses: readonly string[], before: readonly Grant[], next: readonly Grant[]) {
  const periods = (grants: readonly Grant[]) => Map.groupBy(grants, ({ address, schema }) => `${address} ${schema}`)
  const [beforePeriods, nextPeriods] = [periods(before), periods(next)]
  return addresses.flatMap((address) =>
    schemaNames.flatMap((schema) => {
      const key = `${address} ${schema}`
      const fromAt = firstDifference(beforePeriods.get(key) ?? [], nextPeriods.get(key) ?? [])
      return fromAt === undefined ? [] : [{ address, schema, fromAt }]
    }),
  )
}

/** Adds the active times of the owners. */
async function addActiveTimes(tx: Writer, { trustStore: store }: Deps, wallets: readonly Wallet[]): Promise<OwnedWallet[]> {
  const idsOf = (owner: Wallet['owner']) => [
    ...new Set(wallets.flatMap((one) => (one.owner === owner && one.ownerId ? [one.ownerId] : []))),
  ]
  const histories = {
    LENDER: await store.historiesOf(tx, 'LENDER', idsOf('LENDER')),
    PROVIDER: await store.historiesOf(tx, 'PROVIDER', idsOf('PROVIDER')),
  }
  return wallets.map((wallet) => ({
    ...wallet,
    activeTimes: wallet.owner === 'PLATFORM' ? alwaysActive : activeTimesOf(histories[wallet.owner].get(wallet.ownerId ?? '') ?? []),
  }))
}
