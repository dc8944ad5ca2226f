import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import { type AttestationDeps, listChains } from './index.ts'
import { Chains } from './model.ts'

export const chainRoutes = (deps: HttpDeps & AttestationDeps) =>
  routes(deps, 'Operations').get('/admin/operations/chains', async () => ({ data: await listChains(deps) }), {
    access: 'operator',
    response: { 200: Chains, ...errorResponses(401, 403) },
    detail: {
      operationId: 'listChains',
      summary: 'Lists chains from which attestations are read',
      description:
        'Returns the chains in `CHAINS` and others with stored attestations, by id. One process reads a chain at a time, and each process reports its own nodes.',
    },
  })
