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
        operationId: 'listAccounts',
        summary: 'Lists accounts by id',
        description:
          'Returns the current e-mail addresses of accounts that the audit trail and decisions name by id: merchants, staff and operators, in no order. Unknown and other ids are left out.',
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
          operationId: 'listAuditRecords',
          summary: 'Lists audit records',
          description:
            'Returns records, newest first: every change by a merchant, key, operator or command, failed logins, and rate limits that were reached. `before` and `after` contain the changed fields, without personal values and secrets. ' +
            `Records must match \`q\` and all filters. \`from\` and \`to\` are inclusive days, at most ${rangeDaysMax} days apart. At most ${listedMax} rows are counted and can be reached by page; \`accept: text/csv\` returns the same number, newest first, whatever \`page\` and \`limit\` are. If several filters each match more rows, only the newest ${scannedMax} of one are searched, and the response says \`totalCapped\`; use \`from\` and \`to\` to reach older records. \`souk audit export\` exports all.`,
        },
      },
    )
