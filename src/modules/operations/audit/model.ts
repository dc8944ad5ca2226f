import { t } from 'elysia'
import { dayForm, fieldsOf, Instant, nullable, oneOf, pageOf, pageQuery, text } from '../../../http/schema.ts'
import { listedMax, redacted, scannedMax } from './domain.ts'

const values = (when: string) =>
  nullable(
    t.Record(t.String(), t.Any(), { description: `What of the subject changed, as it was ${when}; personal values are \`${redacted}\`` }),
  )

export const AuditRecord = t.Object(
  {
    id: t.String(),
    at: Instant,
    ...fieldsOf(t.String(), 'actor', 'action', 'subject'),
    ...fieldsOf(nullable(t.String()), 'shopId', 'address', 'requestId'),
    before: values('before'),
    after: values('after'),
  },
  { title: 'AuditRecord' },
)
export const AuditRecords = t.Object(
  {
    ...pageOf(AuditRecord).properties,
    totalCapped: t.Optional(
      t.Literal(true, {
        description: `There are more than \`total\`, which is ${listedMax}; or there may be, where only the newest ${scannedMax} rows of one filter were looked at`,
      }),
    ),
  },
  { 'x-texts-too': ['text/csv'] },
)

const day = (description: string) => t.Optional(text(10, { ...dayForm, description }))
const filterText = (description: string) => t.Optional(text(200, { minLength: 1, description }))

export const ListAudit = t.Object({
  ...pageQuery,
  actor: filterText('The id of who did it'),
  action: filterText('As `product.changed`'),
  subject: filterText('The id of what it was done to'),
  shopId: filterText('The id of the shop in which it was done'),
  q: t.Optional(
    text(254, {
      description:
        'What to look for: an id of a record, of a shop or of whoever did it, or of a request (`x-request-id`), whole; the e-mail address of a merchant, a member of staff or an operator; or the beginning of an action, as `product.`',
    }),
  ),
  from: day('The first day, UTC'),
  to: day('The last day, UTC, inclusive'),
})

/** The length of a list page. */
const accountsMax = 100

export const ListAccounts = t.Object({
  ids: text(accountsMax * 65, {
    pattern: `^\\w{1,64}(,\\w{1,64}){0,${accountsMax - 1}}$`,
    rule: `up to ${accountsMax} ids with commas between`,
    description: `Ids of accounts, as the trail and decisions have them: up to ${accountsMax}, with commas between`,
  }),
})
export const Accounts = t.Object({
  data: t.Array(t.Object({ ...fieldsOf(t.String(), 'id', 'email'), role: oneOf(['MERCHANT', 'SUPER_ADMIN']) }, { title: 'Account' })),
})
