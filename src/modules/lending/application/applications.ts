import type { Reader, Writer } from '../../../../db/engine.ts'
import type { Change } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { assertExpected } from '../../../core/versions.ts'
import { type Page, pageOf, type Slice } from '../../../lib/page.ts'
import { isMerchant } from '../../identity/merchant/index.ts'
import { audited, type Tell } from '../../operations/audit/index.ts'
import type { KybCohort } from '../../shop/kyb/domain.ts'
import { approvedCohortOf } from '../../shop/kyb/index.ts'
import { type Checklist, checklistOf, missingDocuments } from './checklist.ts'
import { documentationOf, withUploaded } from './documentation.ts'
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

export const noSuchApplication = () => new AppError('NOT_FOUND', 'No such lending application')

/** A merchant who changes what is theirs. The shop is the one under which they are logged in, for the record. */
export type ByMerchant = Change<Pick<ShopContext, 'id' | 'merchantId'>>
/** An operator. */
export type ByOperator = Pick<Change, 'actor' | 'write' | 'expected'>

/** What the event of a change says besides who and when. */
type Told = Pick<LendingEvent, 'type'> & Partial<Pick<LendingEvent, 'subject' | 'reason' | 'partnerExternalRef'>>

/** Appends what became of an application, inside the write that did it: one event a version. */
export function appendEvent(
  tx: Writer,
  { lendingStore, newId, clock }: LendingDeps,
  { actor, before, after, ...told }: Told & { actor: string; before: LendingApplication | undefined; after: LendingApplication },
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
    ...told,
    at: clock.now(),
  })
}

/**
 * Drafts an application of the merchant's own.
 * @param input a cohort must be that of their KYB record, from which it is taken otherwise
 * @throws AppError FORBIDDEN for another merchant's id, and without an approved KYB record; INVALID for another cohort; CONFLICT for one
 *   draft too many
 */
export function createApplication(
  deps: LendingDeps,
  by: ByMerchant,
  { merchantId, cohort }: { merchantId?: string | undefined; cohort?: KybCohort | undefined },
): Promise<ApplicationView> {
  const own = by.shop.merchantId
  if (merchantId !== undefined && merchantId !== own) throw new AppError('FORBIDDEN', 'merchantId (body): of another merchant')
  return draft(deps, by, own, (approved) => {
    if (cohort !== undefined && cohort !== approved)
      throw new AppError('INVALID', 'cohort (body): it must be that of the approved KYB record; leave it out to have that')
    return approved
  })
}

/**
 * Drafts an application for a merchant, by an operator.
 * @param input a cohort may be another than that of the KYB record
 * @throws AppError NOT_FOUND for an unknown merchant; FORBIDDEN for one without an approved KYB record; CONFLICT for one draft too many
 */
export async function createApplicationFor(
  deps: LendingDeps,
  by: ByOperator,
  { merchantId, cohort }: { merchantId: string; cohort?: KybCohort | undefined },
): Promise<ApplicationView> {
  if (!(await isMerchant(deps, merchantId))) throw new AppError('NOT_FOUND', 'No such merchant')
  return draft(deps, by, merchantId, (approved) => cohort ?? approved)
}

function draft(
  deps: LendingDeps,
  by: ByOperator & Partial<Pick<ByMerchant, 'shop'>>,
  merchantId: string,
  choose: (approved: KybCohort) => KybCohort,
): Promise<ApplicationView> {
  const id = deps.newId('lendingApplication')
  return audited(deps, by, { action: 'lending.drafted', subject: id }, async (tx, tell) => {
    const approved = await approvedCohortOf(deps, merchantId, tx)
    if (!approved) throw new AppError('FORBIDDEN', 'The merchant has no approved KYB record')
    const cohort = choose(approved)
    if ((await deps.lendingStore.countDrafts(tx, merchantId)) >= draftsMax)
      throw new AppError('CONFLICT', `The merchant has ${draftsMax} drafts, and may have no more at a time: submit or withdraw one first`)
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
    tell(applicationDifference(undefined, application))
    return applicationView(application)
  })
}

/**
 * A page of a merchant's applications, newest first.
 * @param asked whose; the merchant's own only
 * @throws AppError FORBIDDEN
 */
export async function listApplications(
  { lendingStore }: LendingDeps,
  merchantId: string,
  asked: string | undefined,
  slice: Slice,
): Promise<Page<ApplicationView>> {
  if (asked !== undefined && asked !== merchantId) throw new AppError('FORBIDDEN', 'merchantId (query): of another merchant')
  const { rows, total } = await lendingStore.list(merchantId, slice)
  return pageOf(rows.map(applicationView), total, slice)
}

async function found({ lendingStore }: LendingDeps, merchantId: string, id: string): Promise<LendingApplication> {
  const application = await lendingStore.findOf(merchantId, id)
  if (!application) throw noSuchApplication()
  return application
}

/**
 * An application as it is stored, whosever it is.
 * @param from a transaction, inside a write
 */
export const applicationWithId = (
  { lendingStore }: Pick<LendingDeps, 'lendingStore'>,
  id: string,
  from?: Pick<Reader, 'first' | 'all'>,
): Promise<LendingApplication | undefined> => lendingStore.find(id, from)

/** @throws AppError NOT_FOUND, also for another merchant's */
export const readApplication = async (deps: LendingDeps, merchantId: string, id: string): Promise<ApplicationView> =>
  applicationView(await found(deps, merchantId, id))

/** Which documents an application asks for. @throws AppError NOT_FOUND, also for another merchant's */
export const checklist = async (deps: LendingDeps, merchantId: string, id: string): Promise<Checklist> =>
  checklistOf(await found(deps, merchantId, id))

/**
 * The write of whatever a merchant does with one of their applications.
 * @param work gets the application as it is, and says what it is after; undefined: it is in no state that allows this
 * @throws AppError NOT_FOUND, also for another merchant's; PRECONDITION_FAILED; CONFLICT, saying `refusal`
 */
export function changeOwn(
  deps: LendingDeps,
  by: ByMerchant,
  id: string,
  { action, refusal }: { action: string; refusal: string },
  work: (tx: Writer, before: LendingApplication, tell: Tell) => Promise<LendingApplication | undefined>,
): Promise<ApplicationView> {
  return audited(deps, by, { action, subject: id }, async (tx, tell) => {
    const before = await deps.lendingStore.findOf(by.shop.merchantId, id, tx)
    if (!before) throw noSuchApplication()
    assertExpected(by.expected, before.version)
    const after = await work(tx, before, tell)
    if (!after) throw new AppError('CONFLICT', refusal)
    tell(applicationDifference(before, after))
    return applicationView(after)
  })
}

/** As the merchant sends it: an amount in dollars, documents as they are said to be. */
export type UpdateInput = Partial<Omit<ApplicationChange, 'requestedAmountUsd' | 'documentationCompleted'>> & {
  readonly requestedAmountUsd?: number | null | undefined
  readonly documentationCompleted?: Record<string, unknown> | null | undefined
}

/**
 * Changes a draft: what is left out stays, null takes back. What it says of its documents is replaced whole; those that there is a file of
 * stay marked as handed in.
 * @throws AppError INVALID for fractions of a cent, and documents of a wrong form; NOT_FOUND, also for another merchant's;
 *   PRECONDITION_FAILED; CONFLICT once it is submitted
 */
export function updateApplication(deps: LendingDeps, by: ByMerchant, id: string, input: UpdateInput): Promise<ApplicationView> {
  const { requestedAmountUsd: dollars, documentationCompleted: said, ...rest } = input
  const requestedAmountUsd = typeof dollars === 'number' ? requestedCents(dollars) : dollars
  const documentation = said ? documentationOf(said) : said
  const refusal = 'Only a draft can be changed'
  return changeOwn(deps, by, id, { action: 'lending.changed', refusal }, async (tx, before) => {
    if (before.status !== 'DRAFT') return undefined
    const documentationCompleted =
      documentation === undefined ? undefined : withUploaded(documentation, await deps.lendingStore.uploadedKeys(id, tx))
    const changes = changesTo(before, { ...rest, requestedAmountUsd, documentationCompleted } as Partial<ApplicationChange>)
    const subject = Object.keys(changes).join(', ')
    if (subject === '') return before
    const after = await deps.lendingStore.change(tx, id, allowedIn.update, { ...changes, ...raised(deps, before) })
    if (after) await appendEvent(tx, deps, { type: 'UPDATED', subject, actor: by.actor.id, before, after })
    return after
  })
}

/** What every change of an application sets besides. */
export const raised = ({ clock }: Pick<LendingDeps, 'clock'>, before: LendingApplication) => ({
  updatedAt: clock.now(),
  version: before.version + 1,
})

/**
 * Hands a draft in, to be reviewed.
 * @throws AppError NOT_FOUND, also for another merchant's; PRECONDITION_FAILED; CONFLICT when it is no draft any more; INCOMPLETE, naming
 *   the documents that are missing
 */
export function submitApplication(deps: LendingDeps, by: ByMerchant, id: string): Promise<ApplicationView> {
  const refusal = 'The application was submitted before, or withdrawn'
  return changeOwn(deps, by, id, { action: 'lending.submitted', refusal }, async (tx, before) => {
    if (before.status !== 'DRAFT') return undefined
    const missing = missingDocuments(before)
    if (missing.length > 0) throw new AppError('INCOMPLETE', `Documents are missing: ${missing.join(', ')}`)
    const fields = raised(deps, before)
    const { updatedAt: submittedAt } = fields
    const after = await deps.lendingStore.move(tx, id, allowedIn.submit, 'SUBMITTED', { ...fields, submittedAt, queuedAt: submittedAt })
    if (after) await appendEvent(tx, deps, { type: 'SUBMITTED', actor: by.actor.id, before, after })
    return after
  })
}

/**
 * Takes an application back, for good.
 * @throws AppError NOT_FOUND, also for another merchant's; PRECONDITION_FAILED; CONFLICT once it is decided, or withdrawn already
 */
export function withdrawApplication(deps: LendingDeps, by: ByMerchant, id: string, reason: string | null): Promise<ApplicationView> {
  const refusal = 'The application is decided, or was withdrawn before'
  return changeOwn(deps, by, id, { action: 'lending.withdrawn', refusal }, async (tx, before) => {
    const after = await deps.lendingStore.move(tx, id, allowedIn.withdraw, 'WITHDRAWN', { ...raised(deps, before), reason })
    if (after) await appendEvent(tx, deps, { type: 'WITHDRAWN', reason, actor: by.actor.id, before, after })
    return after
  })
}
