import { Type } from '@sinclair/typebox'
import { t } from 'elysia'
import { fieldsOf, Instant, integer, maybe, notBlank, nullable, oneOf, pageOf, pageQuery, text } from '../../../http/schema.ts'
import { kybCohorts } from '../../shop/kyb/domain.ts'
import { AssessmentBody, EnvelopeRecord } from '../credit/model.ts'
import { documentationBytesMax, documentationDepthMax } from './documentation.ts'
import {
  decisions,
  historyMax,
  lendingStatuses,
  lendingTiers,
  purposeCodes,
  queueLimitDefault,
  queueLimitMax,
  queueTotalMax,
  requestedAmountUsdMax,
  requestedAmountUsdMin,
  requestedTermMonthsMax,
  tier1Partners,
} from './domain.ts'

const dollars = 'In US dollars, with at most two decimals'
const documentation = `The merchant's data about the documents, of any form: \`items[]\` with \`key\` and \`status\`, each key once. \`UPLOADED\` counts as submitted. At most ${documentationBytesMax / 1024} KB and ${documentationDepthMax} levels`
const reasonText = (description: string) => maybe(text(2_000, { description }))

const Fields = {
  ...fieldsOf(t.String(), 'id', 'merchantId'),
  cohort: oneOf(kybCohorts, { description: 'Of the business. It determines the required documents' }),
  tier: oneOf(lendingTiers),
  status: oneOf(lendingStatuses),
  requestedAmountUsd: nullable(Type.Number({ description: dollars })),
  requestedTermMonths: nullable(integer()),
  purposeCode: nullable(oneOf(purposeCodes)),
  selectedTier1Partner: nullable(oneOf(tier1Partners)),
  selectedTier2Partner: nullable(t.String()),
}
const Ending = {
  reason: nullable(t.String({ description: 'Of the last decision or the withdrawal' })),
  partnerExternalRef: nullable(t.String({ description: "The partner's reference" })),
  ...fieldsOf(nullable(Instant), 'submittedAt', 'decidedAt'),
  ...fieldsOf(Instant, 'createdAt', 'updatedAt'),
}
const createdBy = t.String({ description: "Id of the author: the merchant, or an operator on the merchant's behalf" })

export const LendingApplication = t.Object(
  {
    ...Fields,
    documentationCompleted: nullable(t.Record(t.String(), t.Unknown(), { description: documentation })),
    ...Ending,
  },
  { title: 'LendingApplication' },
)
export const LendingApplications = pageOf(LendingApplication)

export const ListApplications = t.Object({
  ...pageQuery,
  merchantId: t.Optional(text(64, { description: "Must be the caller's own id; another is 403" })),
})

export const CreateApplication = t.Object({
  merchantId: t.Optional(text(64, { description: 'Required for operators. A merchant can send only the own id' })),
  cohort: t.Optional(oneOf(kybCohorts, { description: 'Default: that of the KYB record. Only operators can choose another' })),
})

export const UpdateApplication = t.Object({
  requestedAmountUsd: maybe(Type.Number({ minimum: requestedAmountUsdMin, maximum: requestedAmountUsdMax, description: dollars })),
  requestedTermMonths: maybe(integer({ minimum: 1, maximum: requestedTermMonthsMax })),
  purposeCode: maybe(oneOf(purposeCodes)),
  selectedTier1Partner: maybe(oneOf(tier1Partners)),
  selectedTier2Partner: maybe(text(200, notBlank)),
  documentationCompleted: maybe(t.Record(t.String(), t.Unknown(), { description: documentation })),
})

export const WithdrawApplication = t.Object({ reason: reasonText('Read by operators') })

export const LendingChecklist = t.Object(
  {
    cohort: oneOf(kybCohorts),
    partner: t.String({ description: 'The selected partner, Tier 1 before Tier 2. Empty if there is none' }),
    items: t.Array(
      t.Object({
        key: t.String({ description: 'The same as in `documentationCompleted.items[].key`' }),
        label: t.String(),
        description: t.String(),
        required: t.Boolean(),
        acceptedMimeTypes: t.Array(t.String()),
        maxSizeMb: integer({ description: 'In units of 1,048,576 bytes' }),
      }),
    ),
  },
  { title: 'LendingChecklist' },
)

export const ListQueue = t.Object({
  status: t.Optional(oneOf(lendingStatuses, { description: 'Default: `UNDER_REVIEW`' })),
  tier: t.Optional(oneOf(lendingTiers)),
  cohort: t.Optional(oneOf(kybCohorts)),
  partner: t.Optional(text(200, { ...notBlank, description: 'Id of the Tier-1 or Tier-2 partner' })),
  page: pageQuery.page,
  limit: t.Optional(t.String({ ...pageQuery.limit, description: `Default: ${queueLimitDefault}. Clamped to 1 to ${queueLimitMax}` })),
})

const business = nullable(
  t.Object(fieldsOf(t.String(), 'id', 'legalName'), { description: "Of the merchant's pending or approved KYB record" }),
)

const QueuedApplication = t.Object({ ...Fields, business, ...Ending, createdBy }, { title: 'QueuedLendingApplication' })
export const LendingQueue = t.Object({
  ...pageOf(QueuedApplication).properties,
  totalCapped: t.Optional(t.Literal(true, { description: `True if there are more than \`total\`, which is then ${queueTotalMax}` })),
})

export const AdminLendingApplication = t.Object(
  {
    ...LendingApplication.properties,
    business,
    createdBy,
    documents: t.Array(
      t.Object({
        ...fieldsOf(t.String(), 'id', 'key', 'mimeType'),
        size: integer({ description: 'In bytes' }),
        originalName: nullable(t.String()),
        uploadedAt: Instant,
        uploadedBy: t.String({ description: 'Id of the uploader' }),
      }),
      { description: 'Uploaded files by key' },
    ),
    decisions: t.Array(
      t.Object({
        decision: oneOf(decisions),
        assessment: nullable(AssessmentBody),
        envelope: nullable(EnvelopeRecord),
        ruleVersion: nullable(t.String({ description: 'Version of the rules that produced the envelope' })),
        actor: t.String(),
        at: Instant,
      }),
      { description: 'Oldest first' },
    ),
    events: t.Array(
      t.Object({
        type: t.String({ description: 'For example `SUBMITTED`' }),
        at: Instant,
        fromStatus: nullable(oneOf(lendingStatuses)),
        toStatus: oneOf(lendingStatuses),
        subject: nullable(t.String({ description: 'Changed fields, or the key of a document' })),
        actor: t.String({ description: 'Id of the person who did it' }),
        ...fieldsOf(nullable(t.String()), 'reason', 'partnerExternalRef'),
      }),
      { description: 'Oldest first' },
    ),
    historyCapped: t.Optional(
      t.Literal(true, { description: `True if there are more decisions or events than the newest ${historyMax} of each` }),
    ),
  },
  { title: 'AdminLendingApplication' },
)

export const DecideApplication = t.Object({
  decision: oneOf(decisions),
  reason: reasonText('Shown to the merchant'),
  partnerExternalRef: maybe(text(200, { ...notBlank, description: "The partner's reference" })),
  assessment: maybe(AssessmentBody),
})
