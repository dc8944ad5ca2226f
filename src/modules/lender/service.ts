import type { Writer } from '../../../db/engine.ts'
import { type Change, locking } from '../../core/change.ts'
import { AppError } from '../../core/errors.ts'
import { assertExpected, unlessStale } from '../../core/versions.ts'
import { type Page, pageOf, type Slice } from '../../lib/page.ts'
import { audited } from '../audit/index.ts'
import { type Lender, type LenderStatus, type LenderView, lenderDifference, lenderView } from './domain.ts'
import type { LenderDeps } from './parts.ts'

const noSuchLender = () => new AppError('NOT_FOUND', 'No such lender')
type By = Pick<Change, 'actor' | 'expected' | 'write'>

/** Registers a lender, whose own papers are still to be looked at: `PENDING_KYB`. */
export function createLender(deps: LenderDeps, by: By, { displayName }: Pick<Lender, 'displayName'>): Promise<LenderView> {
  const now = deps.clock.now()
  const id = deps.newId('lender')
  const lender = { id, displayName, status: 'PENDING_KYB', createdAt: now, updatedAt: now, version: 1 } as const
  return audited(deps, by, { action: 'lender.created', subject: id }, async (tx, tell) => {
    await deps.lenderStore.insert(tx, lender)
    await appendStatus(tx, deps, by, lender, 1)
    tell(lenderDifference(undefined, lender))
    return lenderView(lender, await deps.lenderStore.historyOf(id, tx))
  })
}

function appendStatus(tx: Writer, { lenderStore, newId }: LenderDeps, { actor }: By, lender: Lender, position: number): Promise<void> {
  const { id, status, updatedAt } = lender
  return lenderStore.insertEntry(tx, { id: newId('event'), lenderId: id, position, status, actor: actor.id, at: updatedAt })
}

/**
 * Changes a lender; what is left out stays, and asked for the status that it has, that stays too. Each status leaves a row of its history.
 * @throws AppError NOT_FOUND, PRECONDITION_FAILED; CONFLICT for a status that does not follow the one it has
 */
export function changeLender(
  deps: LenderDeps,
  by: By,
  id: string,
  { displayName, status }: { displayName?: string | undefined; status?: LenderStatus | undefined },
): Promise<LenderView> {
  const { lenderStore: store, clock } = deps
  const work = async (tx: Writer, tell: (difference: ReturnType<typeof lenderDifference>) => void) => {
    const before = await store.locked(tx, id)
    if (!before) throw noSuchLender()
    assertExpected(by.expected, before.version)
    const isMoved = status !== undefined && status !== before.status
    let lender: Lender = before
    if (isMoved || (displayName !== undefined && displayName !== before.displayName)) {
      const fields = { displayName: displayName ?? before.displayName, updatedAt: clock.now(), version: before.version + 1 }
      const changed = isMoved ? await store.move(tx, before, status, fields) : unlessStale(await store.change(tx, before, fields))
      if (!changed) throw new AppError('CONFLICT', `status (body): a lender that is ${before.status} cannot become so`)
      lender = changed
    }
    const history = await store.historyOf(id, tx)
    if (isMoved) await appendStatus(tx, deps, by, lender, history.length + 1)
    tell(lenderDifference(before, lender))
    return lenderView(lender, isMoved ? await store.historyOf(id, tx) : history)
  }
  const write: Change['write'] = (inner) => (by.write ?? deps.db.write)(inner, locking)
  return audited(deps, { actor: by.actor, write }, { action: 'lender.changed', subject: id }, work)
}

/** @throws AppError NOT_FOUND */
export async function readLender({ lenderStore }: Pick<LenderDeps, 'lenderStore'>, id: string): Promise<LenderView> {
  const lender = await lenderStore.find(id)
  if (!lender) throw noSuchLender()
  return lenderView(lender, await lenderStore.historyOf(id))
}

/** A page of all lenders, newest first. */
export async function listLenders({ lenderStore }: LenderDeps, status: LenderStatus | undefined, slice: Slice): Promise<Page<LenderView>> {
  const { rows, total } = await lenderStore.list(status, slice)
  const histories = await lenderStore.historiesOf(rows.map(({ id }) => id))
  return pageOf(
    rows.map((lender) => lenderView(lender, histories.get(lender.id) ?? [])),
    total,
    slice,
  )
}
