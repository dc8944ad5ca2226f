import type { Writer } from '../../../../db/engine.ts'
import { type Actor, type Change, locking } from '../../../core/command-context.ts'
import { refuseTaken } from '../../../core/conflict.ts'
import { AppError } from '../../../core/errors.ts'
import { type Page, pageOf, type Slice } from '../../../lib/page.ts'
import { differenceOf } from '../../operations/audit/domain.ts'
import { audit, audited } from '../../operations/audit/index.ts'
import {
  assertSound,
  counted,
  type Draft,
  dayNumberOf,
  isSame,
  type KeptSignals,
  keyOf,
  later,
  type Repayment,
  type RepaymentSignals,
  type RepaymentView,
  repaymentOf,
  repaymentView,
} from './domain.ts'
import type { RepaymentDeps } from './providers.ts'
import type { RepaymentFilter } from './store.ts'

type By = Pick<Change, 'actor' | 'write'>

/**
 * What became of an instalment that was to be recorded. `KNOWN` is there already and says the same, `OTHER` is there and does not;
 * `REVERSED` says what an operator has reversed.
 */
export type Recorded =
  | { readonly kind: 'RECORDED'; readonly repayment: Repayment }
  | { readonly kind: 'KNOWN' | 'OTHER' | 'REVERSED' | 'NO_MERCHANT' | 'NO_LENDER' }

export const taken = 'loanRef (body): a repayment of this lender, loan and due date is recorded already: reverse that one first'

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
 * Records instalments, inside a locking write, and what they add to their merchants' signals. Each leaves a row of the audit trail.
 * Tapes are cumulative, so that what was reversed comes again: of them it is not taken once more.
 * @param drafts sound ones; of two with one key the first counts
 * @returns what became of each, in their order
 */
export async function recordAll(
  tx: Writer,
  deps: RepaymentDeps,
  { actor, source, drafts }: { actor: Actor; source: Repayment['source']; drafts: readonly Draft[] },
): Promise<Recorded[]> {
  const { repaymentStore: store, clock, newId } = deps
  const ids = (name: 'merchantId' | 'lenderId') => new Set(drafts.map((draft) => draft[name]))
  const named = await store.known(tx, ids('merchantId'), ids('lenderId'))
  const sound = drafts.filter(({ merchantId, lenderId }) => named.has(merchantId) && named.has(lenderId))
  const now = clock.now()
  const signals = await store.lockSignals(tx, new Set(sound.map(({ merchantId }) => merchantId)), now)
  const [there, reversed] = await Promise.all([store.liveByKeys(tx, sound), source === 'IMPORT' ? store.reversedByKeys(tx, sound) : []])
  const live = new Map<string, Draft>(there)
  const wasReversed = (draft: Draft) => reversed.some((one) => keyOf(one) === keyOf(draft) && isSame(one, draft))
  const fresh: Repayment[] = []
  const results = drafts.map((draft): Recorded => {
    if (!named.has(draft.merchantId)) return { kind: 'NO_MERCHANT' }
    if (!named.has(draft.lenderId)) return { kind: 'NO_LENDER' }
    const known = live.get(keyOf(draft))
    if (known && isSame(known, draft)) return { kind: 'KNOWN' }
    if (wasReversed(draft)) return { kind: 'REVERSED' }
    if (known) return { kind: 'OTHER' }
    const repayment = repaymentOf(draft, { id: newId('repayment'), source, recordedBy: actor.id, recordedAt: now })
    live.set(keyOf(draft), draft)
    fresh.push(repayment)
    return { kind: 'RECORDED', repayment }
  })
  await count(tx, deps, fresh, signals)
  await store.insertAll(tx, fresh)
  for (const repayment of fresh)
    await audit(tx, deps, { actor, action: 'repayment.recorded', subject: repayment.id, ...differenceIn(undefined, repayment) })
  return results
}

/** Adds repayments to what is kept of their merchants, before they are there themselves. */
async function count(
  tx: Writer,
  { repaymentStore: store, clock }: RepaymentDeps,
  fresh: readonly Repayment[],
  signals: Map<string, KeptSignals>,
): Promise<void> {
  const lendersSeen = new Set<string>()
  const defaults = new Map<string, number>()
  for (const repayment of fresh) {
    const { merchantId, lenderId, outcome, datedAt, settledAt } = repayment
    const before = signals.get(merchantId)
    if (!before) throw new Error('the signals of a merchant are locked first')
    const pair = `${merchantId} ${lenderId}`
    const isNew = !lendersSeen.has(pair) && !(await store.hasLender(tx, merchantId, lenderId))
    lendersSeen.add(pair)
    signals.set(merchantId, {
      ...counted(before, repayment, 1),
      lenderCount: before.lenderCount + (isNew ? 1 : 0),
      mostRecentSettlementAt: later(before.mostRecentSettlementAt, settledAt),
      updatedAt: clock.now(),
    })
    if (outcome !== 'DEFAULT') continue
    const day = `${merchantId} ${dayNumberOf(datedAt)}`
    defaults.set(day, (defaults.get(day) ?? 0) + 1)
  }
  const changed = new Set(fresh.map(({ merchantId }) => merchantId))
  for (const kept of signals.values()) if (changed.has(kept.merchantId)) await store.saveSignals(tx, kept)
  for (const [key, more] of defaults) {
    const [merchantId = '', day = ''] = key.split(' ')
    await store.addDefaults(tx, merchantId, Number(day), more)
  }
}

/**
 * Records what became of an instalment.
 * @throws AppError INVALID for dates after now and for a merchant or lender that is not there, naming the field; CONFLICT where one of that
 *   lender, loan and due date counts already
 */
export function recordRepayment(deps: RepaymentDeps, { actor, write = deps.db.write }: By, draft: Draft): Promise<RepaymentView> {
  assertSound(draft, deps.clock.now())
  return write(async (tx) => {
    const [result] = await recordAll(tx, deps, { actor, source: 'OPERATOR', drafts: [draft] })
    switch (result?.kind) {
      case 'RECORDED':
        return repaymentView(result.repayment, undefined)
      case 'NO_MERCHANT':
        throw new AppError('INVALID', 'merchantId (body): no such merchant')
      case 'NO_LENDER':
        throw new AppError('INVALID', 'lenderId (body): no such lender')
      default:
        throw new AppError('CONFLICT', taken)
    }
  }, locking).catch(refuseTaken(taken))
}

/**
 * Undoes a repayment by an entry of its own: it stays, and counts no more, and its lender, loan and due date may be recorded anew.
 * @throws AppError NOT_FOUND; CONFLICT when it is reversed already
 */
export function reverseRepayment(deps: RepaymentDeps, by: By, id: string, reason: string): Promise<RepaymentView> {
  const { repaymentStore: store, clock, newId } = deps
  const { actor } = by
  const write: Change['write'] = (work) => (by.write ?? deps.db.write)(work, locking)
  return audited(deps, { actor, write }, { action: 'repayment.reversed', subject: id }, async (tx, tell) => {
    // Nothing of it ever changes but that it is reversed, and that is decided by the change itself.
    const found = await store.find(id, tx)
    if (!found) throw noSuchRepayment()
    const { merchantId, lenderId, outcome, datedAt, settledAt } = found
    const now = clock.now()
    const before = (await store.lockSignals(tx, new Set([merchantId]), now)).get(merchantId)
    if (!before) throw new Error('the signals of a merchant are there once they are locked')
    if (!(await store.reverse(tx, id, now))) throw new AppError('CONFLICT', 'The repayment is reversed already')
    const reversal = { id: newId('reversal'), repaymentId: id, reason, recordedBy: actor.id, recordedAt: now }
    await store.insertReversal(tx, reversal)
    const isOther = await store.hasLender(tx, merchantId, lenderId)
    const mostRecentSettlementAt =
      settledAt === before.mostRecentSettlementAt ? await store.lastSettledAt(tx, merchantId) : before.mostRecentSettlementAt
    const lenderCount = before.lenderCount - (isOther ? 0 : 1)
    await store.saveSignals(tx, { ...counted(before, found, -1), lenderCount, mostRecentSettlementAt, updatedAt: now })
    if (outcome === 'DEFAULT') await store.addDefaults(tx, merchantId, dayNumberOf(datedAt), -1)
    tell(differenceIn(found, { ...found, reversedAt: now }))
    return repaymentView(found, reversal)
  })
}

/** A page of repayments, those that were reversed among them, newest first. */
export async function listRepayments(
  { repaymentStore: store }: RepaymentDeps,
  filter: RepaymentFilter,
  slice: Slice,
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
 * What a merchant's repayments come to, without looking at each.
 * @param window in milliseconds: defaults that are dated after `after` and not after `upTo`
 * @returns undefined for whoever is no merchant
 */
export const repaymentSignalsOf = (
  { repaymentStore }: Pick<RepaymentDeps, 'repaymentStore'>,
  merchantId: string,
  window: { readonly after: number; readonly upTo: number },
): Promise<RepaymentSignals | undefined> => repaymentStore.signals(merchantId, window)
