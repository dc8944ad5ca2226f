import type { Reader } from '../../../../db/engine.ts'
import { AppError, invalidField } from '../../../core/errors.ts'
import { assertVersion } from '../../../core/versions.ts'
import { type Page, type PageSlice, pageOf } from '../../../lib/page.ts'
import { audited } from '../../operations/audit/index.ts'
import { listBusinesses } from '../../shop/kyb/index.ts'
import type { Assessment } from '../credit/domain.ts'
import { assess, storeRules } from '../credit/index.ts'
import { appendEvent, nextVersionOf, noSuchApplication, type OperatorContext } from './applications.ts'
import { allowedIn, applicationDifference, type Decision, type LendingApplication, queueTotalMax } from './domain.ts'
import type { LendingDeps } from './providers.ts'
import type { QueueFilter } from './queue-store.ts'
import { type AdminApplicationView, adminApplicationView, type QueuedView, queuedView } from './view.ts'

/** Lists the review queue, earliest submission first. Drafts have no submission time and come before all others. */
export async function listQueue(
  deps: LendingDeps,
  filter: QueueFilter,
  slice: PageSlice,
): Promise<Page<QueuedView> & { totalCapped?: true }> {
  const { rows, total } = await deps.queueStore.list(filter, slice)
  const businesses = await listBusinesses(
    deps,
    rows.map(({ merchantId }) => merchantId),
  )
  const views = rows.map((row) => queuedView(row, businesses.get(row.merchantId)))
  return {
    ...pageOf(views, Math.min(total, queueTotalMax), slice),
    ...(total > queueTotalMax ? { totalCapped: true } : {}),
  }
}

/**
 * Reads an application with its documents, decisions and events.
 * @throws AppError NOT_FOUND
 */
export async function readAdminApplication(deps: LendingDeps, id: string): Promise<AdminApplicationView> {
  const application = await deps.lendingStore.find(id)
  if (!application) throw noSuchApplication()
  return loadAdminView(deps, application)
}

async function loadAdminView(
  deps: LendingDeps,
  application: LendingApplication,
  from?: Pick<Reader, 'first' | 'all' | 'select'>,
): Promise<AdminApplicationView> {
  const { merchantId } = application
  const businesses = await listBusinesses(deps, [merchantId], from)
  return adminApplicationView(await deps.lendingStore.readDetails(application, from), businesses.get(merchantId))
}

type DecisionInput = {
  readonly decision: Decision
  readonly reason: string | null
  readonly partnerExternalRef: string | null
  readonly assessment: Assessment | null
}

/**
 * Records an operator's decision. Deciding UNDER_REVIEW again keeps the status and stores the new reason or reference.
 * An assessment is computed with the current rules and stored beside the decision. It does not bind the operator.
 * @throws AppError NOT_FOUND, PRECONDITION_FAILED; INVALID for an assessment of another cohort, and as
 * `computeEnvelope` does; CONFLICT for a draft and once decided or withdrawn
 */
export function decide(deps: LendingDeps, by: OperatorContext, id: string, input: DecisionInput): Promise<AdminApplicationView> {
  const { decision, reason, partnerExternalRef, assessment } = input
  const { lendingStore, newId } = deps
  const actor = by.actor.id
  // Runs before the write, so that an invalid assessment is refused like any other invalid field.
  const assessed = assessment ? assess(assessment) : noAssessment
  return audited(deps, by, { action: actions[decision], subject: id }, async (tx, setDifference) => {
    const before = await lendingStore.find(id, tx)
    if (!before) throw noSuchApplication()
    assertVersion(by.expected, before.version)
    if (assessment && assessment.cohort !== before.cohort) throw invalidField('assessment.cohort', 'must be the cohort of the application')
    const fields = { ...nextVersionOf(deps, before), partnerExternalRef: partnerExternalRef ?? before.partnerExternalRef }
    const after =
      decision !== 'UNDER_REVIEW'
        ? await lendingStore.move(tx, id, allowedIn[decision], decision, { ...fields, reason, decidedAt: fields.updatedAt })
        : before.status === decision
          ? await lendingStore.change(tx, id, [decision], { ...fields, reason: reason ?? before.reason })
          : await lendingStore.move(tx, id, allowedIn[decision], decision, { ...fields, reason })
    if (!after) throw new AppError('CONFLICT', refusalOf(before), { code: 'invalid_transition' })
    await appendEvent(tx, deps, { type: 'DECIDED', reason, partnerExternalRef, actor, before, after })
    if (assessment) await storeRules(tx, deps)
    const decided = { id: newId('lendingDecision'), applicationId: id, decision, actor, at: fields.updatedAt }
    await lendingStore.insertDecision(tx, { ...decided, ...assessed })
    setDifference(applicationDifference(before, after))
    return loadAdminView(deps, after, tx)
  })
}

const noAssessment = { assessment: null, envelope: null, ruleVersion: null }

const actions = {
  APPROVED: 'lending.approved',
  REJECTED: 'lending.rejected',
  UNDER_REVIEW: 'lending.under_review',
} as const satisfies Record<Decision, string>

const refusalOf = ({ status }: LendingApplication): string =>
  status === 'DRAFT' ? 'The application was not submitted yet' : 'The application was already decided or withdrawn'
