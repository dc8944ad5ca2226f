import type { HttpDeps } from '../../../http/deps.ts'
import { jsonForAMinute } from '../../../http/public-cache.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses, RecordId } from '../../../http/schema.ts'
import { sliceOf } from '../../../lib/page.ts'
import {
  changePlatformWallet,
  createPlatformWallet,
  listPlatformWallets,
  readPlatformWallet,
  readProof,
  readStats,
  type TrustDeps,
} from './index.ts'
import {
  ChangePlatformWallet,
  ListPlatformWallets,
  PlatformWallet,
  PlatformWallets,
  ProofRecord,
  StatsRecord,
  WalletBody,
} from './model.ts'

/** Public routes of the trust fabric. */
export const trustRoutes = (deps: HttpDeps & TrustDeps) =>
  routes(deps, 'Trust')
    .get('/v2/trust-fabric/stats', async () => jsonForAMinute(JSON.stringify(await readStats(deps))) as never, {
      access: 'public',
      fastRead: 'stats',
      anyQuery: true,
      response: { 200: StatsRecord, ...errorResponses() },
      detail: {
        summary: 'What the trust fabric comes to',
        description:
          'Sums, which name nobody. They are kept in the writes of what they count, so none is older than the last commit; clients may keep them for a minute. Attestations are those that count, of all chains that are read; `/v2/trust-fabric/proof` says by what they may be counted again.',
      },
    })
    .get('/v2/trust-fabric/proof', async () => jsonForAMinute(JSON.stringify(await readProof(deps))) as never, {
      access: 'public',
      response: { 200: ProofRecord, ...errorResponses() },
      detail: {
        summary: 'By what the attestations may be counted again',
        description:
          'For each chain that is read the contract, the schemas and the last block that is counted; the hash of the registry of grants, which operators export by `souk chain registry`; and the rule in words. `souk chain verify` counts again from those grants and the chain alone.',
      },
    })

/** Routes for the platform's wallets. */
export const platformWalletRoutes = (deps: HttpDeps & TrustDeps) =>
  routes(deps, 'Trust')
    .post('/admin/platform-wallets', ({ body, actor, once }) => once(201, (write) => createPlatformWallet(deps, { actor, write }, body)), {
      access: 'superAdmin',
      versioned: true,
      idempotent: true,
      body: WalletBody,
      response: { 201: PlatformWallet, ...errorResponses(401, 403, 409, 413, 415, 422) },
      detail: {
        summary: 'Register a wallet of the platform',
        description:
          'What it attests of schemas A and C counts, from `from` until `to`. Blocks that were read before are read again for it. 409 where somebody, the platform too, has a wallet of that address at that time.',
      },
    })
    .get('/admin/platform-wallets', ({ query }) => listPlatformWallets(deps, sliceOf(query)), {
      access: 'superAdmin',
      query: ListPlatformWallets,
      response: { 200: PlatformWallets, ...errorResponses(401, 403) },
      detail: { summary: "The platform's wallets", description: 'Newest first.' },
    })
    .get('/admin/platform-wallets/:id', ({ params }) => readPlatformWallet(deps, params.id), {
      access: 'superAdmin',
      versioned: true,
      params: RecordId,
      response: { 200: PlatformWallet, ...errorResponses(401, 403, 404) },
      detail: { summary: 'A wallet of the platform' },
    })
    .patch(
      '/admin/platform-wallets/:id',
      ({ params, body, actor, expected }) => changePlatformWallet(deps, { actor, expected }, params.id, body),
      {
        access: 'superAdmin',
        versioned: true,
        params: RecordId,
        body: ChangePlatformWallet,
        response: { 200: PlatformWallet, ...errorResponses(401, 403, 404, 409, 413, 415) },
        detail: {
          summary: 'Change a wallet of the platform',
          description:
            'What is left out stays; `to` may be null again. It ends by its `to`. What its address attested is counted anew in the same write.',
        },
      },
    )
