import { rangeDaysMax } from '../../../core/date-range.ts'
import { csvStream, wantsCsv } from '../../../http/csv.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import { csvTableOfSchema } from '../../../lib/csv-table.ts'
import { sliceOf } from '../../../lib/page.ts'
import { type AuditView, listedMax, scannedMax } from './domain.ts'
import { accountsOf, listAudit, searchAudit } from './index.ts'
import { Accounts, AuditRecord, AuditRecords, ListAccounts, ListAudit } from './model.ts'

const auditTable = csvTableOfSchema<AuditView>(AuditRecord)

export const auditRoutes = (deps: HttpDeps) =>
  routes(deps, 'Administration')
    .get('/admin/accounts', async ({ query: { ids } }) => ({ data: await accountsOf(deps, ids.split(',')) }), {
      access: 'superAdmin',
      query: ListAccounts,
      response: { 200: Accounts, ...errorResponses(401, 403) },
      detail: {
        summary: 'Whose accounts some ids are',
        description:
          'Who did something is told by an id, in the audit trail and of decisions: this tells the e-mail address that the account has now. Accounts of merchants, of their staff and of operators, in no order; ids of which there is none, and of anything else, are left out.',
      },
    })
    .get(
      '/admin/audit',
      async ({ query: { page, limit, ...query }, request, set }) => {
        set.headers['vary'] = 'accept'
        if (wantsCsv(request.headers)) return (await csvStream(deps, request, 'audit', auditTable, searchAudit(deps, query))) as never
        return listAudit(deps, query, sliceOf({ page, limit }))
      },
      {
        access: 'superAdmin',
        query: ListAudit,
        response: { 200: AuditRecords, ...errorResponses(401, 403, 429) },
        detail: {
          summary: 'Who did what',
          description:
            'Newest first: every change that a merchant, a key, an operator or a command made, failed logins, and limits that somebody met. `before` and `after` say what of the subject changed, without personal values and secrets. ' +
            `Filters must all hold, and what \`q\` finds is found within them; \`from\` and \`to\` are days, inclusive, and both together span ${rangeDaysMax} days at most. Up to ${listedMax} rows are counted and reached by page; as many are answered as CSV by \`accept: text/csv\`, newest first, whatever \`page\` and \`limit\` say. Of conditions that each hold for more rows than that, the newest ${scannedMax} of one of them are looked at for the others: \`totalCapped\` says so, and \`from\` and \`to\` reach older ones. \`souk audit export\` has them all.`,
        },
      },
    )
