import type { Writer } from '../../../../db/engine.ts'
import { type CommandContext, withLocks } from '../../../core/command-context.ts'
import { AppError, fieldError } from '../../../core/errors.ts'
import { assertNotStale, assertVersion } from '../../../core/versions.ts'
import { type Page, type PageSlice, pageOf } from '../../../lib/page.ts'
import { audited } from '../../operations/audit/index.ts'
import type { Wallet } from '../../trust/fabric/domain.ts'
import {
  addCounts,
  applyStatusChange,
  parseWallets,
  setWallets,
  type WalletBody,
  walletsOf,
  walletsOfAll,
} from '../../trust/fabric/index.ts'
import { type Lender, type LenderStatus, type LenderView, lenderDifference, lenderView } from './domain.ts'
import type { LenderDeps } from './providers.ts'

const noSuchLender = () => new AppError('NOT_FOUND', 'No such lender')
type WriteContext = Pick<CommandContext, 'actor' | 'expected' | 'write'>

const holder = (ownerId: string) => ({ owner: 'LENDER', ownerId }) as const

/**
 * Registers a lender with the status PENDING_KYB.
 * @throws AppError INVALID for wallets, with the field; CONFLICT if another owner has a wallet of that address at that
 * time
 */
export function createLender(
  deps: LenderDeps,
  context: WriteContext,
  { displayName, wallets: bodies = [] }: { displayName: string; wallets?: readonly WalletBody[] | undefined },
): Promise<LenderView> {
  const now = deps.clock.now()
  const id = deps.newId('lender')
  const lender = { id, displayName, status: 'PENDING_KYB', createdAt: now, updatedAt: now, version: 1 } as const
  const drafts = parseWallets(bodies, now)
  return audited(deps, withLocks(deps, context), { action: 'lender.created', subject: id }, async (tx, setDifference) => {
    await deps.lenderStore.insert(tx, lender)
    await appendStatus(tx, deps, context, lender, 1)
    const { after: wallets } = await setWallets(tx, deps, { ...context, holder: holder(id), drafts })
    await addCounts(tx, deps, 0, { 'lenders.total': 1 })
    setDifference(lenderDifference(undefined, { ...lender, wallets }))
    return lenderView(lender, await deps.lenderStore.historyOf(id, tx), wallets)
  })
}

function appendStatus(
  tx: Writer,
  { lenderStore, newId }: LenderDeps,
  { actor }: WriteContext,
  lender: Lender,
  position: number,
): Promise<void> {
  const { id, status, updatedAt } = lender
  return lenderStore.insertEntry(tx, { id: newId('event'), lenderId: id, position, status, actor: actor.id, at: updatedAt })
}

/**
 * Changes a lender; omitted fields stay. Setting the current status changes nothing. Each new status adds a row to the
 * history.
 * @param change `wallets` replaces all wallets
 * @throws AppError NOT_FOUND, PRECONDITION_FAILED; INVALID for wallets, with the field; CONFLICT for a status that
 * cannot follow the current one, and if another owner has a wallet of that address at that time
 */
export function changeLender(
  deps: LenderDeps,
  context: WriteContext,
  id: string,
  change: { displayName?: string | undefined; status?: LenderStatus | undefined; wallets?: readonly WalletBody[] | undefined },
): Promise<LenderView> {
  const { lenderStore: store, clock } = deps
  const { displayName, status } = change
  const drafts = change.wallets && parseWallets(change.wallets, clock.now())
  const work = async (tx: Writer, setDifference: (difference: ReturnType<typeof lenderDifference>) => void) => {
    const before = await store.locked(tx, id)
    if (!before) throw noSuchLender()
    assertVersion(context.expected, before.version)
    const wallets = drafts ? await setWallets(tx, deps, { ...context, holder: holder(id), drafts }) : await currentWallets(tx, deps, id)
    const isStatusChange = status !== undefined && status !== before.status
    let lender: Lender = before
    if (isStatusChange || wallets.isChanged || (displayName !== undefined && displayName !== before.displayName)) {
      const fields = { displayName: displayName ?? before.displayName, updatedAt: clock.now(), version: before.version + 1 }
      const changed = isStatusChange ? await store.move(tx, before, status, fields) : assertNotStale(await store.change(tx, before, fields))
      if (!changed)
        throw fieldError('CONFLICT', 'status', `a lender that is ${before.status} cannot change to this status`, {
          code: 'invalid_transition',
        })
      lender = changed
    }
    const history = await store.historyOf(id, tx)
    if (isStatusChange) {
      await appendStatus(tx, deps, context, lender, history.length + 1)
      await applyStatusChange(tx, deps, holder(id))
      await addCounts(tx, deps, 0, { 'lenders.active': activeCount(status) - activeCount(before.status) })
    }
    setDifference(lenderDifference({ ...before, wallets: wallets.before }, { ...lender, wallets: wallets.after }))
    return lenderView(lender, isStatusChange ? await store.historyOf(id, tx) : history, wallets.after)
  }
  return audited(deps, withLocks(deps, context), { action: 'lender.changed', subject: id }, work)
}

const activeCount = (status: LenderStatus) => (status === 'ACTIVE' ? 1 : 0)

async function currentWallets(
  tx: Writer,
  deps: LenderDeps,
  id: string,
): Promise<{ before: Wallet[]; after: Wallet[]; isChanged: boolean }> {
  const wallets = await walletsOf(deps, holder(id), tx)
  return { before: wallets, after: wallets, isChanged: false }
}

/** Locks a lender for a locking write that depends on it. Returns undefined for an unknown id. */
export const lockLender = (tx: Writer, { lenderStore }: Pick<LenderDeps, 'lenderStore'>, id: string): Promise<Lender | undefined> =>
  lenderStore.locked(tx, id)

/** Reads a lender for the public routes. Returns undefined for an unknown id. */
export const findLender = ({ lenderStore }: Pick<LenderDeps, 'lenderStore'>, id: string): Promise<Lender | undefined> =>
  lenderStore.find(id)

/** @throws AppError NOT_FOUND */
export async function readLender(deps: LenderDeps, id: string): Promise<LenderView> {
  const lender = await deps.lenderStore.find(id)
  if (!lender) throw noSuchLender()
  return lenderView(lender, await deps.lenderStore.historyOf(id), await walletsOf(deps, holder(id)))
}

/** Lists lenders, newest first. */
export async function listLenders(deps: LenderDeps, status: LenderStatus | undefined, slice: PageSlice): Promise<Page<LenderView>> {
  const { rows, total } = await deps.lenderStore.list(status, slice)
  const ids = rows.map(({ id }) => id)
  const [histories, wallets] = await Promise.all([deps.lenderStore.historiesOf(ids), walletsOfAll(deps, 'LENDER', ids)])
  return pageOf(
    rows.map((lender) => lenderView(lender, histories.get(lender.id) ?? [], wallets.get(lender.id) ?? [])),
    total,
    slice,
  )
}
