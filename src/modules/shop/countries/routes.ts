import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import { listCountries } from './domain.ts'
import { Countries } from './model.ts'

export const countryRoutes = (deps: HttpDeps) =>
  routes(deps, 'Integration').get('/locations/countries', async () => ({ data: await listCountries() }), {
    access: 'integration',
    response: { 200: Countries, ...errorResponses(401) },
    detail: {
      operationId: 'listCountries',
      summary: 'Lists countries',
      description: 'Returns the 249 countries and territories of ISO 3166-1.',
    },
  })
