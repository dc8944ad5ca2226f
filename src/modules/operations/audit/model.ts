import { t } from 'elysia'
import { dayForm, fieldsOf, Instant, nullable, oneOf, pageOf, pageQuery, text } from '../../../http/schema.ts'
import { listedMax, redacted, scannedMax } from './domain.ts'

const values = (when: string) =>
  nullable(t.Record(t.String(), t.Any(), { description: `Changed fields of the subject ${when}. Personal values are \`${redacted}\`` }))

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
        description: `True if there are more than \`total\`, which is then ${listedMax}, or if there may be, because only the newest ${scannedMax} rows of one filter were searched`,
      }),
    ),
  },
  { 'x-texts-too': ['text/csv'] },
)

const day = (description: string) => t.Optional(text(10, { ...dayForm, description }))
const filterText = (description: string) => t.Optional(text(200, { minLength: 1, description }))

export const ListAudit = t.Object({
  ...pageQuery,
  actor: filterText('Id of the person, key or command'),
  action: filterText('As `product.changed`'),
  subject: filterText('Id of the changed record'),
  shopId: filterText('Id of the shop'),
  q: t.Optional(
    text(254, {
      description:
        'A whole id of a record, shop, actor or request (`x-request-id`), the e-mail address of a merchant, staff member or operator, or the start of an action such as `product.`',
    }),
  ),
  from: day('First day, UTC'),
  to: day('Last day, UTC, inclusive'),
})

/** The length of a list page. */
const accountsMax = 100

export const ListAccounts = t.Object({
  ids: text(accountsMax * 65, {
    pattern: `^\\w{1,64}(,\\w{1,64}){0,${accountsMax - 1}}$`,
    rule: `up to ${accountsMax} ids with commas between`,
    description: `Account ids, separated by commas, at most ${accountsMax}`,
  }),
})
export const Accounts = t.Object({
  data: t.Array(t.Object({ ...fieldsOf(t.String(), 'id', 'email'), role: oneOf(['MERCHANT', 'SUPER_ADMIN']) }, { title: 'Account' })),
})
