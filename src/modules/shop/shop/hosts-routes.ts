import { t } from 'elysia'
import { AppError } from '../../../core/errors.ts'
import { csvOf } from '../../../http/csv-list-routes.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
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
        detail: { summary: 'Host names of the storefront', description: 'Oldest first, also those that are not verified.' },
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
          summary: 'Name a host of the storefront',
          description:
            'It counts once it is verified: write a TXT record `txtName` that says `txtValue` into the DNS, and call `verify`. A shop has 20 at most. An international name is kept in its `xn--` form. Several shops may list a name; one of them has it verified.',
        },
      },
    )
    .post(
      '/shops/v2/hosts/:host/verify',
      async ({ params, shop, actor }) => {
        const wait = await deps.hostVerifyLimit.take(shop.id)
        if (wait !== undefined)
          throw new AppError('RATE_LIMITED', 'Too many verifications within a minute: try again', { retryAfterSeconds: wait })
        return hostView(await verifyHost(deps, { shop, actor }, params.host))
      },
      {
        access: 'merchant',
        versioned: true,
        params: HostParam,
        response: { 200: HostRecord, ...errorResponses(401, 403, 404, 409, 429) },
        detail: {
          summary: 'Look for the proof of a host name',
          description:
            'Asks the DNS, and the name counts as soon as its TXT record is seen; 409 says what was seen instead. Another shop that had the name verified loses it, unless its own record is there as well: then 409. A verified name is looked at again once a day, and lost when the DNS has shown no proof for seven days: leave the record where it is. Ten times a minute a shop.',
        },
      },
    )
    .delete(
      '/shops/v2/hosts/:host',
      async ({ params, shop, actor, expected, set }) => {
        await removeHost(deps, { shop, actor, expected }, params.host)
        set.status = 204
      },
      {
        access: 'merchant',
        versioned: true,
        params: HostParam,
        response: { 204: t.Void({ description: 'The shop is not found by it any more' }), ...errorResponses(401, 403, 404) },
        detail: { summary: 'Remove a host name', description: 'Added again, it has another `txtValue`.' },
      },
    )
