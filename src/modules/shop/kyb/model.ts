import { Type } from '@sinclair/typebox'
import { t } from 'elysia'
import { CountryCode, fieldsOf, Instant, maybe, notBlank, nullable, oneOf, pageOf, pageQuery, text } from '../../../http/schema.ts'
import { kybCohorts, kybDecisions, kybOrders, kybStatuses, ownersMax, shareDecimals, shareMax } from './domain.ts'

const share = `Percent of the business, with at most ${shareDecimals} decimals; all together at most ${shareMax}`

export const KybRecord = t.Object(
  {
    ...fieldsOf(t.String(), 'id', 'merchantId'),
    status: oneOf(kybStatuses),
    cohort: oneOf(kybCohorts, { description: 'The kind of business and where it is' }),
    ...fieldsOf(t.String(), 'legalName', 'registrationNumber', 'country'),
    owners: t.Array(t.Object({ name: t.String(), share: Type.Number({ description: share }) })),
    reason: nullable(t.String({ description: 'Of the decision, in the words of the operator' })),
    decidedAt: nullable(Instant),
    ...fieldsOf(Instant, 'createdAt', 'updatedAt'),
  },
  { title: 'KybRecord' },
)

export const AdminKybRecord = t.Object(
  {
    ...KybRecord.properties,
    events: t.Array(
      t.Object({
        type: oneOf(['FILED', ...kybDecisions]),
        at: Instant,
        actor: t.String({ description: 'The id of who did it' }),
        reason: nullable(t.String()),
      }),
      { description: 'What was done, in its order' },
    ),
  },
  { title: 'AdminKybRecord' },
)
export const AdminKybRecords = pageOf(AdminKybRecord)

export const FileKyb = t.Object({
  cohort: oneOf(kybCohorts),
  legalName: text(200, notBlank),
  registrationNumber: text(100, notBlank),
  country: CountryCode,
  owners: t.Array(
    t.Object({ name: text(200, notBlank), share: Type.Number({ exclusiveMinimum: 0, maximum: shareMax, description: share }) }),
    { minItems: 1, maxItems: ownersMax },
  ),
})

export const ListKyb = t.Object({
  ...pageQuery,
  status: t.Optional(oneOf(kybStatuses)),
  sort: t.Optional(oneOf(kybOrders, { description: 'By when they were filed; default newest first' })),
})

export const DecideKyb = t.Object({
  decision: oneOf(kybDecisions),
  reason: maybe(text(2_000, { description: 'The merchant reads it' })),
})
