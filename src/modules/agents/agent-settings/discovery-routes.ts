import { t } from 'elysia'
import { AppError } from '../../../core/errors.ts'
import { publicUrlOf } from '../../../core/public-url.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { hostOf } from '../../../http/request-url.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses, notModified } from '../../../http/schema.ts'
import { pageResponse } from '../../../http/web-page.ts'
import { sandboxHandlerPath } from '../../../lib/ucp/handlers.ts'
import { profilePathOf } from '../../../lib/ucp/profile.ts'
import { releases } from '../../../lib/ucp/releases.ts'
import { type AgentSettingsDeps, findProfile, sandboxHandlerPage, sandboxInstrumentSchema } from './index.ts'

const Document = t.Record(t.String(), t.Unknown())

/** What platforms read before they call. */
export const agentDiscoveryRoutes = (deps: HttpDeps & AgentSettingsDeps) => {
  const access = { by: 'public', while: () => deps.config.agentsEnabled } as const
  const withProfiles = releases.reduce(
    (app, release) =>
      app.get(
        profilePathOf(release),
        ({ request }) => {
          const host = hostOf(request)
          const compute = async () => {
            const profile = await findProfile(deps, host, release)
            if (!profile) throw new AppError('NOT_FOUND', 'No shop sells through agents at this address')
            return JSON.stringify(profile)
          }
          return deps.profileAnswers.respond(request, compute, host + profilePathOf(release)) as never
        },
        {
          fastRead: 'profile',
          access,
          anyQuery: true,
          response: { 200: Document, 304: notModified, ...errorResponses(404) },
          detail: {
            operationId: `getAgentProfile${release.replaceAll('-', '')}`,
            summary: `Returns the profile of a shop for agents (UCP ${release})`,
            description:
              'The host name of the request selects the shop: a verified host name of its storefront, whose server passes the request on with its `Host`. For other host names it is the shop of `AGENTS_SHOP`, otherwise the only shop with agents on. Queries are ignored.',
          },
        },
      ) as never,
    routes(deps, 'Agents'),
  )
  return withProfiles
    .get(
      sandboxHandlerPath,
      ({ request }) =>
        deps.profileAnswers.respond(
          request,
          async () => JSON.stringify(sandboxInstrumentSchema(publicUrlOf(deps))),
          sandboxHandlerPath,
        ) as never,
      {
        access,
        response: { 200: Document, 304: notModified, ...errorResponses(404) },
        detail: {
          operationId: 'getSandboxHandlerSchema',
          summary: 'Returns the JSON Schema of a test payment',
          description: 'The schema of the payment handler that shops in mode `TEST` offer to agents.',
        },
      },
    )
    .get(`${sandboxHandlerPath}/spec`, () => pageResponse(sandboxHandlerPage(), 'public, max-age=300') as never, {
      access,
      detail: { hide: true },
    })
}
