import { Type } from '@sinclair/typebox'
import { t } from 'elysia'
import { CountryCode, fieldsOf, Instant, maybe, notBlank, nullable, oneOf, pageOf, pageQuery, text } from '../../../http/schema.ts'
import { kybCohorts, kybDecisions, kybOrders, kybStatuses, ownersMax, shareDecimals, shareMax } from './domain.ts'

const share = `Percent of the business, with at most ${shareDecimals} decimals. The sum is at most ${shareMax}`

export const KybRecord = t.Object(
  {
    ...fieldsOf(t.String(), 'id', 'merchantId'),
    status: oneOf(kybStatuses),
    cohort: oneOf(kybCohorts, { description: 'Kind of business and its location' }),
    ...fieldsOf(t.String(), 'legalName', 'registrationNumber', 'country'),
    owners: t.Array(t.Object({ name: t.String(), share: Type.Number({ description: share }) })),
    reason: nullable(t.String({ description: 'Reason of the decision, written by the operator' })),
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
        actor: t.String({ description: 'Id of the person who did it' }),
        reason: nullable(t.String()),
      }),
      { description: 'Oldest first' },
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
  sort: t.Optional(oneOf(kybOrders, { description: 'By filing date. Default: newest first' })),
})

export const DecideKyb = t.Object({
  decision: oneOf(kybDecisions),
  reason: maybe(text(2_000, { description: 'Shown to the merchant' })),
})
