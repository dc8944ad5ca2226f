import { windowDaysMax } from '../../core/window.ts'
import type { HttpDeps } from '../../http/deps.ts'
import { routes } from '../../http/routes.ts'
import { errorResponses } from '../../http/schema.ts'
import { sliceOf } from '../../lib/page.ts'
import { listedMax } from './domain.ts'
import { listAudit } from './index.ts'
import { AuditRecords, ListAudit } from './model.ts'

export const auditRoutes = (deps: HttpDeps) =>
  routes(deps, 'Administration').get(
    '/admin/audit',
    ({ query: { page, limit, ...query } }) => listAudit(deps, query, sliceOf({ page, limit })),
    {
      access: 'superAdmin',
      query: ListAudit,
      response: { 200: AuditRecords, ...errorResponses(401, 403) },
      detail: {
        summary: 'Who did what',
        description:
          'Newest first: every change that a merchant, a key, an operator or a command made, failed logins, and limits that somebody met. `before` and `after` say what of the subject changed, without personal values and secrets. ' +
          `Filters must all hold; \`from\` and \`to\` are days, inclusive, and both together span ${windowDaysMax} days at most. Up to ${listedMax} rows are counted and reached by page; \`souk audit export\` has them all.`,
      },
    },
  )
