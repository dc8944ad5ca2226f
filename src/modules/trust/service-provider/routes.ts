import { AppError } from '../../../core/errors.ts'
import { mediaTypeOf, parseObject, rawBodyOf } from '../../../http/body.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses, notModified, RecordId } from '../../../http/schema.ts'
import { sliceOf } from '../../../lib/page.ts'
import { recommendationLimit } from './domain.ts'
import {
  changeProvider,
  createProvider,
  ingest,
  listProviders,
  readProvider,
  recommend,
  rotateSecret,
  type ServiceProviderDeps,
} from './index.ts'
import {
  ChangeProvider,
  CreatedProvider,
  CreateProvider,
  Ingested,
  IngestionParam,
  ListProviders,
  ProviderRecord,
  Providers,
  Recommendation,
  RecommendQuery,
  RotatedSecret,
} from './model.ts'

const recommendationPath = '/v2/service-provider-routing/recommend'
const noStore = { 'cache-control': 'no-store' }

export const serviceProviderRoutes = (deps: HttpDeps & ServiceProviderDeps) =>
  routes(deps, 'Trust')
    .post(
      '/admin/service-providers',
      ({ body, actor, set, once }) => {
        Object.assign(set.headers, noStore)
        return once(201, (write) => createProvider(deps, { actor, write }, body))
      },
      {
        access: 'superAdmin',
        versioned: true,
        idempotent: true,
        body: CreateProvider,
        response: { 201: CreatedProvider, ...errorResponses(401, 403, 409, 413, 415, 422) },
        detail: {
          operationId: 'createServiceProvider',
          summary: 'Creates a service provider',
          description:
            "The status is `PENDING_REVIEW`. `webhookSecret` signs the provider's messages to `/webhooks/ingestion/{providerId}` and is returned only once. Attestations of schema D by its wallets count for the periods in which it is `ACTIVE`.",
        },
      },
    )
    .get('/admin/service-providers', ({ query: { status, ...page } }) => listProviders(deps, status, sliceOf(page)), {
      access: 'superAdmin',
      query: ListProviders,
      response: { 200: Providers, ...errorResponses(401, 403) },
      detail: {
        operationId: 'listServiceProviders',
        summary: 'Lists service providers',
        description: 'Returns providers, newest first, with the history of their status.',
      },
    })
    .get('/admin/service-providers/:id', ({ params }) => readProvider(deps, params.id), {
      access: 'superAdmin',
      versioned: true,
      params: RecordId,
      response: { 200: ProviderRecord, ...errorResponses(401, 403, 404) },
      detail: {
        operationId: 'getServiceProvider',
        summary: 'Returns a service provider',
        description: 'Its messages change its counters but not the version.',
      },
    })
    .patch(
      '/admin/service-providers/:id',
      ({ params, body, actor, expected }) => changeProvider(deps, { actor, expected }, params.id, body),
      {
        access: 'superAdmin',
        versioned: true,
        params: RecordId,
        body: ChangeProvider,
        response: { 200: ProviderRecord, ...errorResponses(401, 403, 404, 409, 413, 415) },
        detail: {
          operationId: 'updateServiceProvider',
          summary: 'Updates a service provider',
          description:
            'Fields that you leave out keep their values. The status can change `PENDING_REVIEW → ACTIVE ⇄ SUSPENDED → ARCHIVED`; any other change is 409. Setting the current status changes nothing. `wallets` replaces the whole list: wallets that you leave out are removed and no longer count. To end one, set its `to`. The response is 409 if the address belongs to someone else at that time. Attestations are recounted in the same transaction.',
        },
      },
    )
    .post(
      '/admin/service-providers/:id/webhook-secret',
      ({ params: { id }, actor, expected, set, once }) => {
        Object.assign(set.headers, noStore)
        return once(200, (write) => rotateSecret(deps, { actor, expected, write }, id), { assertVisible: () => readProvider(deps, id) })
      },
      {
        access: 'superAdmin',
        versioned: true,
        idempotent: true,
        params: RecordId,
        response: { 200: RotatedSecret, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          operationId: 'rotateServiceProviderSecret',
          summary: 'Rotates the secret of a service provider',
          description: 'The previous secret stays valid for 24 hours; older ones stop working at once.',
        },
      },
    )

/** Public routes of service providers. */
export const recommendationRoutes = (deps: HttpDeps & ServiceProviderDeps) =>
  routes(deps, 'Trust').get(
    recommendationPath,
    ({ query: { archetype = 'all', limit }, request }) =>
      deps.answers.respond(request, async () => JSON.stringify(await recommend(deps, archetype, recommendationLimit(limit)))) as never,
    {
      access: 'public',
      anyQuery: true,
      query: RecommendQuery,
      response: { 200: Recommendation, 304: notModified, ...errorResponses() },
      detail: {
        operationId: 'recommendServiceProviders',
        summary: 'Recommends service providers',
        description:
          'Returns `ACTIVE` providers, ordered by the number of accepted messages, then by the latest message (providers without one last), then by id. Nothing is routed. Other parameters are ignored.',
      },
    },
  )

/** The route to which service providers send messages. */
export const ingestionRoutes = (deps: HttpDeps & ServiceProviderDeps) =>
  routes(deps, 'Webhooks').post(
    '/webhooks/ingestion/:providerId',
    ({ params: { providerId }, request, set }) => {
      if (mediaTypeOf(request) !== 'application/json') throw new AppError('UNSUPPORTED_MEDIA', 'Send the body as application/json')
      set.status = 202
      const { headers } = request
      const signed = {
        id: headers.get('webhook-id'),
        timestamp: headers.get('webhook-timestamp'),
        signature: headers.get('webhook-signature'),
      }
      return ingest(deps, { providerId, headers: signed, body: rawBodyOf(request) }, (body) => void parseObject(body))
    },
    {
      access: 'provider',
      params: IngestionParam,
      response: { 202: Ingested, ...errorResponses(401, 403, 413, 415, 429) },
      detail: {
        operationId: 'receiveProviderMessage',
        summary: "Receives a service provider's message",
        description:
          'Signed as in Standard Webhooks: `webhook-id` (at most 255 characters), `webhook-timestamp` (in seconds, at most five minutes off) and `webhook-signature` (`v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; several are separated by spaces). The body is a JSON object of at most 64 KB; its signature is verified before it is parsed. The response is 202 once the message is stored. A message with the same id is 202 again and counts once. The response is 401, always with the same body, for a wrong signature or time, missing headers and an unknown provider, and 403 for a provider that is not active.',
      },
    },
  )
