import type { Writer } from '../../../../db/engine.ts'
import { type Actor, type CommandContext, locking } from '../../../core/command-context.ts'
import { alreadyExists, refuseTaken } from '../../../core/conflict.ts'
import { AppError, invalidField } from '../../../core/errors.ts'
import { dayNumberOf } from '../../../lib/day.ts'
import { type Page, type PageSlice, pageOf } from '../../../lib/page.ts'
import { differenceOf } from '../../operations/audit/domain.ts'
import { audit, audited } from '../../operations/audit/index.ts'
import {
  addToSignals,
  assertValid,
  isSameRepayment,
  keyOf,
  laterTime,
  type Repayment,
  type RepaymentDraft,
  type RepaymentSignals,
  type RepaymentView,
  repaymentOf,
  repaymentView,
  type StoredSignals,
} from './domain.ts'
import type { RepaymentDeps } from './providers.ts'
import type { RepaymentFilter } from './store.ts'

type WriteContext = Pick<CommandContext, 'actor' | 'write'>

/**
 * The result per instalment. `KNOWN`: an equal one is recorded. `OTHER`: a different one is recorded. `REVERSED`: an
 * operator reversed an equal one.
 */
type RecordResult =
  | { readonly kind: 'RECORDED'; readonly repayment: Repayment }
  | { readonly kind: 'KNOWN' | 'OTHER' | 'REVERSED' | 'NO_MERCHANT' | 'NO_LENDER' }

const duplicateMessage = 'a repayment of this lender, loan and due date exists: reverse it first'

const noSuchRepayment = () => new AppError('NOT_FOUND', 'No such repayment')
const differenceIn = (before: Repayment | undefined, after: Repayment) =>
  differenceOf(before, after, [
    'merchantId',
    'lenderId',
    'loanRef',
    'outcome',
    'amountUsd',
    'dueAt',
    'settledAt',
    'datedAt',
    'source',
    'recordedBy',
    'recordedAt',
    'reversedAt',
  ])

/**
 * Records instalments and updates their merchants' totals, inside a locking write. Each adds a row to the audit trail.
 * Tapes are cumulative, so reversed instalments appear again. They are not recorded a second time.
 * @param drafts valid ones; of several with one key the first counts
 * @returns the results in the same order
 */
export async function recordRepayments(
  tx: Writer,
  deps: RepaymentDeps,
  { actor, source, drafts }: { actor: Actor; source: Repayment['source']; drafts: readonly RepaymentDraft[] },
): Promise<RecordResult[]> {
  const { repaymentStore: store, clock, newId } = deps
  const ids = (name: 'merchantId' | 'lenderId') => new Set(drafts.map((draft) => draft[name]))
  const existingIds = await store.existingIds(tx, ids('merchantId'), ids('lenderId'))
  const valid = drafts.filter(({ merchantId, lenderId }) => existingIds.has(merchantId) && existingIds.has(lenderId))
  const now = clock.now()
  const signals = await store.lockSignals(tx, new Set(valid.map(({ merchantId }) => merchantId)), now)
  const [liveRepayments, reversed] = await Promise.all([
    store.liveByKeys(tx, valid),
    source === 'IMPORT' ? store.reversedByKeys(tx, valid) : [],
  ])
  const live = new Map<string, RepaymentDraft>(liveRepayments)
  const wasReversed = (draft: RepaymentDraft) =>
    reversed.some((repayment) => keyOf(repayment) === keyOf(draft) && isSameRepayment(repayment, draft))
  const newRepayments: Repayment[] = []
  const results = drafts.map((draft): RecordResult => {
    if (!existingIds.has(draft.merchantId)) return { kind: 'NO_MERCHANT' }
    if (!existingIds.has(draft.lenderId)) return { kind: 'NO_LENDER' }
    const existing = live.get(keyOf(draft))
    if (existing && isSameRepayment(existing, draft)) return { kind: 'KNOWN' }
    if (wasReversed(draft)) return { kind: 'REVERSED' }
    if (existing) return { kind: 'OTHER' }
    const repayment = repaymentOf(draft, { id: newId('repayment'), source, recordedBy: actor.id, recordedAt: now })
    live.set(keyOf(draft), draft)
    newRepayments.push(repayment)
    return { kind: 'RECORDED', repayment }
  })
  await addToStoredSignals(tx, deps, newRepayments, signals)
  await store.insertAll(tx, newRepayments)
  for (const repayment of newRepayments)
    await audit(tx, deps, { actor, action: 'repayment.recorded', subject: repayment.id, ...differenceIn(undefined, repayment) })
  return results
}

/** Adds repayments to the stored totals. Runs before the repayments are inserted. */
async function addToStoredSignals(
  tx: Writer,
  { repaymentStore: store, clock }: RepaymentDeps,
  newRepayments: readonly Repayment[],
  signals: Map<string, StoredSignals>,
): Promise<void> {
  const lendersSeen = new Set<string>()
  const defaults = new Map<string, number>()
  for (const repayment of newRepayments) {
    const { merchantId, lenderId, outcome, datedAt, settledAt } = repayment
    const before = signals.get(merchantId)
    if (!before) throw new Error('the signals of the merchant are not locked')
    const pair = `${merchantId} ${lenderId}`
    const isNew = !lendersSeen.has(pair) && !(await store.hasLender(tx, merchantId, lenderId))
    lendersSeen.add(pair)
    signals.set(merchantId, {
      ...addToSignals(before, repayment, 1),
      lenderCount: before.lenderCount + (isNew ? 1 : 0),
      mostRecentSettlementAt: laterTime(before.mostRecentSettlementAt, settledAt),
      updatedAt: clock.now(),
    })
    if (outcome !== 'DEFAULT') continue
    const day = `${merchantId} ${dayNumberOf(datedAt)}`
    defaults.set(day, (defaults.get(day) ?? 0) + 1)
  }
  const changed = new Set(newRepayments.map(({ merchantId }) => merchantId))
  for (const stored of signals.values()) if (changed.has(stored.merchantId)) await store.saveSignals(tx, stored)
  for (const [key, added] of defaults) {
    const [merchantId = '', day = ''] = key.split(' ')
    await store.addDefaults(tx, merchantId, Number(day), added)
  }
}

/**
 * Records one instalment.
 * @throws AppError INVALID for dates after now and for an unknown merchant or lender, with the field; CONFLICT if one
 * of that lender, loan and due date counts
 */
export function recordRepayment(
  deps: RepaymentDeps,
  { actor, write = deps.db.write }: WriteContext,
  draft: RepaymentDraft,
): Promise<RepaymentView> {
  assertValid(draft, deps.clock.now())
  return write(async (tx) => {
    const [result] = await recordRepayments(tx, deps, { actor, source: 'OPERATOR', drafts: [draft] })
    switch (result?.kind) {
      case 'RECORDED':
        return repaymentView(result.repayment, undefined)
      case 'NO_MERCHANT':
        throw invalidField('merchantId', 'must be a merchant of this instance')
      case 'NO_LENDER':
        throw invalidField('lenderId', 'must be a lender of this instance')
      default:
        throw alreadyExists('loanRef', duplicateMessage)
    }
  }, locking).catch(refuseTaken(duplicateMessage, 'loanRef'))
}

/**
 * Reverses a repayment by an entry of its own. It no longer counts, and its lender, loan and due date can be recorded
 * again.
 * @throws AppError NOT_FOUND; CONFLICT if it is reversed already
 */
export function reverseRepayment(deps: RepaymentDeps, context: WriteContext, id: string, reason: string): Promise<RepaymentView> {
  const { repaymentStore: store, clock, newId } = deps
  const { actor } = context
  const write: CommandContext['write'] = (work) => (context.write ?? deps.db.write)(work, locking)
  return audited(deps, { actor, write }, { action: 'repayment.reversed', subject: id }, async (tx, setDifference) => {
    // Safe without a lock: only `reversedAt` ever changes, and the update itself checks it.
    const repayment = await store.find(id, tx)
    if (!repayment) throw noSuchRepayment()
    const { merchantId, lenderId, outcome, datedAt, settledAt } = repayment
    const now = clock.now()
    const before = (await store.lockSignals(tx, new Set([merchantId]), now)).get(merchantId)
    if (!before) throw new Error('the signals of the merchant are not locked')
    if (!(await store.reverse(tx, id, now)))
      throw new AppError('CONFLICT', 'The repayment was already reversed', { code: 'invalid_transition' })
    const reversal = { id: newId('reversal'), repaymentId: id, reason, recordedBy: actor.id, recordedAt: now }
    await store.insertReversal(tx, reversal)
    const hasOther = await store.hasLender(tx, merchantId, lenderId)
    const mostRecentSettlementAt =
      settledAt === before.mostRecentSettlementAt ? await store.lastSettledAt(tx, merchantId) : before.mostRecentSettlementAt
    const lenderCount = before.lenderCount - (hasOther ? 0 : 1)
    await store.saveSignals(tx, { ...addToSignals(before, repayment, -1), lenderCount, mostRecentSettlementAt, updatedAt: now })
    if (outcome === 'DEFAULT') await store.addDefaults(tx, merchantId, dayNumberOf(datedAt), -1)
    setDifference(differenceIn(repayment, { ...repayment, reversedAt: now }))
    return repaymentView(repayment, reversal)
  })
}

/** Lists repayments, including reversed ones, newest first. */
export async function listRepayments(
  { repaymentStore: store }: RepaymentDeps,
  filter: RepaymentFilter,
  slice: PageSlice,
): Promise<Page<RepaymentView>> {
  const { rows, total } = await store.list(filter, slice)
  const reversals = await store.reversalsOf(rows.filter(({ reversedAt }) => reversedAt !== null).map(({ id }) => id))
  return pageOf(
    rows.map((row) => repaymentView(row, reversals.get(row.id))),
    total,
    slice,
  )
}

/**
 * Reads the totals of a merchant without reading each repayment.
 * @param window milliseconds; counts defaults dated after `after`, up to and including `upTo`
 * @returns undefined for an id that is not a merchant's
 */
export const repaymentSignalsOf = (
  { repaymentStore }: Pick<RepaymentDeps, 'repaymentStore'>,
  merchantId: string,
  window: { readonly after: number; readonly upTo: number },
): Promise<RepaymentSignals | undefined> => repaymentStore.signals(merchantId, window)
