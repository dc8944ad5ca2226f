import type { Reader, Writer } from '../../../../db/engine.ts'
import type { CommandContext } from '../../../core/command-context.ts'
import { AppError, fieldError, invalidField } from '../../../core/errors.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { assertVersion } from '../../../core/versions.ts'
import { type Page, type PageSlice, pageOf } from '../../../lib/page.ts'
import { isMerchant } from '../../identity/merchant/index.ts'
import { audited, type SetDifference } from '../../operations/audit/index.ts'
import type { KybCohort } from '../../shop/kyb/domain.ts'
import { approvedCohortOf } from '../../shop/kyb/index.ts'
import { type Checklist, checklistOf, missingDocuments } from './checklist.ts'
import { markUploaded, parseDocumentation } from './documentation.ts'
import {
  type ApplicationChange,
  allowedIn,
  applicationDifference,
  changesTo,
  draftsMax,
  type LendingApplication,
  type LendingEvent,
  requestedCents,
  tierOf,
} from './domain.ts'
import type { LendingDeps } from './providers.ts'
import { type ApplicationView, applicationView } from './view.ts'

/** Creates the error for a missing application. It is the same for another merchant's, so that it reveals nothing. */
export const noSuchApplication = () => new AppError('NOT_FOUND', 'No such lending application')

/** A merchant who changes their own application. `shop` is the shop of the session, for the audit trail. */
type MerchantContext = CommandContext<Pick<ShopContext, 'id' | 'merchantId'>>
export type OperatorContext = Pick<CommandContext, 'actor' | 'write' | 'expected'>

/** What the event of a change holds besides its actor and time. */
type EventDetails = Pick<LendingEvent, 'type'> & Partial<Pick<LendingEvent, 'subject' | 'reason' | 'partnerExternalRef'>>

/** Appends the event of a change in the write of the change: one event per version. */
export function appendEvent(
  tx: Writer,
  { lendingStore, newId, clock }: LendingDeps,
  { actor, before, after, ...details }: EventDetails & { actor: string; before: LendingApplication | undefined; after: LendingApplication },
): Promise<void> {
  return lendingStore.insertEvent(tx, {
    id: newId('event'),
    applicationId: after.id,
    position: after.version,
    fromStatus: before?.status ?? null,
    toStatus: after.status,
    actor,
    subject: null,
    reason: null,
    partnerExternalRef: null,
    ...details,
    at: clock.now(),
  })
}

/**
 * Creates a draft for the merchant who asks.
 * @param input `cohort` must match the approved KYB record, which is also the default
 * @throws AppError FORBIDDEN for another merchant's id or without an approved KYB record; INVALID for another cohort;
 * CONFLICT above `draftsMax`
 */
export function createApplication(
  deps: LendingDeps,
  by: MerchantContext,
  { merchantId, cohort }: { merchantId?: string | undefined; cohort?: KybCohort | undefined },
): Promise<ApplicationView> {
  const ownMerchantId = by.shop.merchantId
  if (merchantId !== undefined && merchantId !== ownMerchantId) throw fieldError('FORBIDDEN', 'merchantId', 'must be your own merchant id')
  return createDraft(deps, by, ownMerchantId, (approved) => {
    if (cohort !== undefined && cohort !== approved)
      throw invalidField('cohort', 'must be the cohort of the approved KYB record, or left out')
    return approved
  })
}

/**
 * Creates a draft for a merchant, on behalf of an operator.
 * @param input `cohort` may differ from the KYB record
 * @throws AppError NOT_FOUND for an unknown merchant; FORBIDDEN without an approved KYB record; CONFLICT above
 * `draftsMax`
 */
export async function createApplicationFor(
  deps: LendingDeps,
  by: OperatorContext,
  { merchantId, cohort }: { merchantId: string; cohort?: KybCohort | undefined },
): Promise<ApplicationView> {
  if (!(await isMerchant(deps, merchantId))) throw new AppError('NOT_FOUND', 'No such merchant')
  return createDraft(deps, by, merchantId, (approved) => cohort ?? approved)
}

function createDraft(
  deps: LendingDeps,
  by: OperatorContext & Partial<Pick<MerchantContext, 'shop'>>,
  merchantId: string,
  choose: (approved: KybCohort) => KybCohort,
): Promise<ApplicationView> {
  const id = deps.newId('lendingApplication')
  return audited(deps, by, { action: 'lending.drafted', subject: id }, async (tx, setDifference) => {
    const approved = await approvedCohortOf(deps, merchantId, tx)
    if (!approved) throw new AppError('FORBIDDEN', 'The merchant has no approved KYB record', { code: 'kyb_required' })
    const cohort = choose(approved)
    if ((await deps.lendingStore.countDrafts(tx, merchantId)) >= draftsMax)
      throw new AppError('CONFLICT', `The merchant has ${draftsMax} drafts, which is the maximum. Submit or withdraw one first`, {
        code: 'limit_reached',
      })
    const now = deps.clock.now()
    const application: LendingApplication = {
      id,
      merchantId,
      cohort,
      tier: tierOf(cohort),
      status: 'DRAFT',
      requestedAmountUsd: null,
      requestedTermMonths: null,
      purposeCode: null,
      selectedTier1Partner: null,
      selectedTier2Partner: null,
      documentationCompleted: null,
      reason: null,
      partnerExternalRef: null,
      submittedAt: null,
      decidedAt: null,
      queuedAt: 0,
      createdBy: by.actor.id,
      createdAt: now,
      updatedAt: now,
      version: 1,
    }
    await deps.lendingStore.insert(tx, application)
    await appendEvent(tx, deps, { type: 'CREATED', actor: by.actor.id, before: undefined, after: application })
    setDifference(applicationDifference(undefined, application))
    return applicationView(application)
  })
}

/**
 * Lists a merchant's applications, newest first.
 * @param requestedMerchantId must be the merchant's own id if given
 * @throws AppError FORBIDDEN
 */
export async function listApplications(
  { lendingStore }: LendingDeps,
  merchantId: string,
  requestedMerchantId: string | undefined,
  slice: PageSlice,
): Promise<Page<ApplicationView>> {
  if (requestedMerchantId !== undefined && requestedMerchantId !== merchantId)
    throw fieldError('FORBIDDEN', 'merchantId', 'must be your own merchant id')
  const { rows, total } = await lendingStore.list(merchantId, slice)
  return pageOf(rows.map(applicationView), total, slice)
}

async function requireApplication({ lendingStore }: LendingDeps, merchantId: string, id: string): Promise<LendingApplication> {
  const application = await lendingStore.findOf(merchantId, id)
  if (!application) throw noSuchApplication()
  return application
}

/**
 * Reads an application of any merchant.
 * @param from the transaction, inside a write
 */
export const findApplication = (
  { lendingStore }: Pick<LendingDeps, 'lendingStore'>,
  id: string,
  from?: Pick<Reader, 'first' | 'all'>,
): Promise<LendingApplication | undefined> => lendingStore.find(id, from)

/** @throws AppError NOT_FOUND, also for another merchant's application */
export const readApplication = async (deps: LendingDeps, merchantId: string, id: string): Promise<ApplicationView> =>
  applicationView(await requireApplication(deps, merchantId, id))

/**
 * Reads the checklist of an application.
 * @throws AppError NOT_FOUND, also for another merchant's application
 */
export const readChecklist = async (deps: LendingDeps, merchantId: string, id: string): Promise<Checklist> =>
  checklistOf(await requireApplication(deps, merchantId, id))

/**
 * Changes an application of the merchant in one audited write.
 * @param work returns the application after the change, or undefined if its status does not allow the change
 * @throws AppError NOT_FOUND, also for another merchant's; PRECONDITION_FAILED; CONFLICT with the message `refusal`
 */
function changeAsMerchant(
  deps: LendingDeps,
  by: MerchantContext,
  id: string,
  { action, refusal }: { action: string; refusal: string },
  work: (tx: Writer, before: LendingApplication, setDifference: SetDifference) => Promise<LendingApplication | undefined>,
): Promise<ApplicationView> {
  return audited(deps, by, { action, subject: id }, async (tx, setDifference) => {
    const before = await deps.lendingStore.findOf(by.shop.merchantId, id, tx)
    if (!before) throw noSuchApplication()
    assertVersion(by.expected, before.version)
    const after = await work(tx, before, setDifference)
    if (!after) throw new AppError('CONFLICT', refusal, { code: 'invalid_transition' })
    setDifference(applicationDifference(before, after))
    return applicationView(after)
  })
}

/** A merchant's changes: the amount in dollars, the documentation not yet validated. */
type UpdateInput = Partial<Omit<ApplicationChange, 'requestedAmountUsd' | 'documentationCompleted'>> & {
  readonly requestedAmountUsd?: number | null | undefined
  readonly documentationCompleted?: Record<string, unknown> | null | undefined
}

/**
 * Changes a draft. Omitted fields stay, null clears a field, and the documentation is replaced. Documents with a file
 * stay marked as uploaded.
 * @throws AppError INVALID for fractions of a cent and malformed documentation; NOT_FOUND, also for another merchant's;
 * PRECONDITION_FAILED; CONFLICT once submitted
 */
export function updateApplication(deps: LendingDeps, by: MerchantContext, id: string, input: UpdateInput): Promise<ApplicationView> {
  const { requestedAmountUsd: dollars, documentationCompleted: documentationInput, ...rest } = input
  const requestedAmountUsd = typeof dollars === 'number' ? requestedCents(dollars) : dollars
  const documentation = documentationInput ? parseDocumentation(documentationInput) : documentationInput
  const refusal = 'Only a draft can be changed'
  return changeAsMerchant(deps, by, id, { action: 'lending.changed', refusal }, async (tx, before) => {
    if (before.status !== 'DRAFT') return undefined
    const documentationCompleted =
      documentation === undefined ? undefined : markUploaded(documentation, await deps.lendingStore.uploadedKeys(id, tx))
    const changes = changesTo(before, { ...rest, requestedAmountUsd, documentationCompleted } as Partial<ApplicationChange>)
    const subject = Object.keys(changes).join(', ')
    if (subject === '') return before
    const after = await deps.lendingStore.change(tx, id, allowedIn.update, { ...changes, ...nextVersionOf(deps, before) })
    if (after) await appendEvent(tx, deps, { type: 'UPDATED', subject, actor: by.actor.id, before, after })
    return after
  })
}

/** Returns the fields that every change of an application sets. */
export const nextVersionOf = ({ clock }: Pick<LendingDeps, 'clock'>, before: LendingApplication) => ({
  updatedAt: clock.now(),
  version: before.version + 1,
})

/**
 * Submits a draft for review.
 * @throws AppError NOT_FOUND, also for another merchant's; PRECONDITION_FAILED; CONFLICT unless it is a draft;
 * INCOMPLETE with the keys of the missing documents
 */
export function submitApplication(deps: LendingDeps, by: MerchantContext, id: string): Promise<ApplicationView> {
  const refusal = 'The application was already submitted or withdrawn'
  return changeAsMerchant(deps, by, id, { action: 'lending.submitted', refusal }, async (tx, before) => {
    if (before.status !== 'DRAFT') return undefined
    const missing = missingDocuments(before)
    if (missing.length > 0) throw new AppError('INCOMPLETE', `Documents are missing: ${missing.join(', ')}`)
    const fields = nextVersionOf(deps, before)
    const { updatedAt: submittedAt } = fields
    const after = await deps.lendingStore.move(tx, id, allowedIn.submit, 'SUBMITTED', { ...fields, submittedAt, queuedAt: submittedAt })
    if (after) await appendEvent(tx, deps, { type: 'SUBMITTED', actor: by.actor.id, before, after })
    return after
  })
}

/**
 * Withdraws an application. This is final.
 * @throws AppError NOT_FOUND, also for another merchant's; PRECONDITION_FAILED; CONFLICT once decided or withdrawn
 */
export function withdrawApplication(deps: LendingDeps, by: MerchantContext, id: string, reason: string | null): Promise<ApplicationView> {
  const refusal = 'The application was already decided or withdrawn'
  return changeAsMerchant(deps, by, id, { action: 'lending.withdrawn', refusal }, async (tx, before) => {
    const after = await deps.lendingStore.move(tx, id, allowedIn.withdraw, 'WITHDRAWN', { ...nextVersionOf(deps, before), reason })
    if (after) await appendEvent(tx, deps, { type: 'WITHDRAWN', reason, actor: by.actor.id, before, after })
    return after
  })
}
