import { t } from 'elysia'
import { AppError } from '../../../core/errors.ts'
import { csvOf } from '../../../http/csv-list-routes.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { noContent, routes } from '../../../http/routes.ts'
import { errorResponses, pageQuery } from '../../../http/schema.ts'
import { sliceOf } from '../../../lib/page.ts'
import { AddHost, HostParam, HostRecord, HostRecords, hostView } from './hosts-model.ts'
import { addHost, listHosts, removeHost, type ShopDeps, verifyHost } from './index.ts'

export const hostRoutes = (deps: HttpDeps & ShopDeps) =>
  routes(deps, 'Shops')
    .get(
      '/shops/v2/hosts',
      async ({ query, shop }) => {
        const { data, ...page } = await listHosts(deps, shop, sliceOf(query))
        return { data: data.map(hostView), ...page }
      },
      {
        access: 'merchant',
        csv: csvOf('hosts', HostRecords, async ({ shop }, slice) => ({ data: (await listHosts(deps, shop, slice)).data.map(hostView) }), {
          keyOf: ({ host }) => host,
        }),
        query: t.Object(pageQuery),
        response: { 200: HostRecords, ...errorResponses(401, 403, 404) },
        detail: {
          operationId: 'listShopHosts',
          summary: 'Lists host names of the storefront',
          description: 'Returns verified and unverified host names, oldest first.',
        },
      },
    )
    .post(
      '/shops/v2/hosts',
      async ({ shop, body, actor, set }) => {
        const added = await addHost(deps, { shop, actor }, body.host)
        set.status = 201
        return hostView(added)
      },
      {
        access: 'merchant',
        versioned: true,
        body: AddHost,
        response: { 201: HostRecord, ...errorResponses(401, 403, 404, 409, 413, 415) },
        detail: {
          operationId: 'createShopHost',
          summary: 'Adds a host name of the storefront',
          description:
            'The host name works once it is verified: add a DNS TXT record `txtName` with the content `txtValue`, then call `verify`. A shop has at most 20 host names. International names are stored in their `xn--` form. Several shops can add a host name, but only one can verify it.',
        },
      },
    )
    .post(
      '/shops/v2/hosts/:host/verify',
      async ({ params, shop, actor }) => {
        const wait = await deps.hostVerifyLimit.take(shop.id)
        if (wait !== undefined)
          throw new AppError('RATE_LIMITED', 'Too many verifications within one minute. Try again later', { retryAfterSeconds: wait })
        return hostView(await verifyHost(deps, { shop, actor }, params.host))
      },
      {
        access: 'merchant',
        versioned: true,
        params: HostParam,
        response: { 200: HostRecord, ...errorResponses(401, 403, 404, 409, 429) },
        detail: {
          operationId: 'verifyShopHost',
          summary: 'Verifies a host name',
          description:
            'Looks up the TXT record. The host name works as soon as the record is found; otherwise the response is 409 with what was found. Another shop that had verified the name loses it, unless its own record is also found: then the response is 409. A verified name is checked once a day and lost if the record is missing for seven days, so keep the record. Limit: ten calls a minute for a shop.',
        },
      },
    )
    .delete(
      '/shops/v2/hosts/:host',
      ({ params, shop, actor, expected, set }) => noContent(set, removeHost(deps, { shop, actor, expected }, params.host)),
      {
        access: 'merchant',
        versioned: true,
        params: HostParam,
        response: { 204: t.Void({ description: 'The host name was deleted' }), ...errorResponses(401, 403, 404) },
        detail: {
          operationId: 'deleteShopHost',
          summary: 'Deletes a host name',
          description: 'If you add it again, it has another `txtValue`.',
        },
      },
    )
