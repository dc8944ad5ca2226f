import type { HttpDeps } from '../../../http/deps.ts'
import { jsonForAMinute } from '../../../http/public-response.ts'
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
        operationId: 'getTrustFabricStats',
        summary: 'Returns trust fabric statistics',
        description:
          'Returns anonymous totals, always up to date; clients can cache them for a minute. They contain the attestations that count, of all chains that are read. To verify them, see `/v2/trust-fabric/proof`.',
      },
    })
    .get('/v2/trust-fabric/proof', async () => jsonForAMinute(JSON.stringify(await readProof(deps))) as never, {
      access: 'public',
      response: { 200: ProofRecord, ...errorResponses() },
      detail: {
        operationId: 'getTrustFabricProof',
        summary: 'Returns the proof of the attestation counts',
        description:
          'Returns, for each chain that is read, the contract, the schemas and the last counted block; the hash of the registry of grants, which operators export with `souk chain registry`; and the rule in words. `souk chain verify` repeats the count from the registry and the chain alone.',
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
        operationId: 'createPlatformWallet',
        summary: 'Creates a platform wallet',
        description:
          'Attestations of schemas A and C by the wallet count from `from` until `to`. Blocks that were read before are reread. The response is 409 if the address belongs to another wallet at that time.',
      },
    })
    .get('/admin/platform-wallets', ({ query }) => listPlatformWallets(deps, sliceOf(query)), {
      access: 'superAdmin',
      query: ListPlatformWallets,
      response: { 200: PlatformWallets, ...errorResponses(401, 403) },
      detail: { operationId: 'listPlatformWallets', summary: 'Lists platform wallets', description: 'Returns wallets, newest first.' },
    })
    .get('/admin/platform-wallets/:id', ({ params }) => readPlatformWallet(deps, params.id), {
      access: 'superAdmin',
      versioned: true,
      params: RecordId,
      response: { 200: PlatformWallet, ...errorResponses(401, 403, 404) },
      detail: { operationId: 'getPlatformWallet', summary: 'Returns a platform wallet' },
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
          operationId: 'updatePlatformWallet',
          summary: 'Updates a platform wallet',
          description:
            'Fields that you leave out keep their values; null clears `to`. To end a wallet, set its `to`. Attestations are recounted in the same transaction.',
        },
      },
    )
