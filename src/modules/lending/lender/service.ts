import type { Writer } from '../../../../db/engine.ts'
import { type Change, withLocks } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import { assertExpected, unlessStale } from '../../../core/versions.ts'
import { type Page, pageOf, type Slice } from '../../../lib/page.ts'
import { audited } from '../../operations/audit/index.ts'
import type { Wallet } from '../../trust/fabric/domain.ts'
import { addCounts, setWallets, statusMoved, type WalletBody, walletsFrom, walletsOf, walletsOfAll } from '../../trust/fabric/index.ts'
import { type Lender, type LenderStatus, type LenderView, lenderDifference, lenderView } from './domain.ts'
import type { LenderDeps } from './providers.ts'

const noSuchLender = () => new AppError('NOT_FOUND', 'No such lender')
type By = Pick<Change, 'actor' | 'expected' | 'write'>

const holder = (ownerId: string) => ({ owner: 'LENDER', ownerId }) as const

/**
 * Registers a lender, whose own papers are still to be looked at: `PENDING_KYB`.
 * @throws AppError INVALID for wallets, naming the field; CONFLICT where somebody else has one of that address at that time
 */
export function createLender(
  deps: LenderDeps,
  by: By,
  { displayName, wallets: bodies = [] }: { displayName: string; wallets?: readonly WalletBody[] | undefined },
): Promise<LenderView> {
  const now = deps.clock.now()
  const id = deps.newId('lender')
  const lender = { id, displayName, status: 'PENDING_KYB', createdAt: now, updatedAt: now, version: 1 } as const
  const drafts = walletsFrom(bodies, now)
  return audited(deps, withLocks(deps, by), { action: 'lender.created', subject: id }, async (tx, tell) => {
    await deps.lenderStore.insert(tx, lender)
    await appendStatus(tx, deps, by, lender, 1)
    const { after: wallets } = await setWallets(tx, deps, { ...by, holder: holder(id), drafts })
    await addCounts(tx, deps, 0, { 'lenders.total': 1 })
    tell(lenderDifference(undefined, { ...lender, wallets }))
    return lenderView(lender, await deps.lenderStore.historyOf(id, tx), wallets)
  })
}

function appendStatus(tx: Writer, { lenderStore, newId }: LenderDeps, { actor }: By, lender: Lender, position: number): Promise<void> {
  const { id, status, updatedAt } = lender
  return lenderStore.insertEntry(tx, { id: newId('event'), lenderId: id, position, status, actor: actor.id, at: updatedAt })
}

/**
 * Changes a lender; what is left out stays, and asked for the status that it has, that stays too. Each status leaves a row of its history.
 * @param change `wallets` are all of them
 * @throws AppError NOT_FOUND, PRECONDITION_FAILED; INVALID for wallets, naming the field; CONFLICT for a status that does not follow the one it
 *   has, and where somebody else has a wallet of that address at that time
 */
export function changeLender(
  deps: LenderDeps,
  by: By,
  id: string,
  change: { displayName?: string | undefined; status?: LenderStatus | undefined; wallets?: readonly WalletBody[] | undefined },
): Promise<LenderView> {
  const { lenderStore: store, clock } = deps
  const { displayName, status } = change
  const drafts = change.wallets && walletsFrom(change.wallets, clock.now())
  const work = async (tx: Writer, tell: (difference: ReturnType<typeof lenderDifference>) => void) => {
    const before = await store.locked(tx, id)
    if (!before) throw noSuchLender()
    assertExpected(by.expected, before.version)
    const wallets = drafts ? await setWallets(tx, deps, { ...by, holder: holder(id), drafts }) : await keptWallets(tx, deps, id)
    const isMoved = status !== undefined && status !== before.status
    let lender: Lender = before
    if (isMoved || wallets.areOthers || (displayName !== undefined && displayName !== before.displayName)) {
      const fields = { displayName: displayName ?? before.displayName, updatedAt: clock.now(), version: before.version + 1 }
      const changed = isMoved ? await store.move(tx, before, status, fields) : unlessStale(await store.change(tx, before, fields))
      if (!changed) throw new AppError('CONFLICT', `status (body): a lender that is ${before.status} cannot become so`)
      lender = changed
    }
    const history = await store.historyOf(id, tx)
    if (isMoved) {
      await appendStatus(tx, deps, by, lender, history.length + 1)
      await statusMoved(tx, deps, holder(id))
      await addCounts(tx, deps, 0, { 'lenders.active': activeOnes(status) - activeOnes(before.status) })
    }
    tell(lenderDifference({ ...before, wallets: wallets.before }, { ...lender, wallets: wallets.after }))
    return lenderView(lender, isMoved ? await store.historyOf(id, tx) : history, wallets.after)
  }
  return audited(deps, withLocks(deps, by), { action: 'lender.changed', subject: id }, work)
}

const activeOnes = (status: LenderStatus) => (status === 'ACTIVE' ? 1 : 0)

async function keptWallets(tx: Writer, deps: LenderDeps, id: string): Promise<{ before: Wallet[]; after: Wallet[]; areOthers: boolean }> {
  const wallets = await walletsOf(deps, holder(id), tx)
  return { before: wallets, after: wallets, areOthers: false }
}

/** Locks a lender, for a locking write of what hangs on it. Undefined where there is none. */
export const lockLender = (tx: Writer, { lenderStore }: Pick<LenderDeps, 'lenderStore'>, id: string): Promise<Lender | undefined> =>
  lenderStore.locked(tx, id)

/** A lender as the public sees it; undefined where there is none. */
export const findLender = ({ lenderStore }: Pick<LenderDeps, 'lenderStore'>, id: string): Promise<Lender | undefined> =>
  lenderStore.find(id)

/** @throws AppError NOT_FOUND */
export async function readLender(deps: LenderDeps, id: string): Promise<LenderView> {
  const lender = await deps.lenderStore.find(id)
  if (!lender) throw noSuchLender()
  return lenderView(lender, await deps.lenderStore.historyOf(id), await walletsOf(deps, holder(id)))
}

/** A page of all lenders, newest first. */
export async function listLenders(deps: LenderDeps, status: LenderStatus | undefined, slice: Slice): Promise<Page<LenderView>> {
  const { rows, total } = await deps.lenderStore.list(status, slice)
  const ids = rows.map(({ id }) => id)
  const [histories, wallets] = await Promise.all([deps.lenderStore.historiesOf(ids), walletsOfAll(deps, 'LENDER', ids)])
  return pageOf(
    rows.map((lender) => lenderView(lender, histories.get(lender.id) ?? [], wallets.get(lender.id) ?? [])),
    total,
    slice,
  )
}
