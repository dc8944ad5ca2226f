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

const dollars = 'US dollars, with at most two decimals'
const documentation = `What the merchant says of the documents, free in its form: \`items[]\` with \`key\` and \`status\`, each key once; \`UPLOADED\` counts as handed in. At most ${documentationBytesMax / 1024} KB and ${documentationDepthMax} levels`
const reasonText = (description: string) => maybe(text(2_000, { description }))

const Fields = {
  ...fieldsOf(t.String(), 'id', 'merchantId'),
  cohort: oneOf(kybCohorts, { description: 'Of the business: it decides which documents are asked for' }),
  tier: oneOf(lendingTiers),
  status: oneOf(lendingStatuses),
  requestedAmountUsd: nullable(Type.Number({ description: dollars })),
  requestedTermMonths: nullable(integer()),
  purposeCode: nullable(oneOf(purposeCodes)),
  selectedTier1Partner: nullable(oneOf(tier1Partners)),
  selectedTier2Partner: nullable(t.String()),
}
const Ending = {
  reason: nullable(t.String({ description: 'Of the last decision, or of the withdrawal' })),
  partnerExternalRef: nullable(t.String({ description: "The partner's own reference" })),
  ...fieldsOf(nullable(Instant), 'submittedAt', 'decidedAt'),
  ...fieldsOf(Instant, 'createdAt', 'updatedAt'),
}
const createdBy = t.String({ description: 'The id of who drafted it: the merchant, or an operator for them' })

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
  merchantId: t.Optional(text(64, { description: "The caller's own: another is 403" })),
})

export const CreateApplication = t.Object({
  merchantId: t.Optional(text(64, { description: 'For operators, of whom it is required; a merchant may send no other than their own' })),
  cohort: t.Optional(oneOf(kybCohorts, { description: 'Default that of the KYB record. A merchant may send no other; operators may' })),
})

export const UpdateApplication = t.Object({
  requestedAmountUsd: maybe(Type.Number({ minimum: requestedAmountUsdMin, maximum: requestedAmountUsdMax, description: dollars })),
  requestedTermMonths: maybe(integer({ minimum: 1, maximum: requestedTermMonthsMax })),
  purposeCode: maybe(oneOf(purposeCodes)),
  selectedTier1Partner: maybe(oneOf(tier1Partners)),
  selectedTier2Partner: maybe(text(200, notBlank)),
  documentationCompleted: maybe(t.Record(t.String(), t.Unknown(), { description: documentation })),
})

export const WithdrawApplication = t.Object({ reason: reasonText('Operators read it') })

export const LendingChecklist = t.Object(
  {
    cohort: oneOf(kybCohorts),
    partner: t.String({ description: 'The partner that is chosen, Tier 1 before Tier 2; empty when there is none' }),
    items: t.Array(
      t.Object({
        key: t.String({ description: 'As in `documentationCompleted.items[].key`' }),
        label: t.String(),
        description: t.String(),
        required: t.Boolean(),
        acceptedMimeTypes: t.Array(t.String()),
        maxSizeMb: integer({ description: 'Of 1,048,576 bytes each' }),
      }),
    ),
  },
  { title: 'LendingChecklist' },
)

export const ListQueue = t.Object({
  status: t.Optional(oneOf(lendingStatuses, { description: 'Default `UNDER_REVIEW`' })),
  tier: t.Optional(oneOf(lendingTiers)),
  cohort: t.Optional(oneOf(kybCohorts)),
  partner: t.Optional(text(200, { ...notBlank, description: 'Chosen as the Tier-1 or as the Tier-2 partner' })),
  page: pageQuery.page,
  limit: t.Optional(t.String({ ...pageQuery.limit, description: `Default ${queueLimitDefault}, clamped to 1..${queueLimitMax}` })),
})

const business = nullable(
  t.Object(fieldsOf(t.String(), 'id', 'legalName'), { description: "Of the merchant's KYB record that is pending or approved" }),
)

const QueuedApplication = t.Object({ ...Fields, business, ...Ending, createdBy }, { title: 'QueuedLendingApplication' })
export const LendingQueue = t.Object({
  ...pageOf(QueuedApplication).properties,
  totalCapped: t.Optional(t.Literal(true, { description: `There are more than \`total\`, which is ${queueTotalMax}` })),
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
        uploadedBy: t.String({ description: 'The id of who uploaded it' }),
      }),
      { description: 'The files that there are, by their keys' },
    ),
    decisions: t.Array(
      t.Object({
        decision: oneOf(decisions),
        assessment: nullable(AssessmentBody),
        envelope: nullable(EnvelopeRecord),
        ruleVersion: nullable(t.String({ description: 'Of the rules that made the envelope of the assessment' })),
        actor: t.String(),
        at: Instant,
      }),
      { description: 'In their order' },
    ),
    events: t.Array(
      t.Object({
        type: t.String({ description: 'As `SUBMITTED`' }),
        at: Instant,
        fromStatus: nullable(oneOf(lendingStatuses)),
        toStatus: oneOf(lendingStatuses),
        subject: nullable(t.String({ description: 'The fields that changed, or the key of a document' })),
        actor: t.String({ description: 'The id of who did it' }),
        ...fieldsOf(nullable(t.String()), 'reason', 'partnerExternalRef'),
      }),
      { description: 'What was done, in its order' },
    ),
    historyCapped: t.Optional(
      t.Literal(true, { description: `There are older decisions or events than the newest ${historyMax} that are shown of each` }),
    ),
  },
  { title: 'AdminLendingApplication' },
)

export const DecideApplication = t.Object({
  decision: oneOf(decisions),
  reason: reasonText('The merchant reads it'),
  partnerExternalRef: maybe(text(200, { ...notBlank, description: "The partner's own reference" })),
  assessment: maybe(AssessmentBody),
})
