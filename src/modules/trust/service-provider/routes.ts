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

export const recommendationPath = '/v2/service-provider-routing/recommend'
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
          summary: 'Register a service provider',
          description:
            'It begins as `PENDING_REVIEW`. `webhookSecret` signs what it sends to `/webhooks/ingestion/{providerId}` and is shown this once. What its wallets attest of schema D counts for the times in which it is `ACTIVE`.',
        },
      },
    )
    .get('/admin/service-providers', ({ query: { status, ...page } }) => listProviders(deps, status, sliceOf(page)), {
      access: 'superAdmin',
      query: ListProviders,
      response: { 200: Providers, ...errorResponses(401, 403) },
      detail: { summary: 'Service providers', description: 'Newest first, each with what it was from when on.' },
    })
    .get('/admin/service-providers/:id', ({ params }) => readProvider(deps, params.id), {
      access: 'superAdmin',
      versioned: true,
      params: RecordId,
      response: { 200: ProviderRecord, ...errorResponses(401, 403, 404) },
      detail: { summary: 'A service provider', description: 'What it sends changes its counters and no version.' },
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
          summary: 'Change a service provider',
          description:
            'What is left out stays. `PENDING_REVIEW → ACTIVE ⇄ SUSPENDED → ARCHIVED`; any other change of the status is 409. Asked for the status that it has, nothing changes. `wallets` are all of them: what is left out is taken away, and counts no more; to end one, give it a `to`. 409 where somebody else has a wallet of that address at that time. Attestations are counted anew in the same write.',
        },
      },
    )
    .post(
      '/admin/service-providers/:id/webhook-secret',
      ({ params: { id }, actor, expected, set, once }) => {
        Object.assign(set.headers, noStore)
        return once(200, (write) => rotateSecret(deps, { actor, expected, write }, id), { sees: () => readProvider(deps, id) })
      },
      {
        access: 'superAdmin',
        versioned: true,
        idempotent: true,
        params: RecordId,
        response: { 200: RotatedSecret, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          summary: 'Replace the secret of a service provider',
          description: 'The secret before it is heard for 24 hours, an older one not any more.',
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
        summary: 'Service providers worth asking',
        description:
          'Those that are `ACTIVE`, by how many of their messages were taken; of as many, who sent the last one most recently, those that sent none last, and then by id. It routes nothing. Other parameters are ignored.',
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
        summary: 'A message of a service provider',
        description:
          'Signed by Standard Webhooks: `webhook-id` (at most 255 characters), `webhook-timestamp` (seconds, five minutes off at most) and `webhook-signature` (`v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`; several with spaces between). A JSON object of at most 64 KB; its bytes are verified before they are parsed. 202 once it is stored; sent again under its id it is 202 too, and counts once. 401, with one body for all of them, for a bad signature, a bad time, missing headers and an unknown provider; 403 for one that is not active, though the signature is good.',
      },
    },
  )
