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
      summary: 'Chains of which attestations are read',
      description:
        'Those that `CHAINS` names, also before anything was read of one, and those of which something is kept; by id. Of several processes one reads a chain at a time; each knows its own nodes.',
    },
  })
