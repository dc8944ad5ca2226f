import type { HttpDeps } from '../../../http/deps.ts'
import { importMaxMs, runImport } from '../../../http/import-request.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import { uploads } from '../../../http/upload.ts'
import { type LiveDeps, runReportedImport } from '../../messaging/live-events/index.ts'
import { ImportCustomersQuery, ImportCustomersReport } from './import-model.ts'
import { type CustomerDeps, customersStoppedError, importCustomers } from './index.ts'

const rowsMax = 100_000

export const customerImportRoutes = (deps: HttpDeps & LiveDeps & CustomerDeps) =>
  routes(deps, 'Customers')
    .use(uploads(deps))
    .post(
      '/customer/import',
      ({ query, shop, actor, upload, request }) =>
        runImport(deps, { slot: [shop.id], request, upload }, async ({ file, bytes, signal, rest }) => {
          const dryRun = query.dryRun === 'true'
          const overwrite = query.overwrite === 'true'
          const { complete, ...report } = await runReportedImport(
            deps,
            { shopId: shop.id, kind: 'customers', dryRun, bytes },
            (onProgress) => importCustomers(deps, { shop, actor }, file, { dryRun, overwrite, rowsMax, signal, rest, onProgress }),
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
          summary: 'Import the customers of a Shopify CSV',
          description: `The body is the file (\`text/csv\`, at most 20 MB and ${rowsMax} rows; larger ones by the command \`souk import --customers\`) as Shopify exports customers, now and before. \`Email\` is needed; \`First Name\`, \`Last Name\`, \`Phone\`, \`Accepts Email Marketing\` and the columns of the default address are taken; all others, such as \`Note\`, \`Tags\` and \`Total Spent\`, are named in \`notices\`. A bad row is left out and named; the others are stored.

Customers are known by their e-mail address: importing again changes nothing twice. Known ones are skipped; with \`overwrite\` a blank cell clears, an absent column keeps, and an address that is not in the book is added to it. Nobody gets a password or a mail: whoever wants the account has a mail sent (\`POST /auth/password/forgot\`, or signing up) and chooses one. An old file brings back whoever was erased since it was made: take them out of it.

One import of a shop at a time: 429 meanwhile. It stops when its client leaves, and after ${importMaxMs / 1_000} seconds with 503: what was stored by then stays.`,
        },
      },
    )
