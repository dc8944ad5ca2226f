/** Changes of the registry: whoever makes one calls these inside their own, locking, write, once the rows of owners are locked. */
import type { Writer } from '../../../../db/engine.ts'
import type { Actor } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import { schemaNames } from '../../../lib/eas.ts'
import { differenceOf } from '../../operations/audit/domain.ts'
import { audit } from '../../operations/audit/index.ts'
import {
  activeTimesOf,
  always,
  type CountName,
  firstDifference,
  type Grant,
  grantsOf,
  type HeldWallet,
  type Holder,
  overlap,
  type Wallet,
  walletView,
} from './domain.ts'
import type { TrustDeps } from './providers.ts'
import type { WalletDraft } from './wallets.ts'

type Deps = Pick<TrustDeps, 'trustStore' | 'newId' | 'clock'>

/**
 * Adds to what the statistics say. In the order of names, so that no two writes wait for each other.
 * @param chainId 0 for what is of no chain
 */
export async function addCounts(
  tx: Writer,
  { trustStore }: Pick<TrustDeps, 'trustStore'>,
  chainId: number,
  deltas: Readonly<Partial<Record<CountName, number>>>,
): Promise<void> {
  for (const name of (Object.keys(deltas) as CountName[]).sort()) {
    const by = deltas[name]
    if (by) await trustStore.addCount(tx, name, chainId, by)
  }
}

const isSame = (one: Wallet, other: Wallet) => one.address === other.address && one.fromAt === other.fromAt && one.toAt === other.toAt

/**
 * Makes a holder's wallets those of a list, and of the registry what follows from it. Each that comes, goes or changes leaves a row of the audit
 * trail: a list of many would be too long for that of its owner.
 * @param drafts which do not overlap each other
 * @returns the wallets before and after, by address and time, and whether they are others
 * @throws AppError CONFLICT where somebody else has a wallet of that address within its period
 */
export async function setWallets(
  tx: Writer,
  deps: Deps,
  { actor, holder, drafts }: { actor: Actor; holder: Holder & { ownerId: string }; drafts: readonly WalletDraft[] },
): Promise<{ before: Wallet[]; after: Wallet[]; areOthers: boolean }> {
  const before = await deps.trustStore.walletsOf(holder, tx)
  const now = deps.clock.now()
  const after = drafts
    .map(({ address, fromAt, toAt }): Wallet => {
      const there = before.find((wallet) => wallet.address === address && wallet.fromAt === fromAt)
      if (!there) return { id: deps.newId('wallet'), ...holder, address, fromAt, toAt, createdAt: now, updatedAt: now, version: 1 }
      return there.toAt === toAt ? there : { ...there, toAt, updatedAt: now, version: there.version + 1 }
    })
    .toSorted((one, other) => (one.address < other.address ? -1 : one.address > other.address ? 1 : one.fromAt - other.fromAt))
  await changeWallets(tx, deps, before, after)
  const subject = holder.ownerId
  for (const wallet of before.filter(({ id }) => after.every((one) => one.id !== id)))
    await audit(tx, deps, { actor, action: 'wallet.removed', subject, ...differenceIn(wallet, undefined) })
  for (const wallet of after.filter((one) => !before.includes(one))) {
    const was = before.find(({ id }) => id === wallet.id)
    await audit(tx, deps, { actor, action: was ? 'wallet.changed' : 'wallet.added', subject, ...differenceIn(was, wallet) })
  }
  return { before, after, areOthers: after.length !== before.length || after.some((wallet) => !before.includes(wallet)) }
}

const differenceIn = (before: Wallet | undefined, after: Wallet | undefined) =>
  differenceOf(before && walletView(before), after && walletView(after), ['address', 'from', 'to'])

/**
 * Puts wallets in the place of others, of the same ids where they are the same ones, and changes of the registry what follows.
 * @throws AppError CONFLICT
 */
export async function changeWallets(tx: Writer, deps: Deps, before: readonly Wallet[], after: readonly Wallet[]): Promise<void> {
  const { trustStore: store, clock } = deps
  const [was, is] = [new Map(before.map((one) => [one.id, one])), new Map(after.map((one) => [one.id, one]))]
  const gone = before.filter(({ id }) => !is.has(id))
  const fresh = after.filter(({ id }) => !was.has(id))
  const moved = after.filter((one) => {
    const old = was.get(one.id)
    return old !== undefined && !isSame(old, one)
  })
  const old = moved.flatMap(({ id }) => was.get(id) ?? [])
  const addresses = [...new Set([...gone, ...fresh, ...moved, ...old].map(({ address }) => address))].sort()
  if (addresses.length === 0) return
  await store.raise(tx)
  const there = await store.walletsAt(tx, addresses)
  const others = there.filter(({ id }) => !was.has(id))
  if ([...fresh, ...moved].some((one) => others.some((other) => other.address === one.address && overlap(one, other))))
    throw new AppError('CONFLICT', 'address (body): somebody has a wallet of this address at that time already')
  await store.removeWallets(
    tx,
    gone.map(({ id }) => id),
  )
  for (const wallet of moved) await store.changeWallet(tx, wallet)
  for (const wallet of fresh) await store.insertWallet(tx, wallet)
  const now = [...others, ...after.filter(({ address }) => addresses.includes(address))]
  for (const address of addresses) await takeUp(tx, deps, address, earliest(there, address), earliest(now, address), clock.now())
  await regrant(tx, deps, addresses, now)
}

const earliest = (wallets: readonly Wallet[], address: string) =>
  Math.min(...wallets.filter((wallet) => wallet.address === address).map(({ fromAt }) => fromAt))

/** Registers an address, and has blocks read again that were passed before anybody knew that it would count then. */
async function takeUp(
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

/** Has a holder's wallets count by when their holder was active, after their history has changed. */
export async function statusMoved(tx: Writer, deps: Deps, holder: Holder & { ownerId: string }): Promise<void> {
  const addresses = [...new Set((await deps.trustStore.walletsOf(holder, tx)).map(({ address }) => address))].sort()
  if (addresses.length === 0) return
  await deps.trustStore.raise(tx)
  await regrant(tx, deps, addresses, await deps.trustStore.walletsAt(tx, addresses))
}

/** Computes the grants of addresses anew, and counts their attestations by them from when on they are others. */
async function regrant(tx: Writer, deps: Deps, addresses: readonly string[], wallets: readonly Wallet[]): Promise<void> {
  const { trustStore: store } = deps
  const before = await store.grantsOfAddresses(addresses, tx)
  const next = grantsOf(await held(tx, deps, wallets))
  const moved = movedOf(addresses, before, next)
  if (moved.length === 0) return
  const changed = new Set(moved.map(({ address }) => address))
  await store.replaceGrants(
    tx,
    [...changed],
    next.filter(({ address }) => changed.has(address)),
  )
  const deltas = new Map<number, Partial<Record<CountName, number>>>()
  for (const one of moved)
    for (const [chainId, by] of await store.recount(tx, one)) {
      const ofChain = deltas.getOrInsertComputed(chainId, () => ({}))
      const name = `attestations.${one.schema}` as const
      ofChain[name] = (ofChain[name] ?? 0) + by
    }
  for (const [chainId, ofChain] of [...deltas].sort(([one], [other]) => one - other)) await addCounts(tx, deps, chainId, ofChain)
}

/** Which schema an address may attest at other times than before, and the first moment of those. */
function movedOf(addresses: readonly string[], before: readonly Grant[], next: readonly Grant[]) {
  const periods = (grants: readonly Grant[]) => Map.groupBy(grants, ({ address, schema }) => `${address} ${schema}`)
  const [was, is] = [periods(before), periods(next)]
  return addresses.flatMap((address) =>
    schemaNames.flatMap((schema) => {
      const key = `${address} ${schema}`
      const fromAt = firstDifference(was.get(key) ?? [], is.get(key) ?? [])
      return fromAt === undefined ? [] : [{ address, schema, fromAt }]
    }),
  )
}

/** Wallets with when whoever has them was active. */
async function held(tx: Writer, { trustStore: store }: Deps, wallets: readonly Wallet[]): Promise<HeldWallet[]> {
  const idsOf = (owner: Wallet['owner']) => [
    ...new Set(wallets.flatMap((one) => (one.owner === owner && one.ownerId ? [one.ownerId] : []))),
  ]
  const histories = {
    LENDER: await store.historiesOf(tx, 'LENDER', idsOf('LENDER')),
    PROVIDER: await store.historiesOf(tx, 'PROVIDER', idsOf('PROVIDER')),
  }
  return wallets.map((wallet) => ({
    ...wallet,
    activeTimes: wallet.owner === 'PLATFORM' ? always : activeTimesOf(histories[wallet.owner].get(wallet.ownerId ?? '') ?? []),
  }))
}
