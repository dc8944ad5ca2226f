import type { HttpDeps } from '../../../http/deps.ts'
import { importMaxMs, runImport } from '../../../http/import-request.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import { type LiveDeps, runReportedImport } from '../../messaging/live-events/index.ts'
import { ImportCustomersQuery, ImportCustomersReport } from './import-model.ts'
import { type CustomerDeps, customersStoppedError, importCustomers } from './index.ts'

const rowsMax = 100_000

export const customerImportRoutes = (deps: HttpDeps & LiveDeps & CustomerDeps) =>
  routes(deps, 'Customers').post(
    '/customer/import',
    ({ query, shop, actor, upload, request }) =>
      runImport(deps, { slot: [shop.id], request, upload }, async ({ file, bytes, signal, rest }) => {
        const dryRun = query.dryRun === 'true'
        const overwrite = query.overwrite === 'true'
        const { complete, ...report } = await runReportedImport(deps, { shopId: shop.id, kind: 'customers', dryRun, bytes }, (onProgress) =>
          importCustomers(deps, { shop, actor }, file, { dryRun, overwrite, rowsMax, signal, rest, onProgress }),
        )
        if (!complete) throw customersStoppedError({ complete, ...report })
        return report
      }),
    {
      access: 'management',
      upload: { types: ['text/csv'], bytesMax: 20 * 1024 * 1024 },
      query: ImportCustomersQuery,
      response: { 200: ImportCustomersReport, ...errorResponses(401, 403, 404, 413, 415, 429) },
      detail: {
        operationId: 'importCustomers',
        summary: 'Imports customers from a CSV file',
        description: `The request body is a CSV file of Shopify's customer export, in the current or earlier format: at most 20 MB and ${rowsMax} rows. Import larger files with \`souk import --customers\`. \`Email\` is required. \`First Name\`, \`Last Name\`, \`Phone\`, \`Accepts Email Marketing\`, \`Note\`, \`Tags\` and the columns of the default address are imported; \`notices\` lists all other columns, such as \`Total Spent\`. Invalid rows are skipped and reported; the others are stored.

Customers are matched by e-mail address, so importing a file twice changes nothing the second time. Existing customers are skipped. With \`overwrite\`, a blank cell clears a value, a missing column keeps it, and a new address is added to the address book. Nobody gets a password or an e-mail: customers claim their account with \`POST /auth/password/forgot\` or by signing up, and choose a password. An old file also contains customers who were erased since: remove them from the file.

A shop can run one import at a time; otherwise the response is 429. An import stops when the client disconnects, or after ${importMaxMs / 1_000} seconds with 503. Customers stored by then remain.`,
      },
    },
  )
