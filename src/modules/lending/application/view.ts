import { isoTimes, pick } from '../../../lib/objects.ts'
import { usdOf } from '../../../lib/usd.ts'
import type { Business } from '../../shop/kyb/domain.ts'
import type { LendingApplication, LendingDecision, LendingDocument, LendingEvent } from './domain.ts'

/** An application as the queue reads it, without the documentation, which may be long. */
export type QueuedApplication = Omit<LendingApplication, 'documentationCompleted' | 'queuedAt'>

const fields = (application: QueuedApplication) => ({
  ...pick(application, 'id', 'merchantId', 'cohort', 'tier', 'status'),
  requestedAmountUsd: application.requestedAmountUsd === null ? null : usdOf(application.requestedAmountUsd),
  ...pick(application, 'requestedTermMonths', 'purposeCode', 'selectedTier1Partner', 'selectedTier2Partner'),
})
const ending = (application: QueuedApplication) => ({
  ...pick(application, 'reason', 'partnerExternalRef'),
  ...isoTimes(pick(application, 'submittedAt', 'decidedAt', 'createdAt', 'updatedAt')),
})

/** Renders an application as its merchant sees it. */
export const applicationView = (application: LendingApplication) => ({
  ...fields(application),
  documentationCompleted: application.documentationCompleted,
  ...ending(application),
  version: application.version,
})
export type ApplicationView = ReturnType<typeof applicationView>

/** Renders an application in the operators' queue. */
export const queuedView = (application: QueuedApplication, business: Business | undefined) => ({
  ...fields(application),
  business: business ?? null,
  ...ending(application),
  createdBy: application.createdBy,
})
export type QueuedView = ReturnType<typeof queuedView>

/** An application with its records, each list in its order. */
export type ApplicationDetails = {
  readonly application: LendingApplication
  readonly documents: readonly LendingDocument[]
  readonly decisions: readonly LendingDecision[]
  readonly events: readonly LendingEvent[]
  /** Older decisions or events exist than those listed. */
  readonly isCapped: boolean
}

/** Renders an application as operators see it. */
export const adminApplicationView = (
  { application, documents, decisions, events, isCapped }: ApplicationDetails,
  business: Business | undefined,
) => ({
  ...applicationView(application),
  business: business ?? null,
  createdBy: application.createdBy,
  documents: documents.map((document) => ({
    ...pick(document, 'id', 'key', 'mimeType', 'size', 'originalName'),
    ...isoTimes(pick(document, 'uploadedAt')),
    uploadedBy: document.uploadedBy,
  })),
  decisions: decisions.map(({ decision, assessment, envelope, ruleVersion, actor, at }) => ({
    decision,
    assessment: assessment === null ? null : JSON.parse(assessment),
    envelope: envelope === null ? null : JSON.parse(envelope),
    ruleVersion,
    actor,
    ...isoTimes({ at }),
  })),
  events: events.map(({ type, fromStatus, toStatus, subject, actor, reason, partnerExternalRef, at }) => ({
    type,
    ...isoTimes({ at }),
    ...{ fromStatus, toStatus, subject, actor, reason, partnerExternalRef },
  })),
  ...(isCapped ? { historyCapped: true as const } : {}),
})
export type AdminApplicationView = ReturnType<typeof adminApplicationView>
