import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import { changeIsolation, listBreakers, listPartnerships, type PaymentMethodDeps, setPartnerships } from './index.ts'
import { BreakerRecord, BreakerRecords, ChangeBreaker, Partnerships, ProcessorParam } from './model.ts'

export const paymentMethodAdminRoutes = (deps: HttpDeps & PaymentMethodDeps) =>
  routes(deps, 'Administration')
    .get('/admin/partnerships', () => listPartnerships(deps), {
      access: 'superAdmin',
      versioned: true,
      response: { 200: Partnerships, ...errorResponses(401, 403) },
      detail: { summary: 'Partnerships', description: 'Shops for which an operator has chosen the card processor, all of them.' },
    })
    .put('/admin/partnerships', ({ body, actor, expected }) => setPartnerships(deps, { actor, expected }, body.data), {
      access: 'superAdmin',
      largeJson: true,
      versioned: true,
      body: Partnerships,
      response: { 200: Partnerships, ...errorResponses(401, 403, 413, 415) },
      detail: {
        summary: 'Replace the partnerships',
        description:
          'As a whole. Their card processor is the second one that the resolver looks at, after the one that a shop has chosen itself. A shop belongs to one partnership at most; one that there is not is 400.',
      },
    })
    .get('/admin/operations/breakers', async () => ({ data: await listBreakers(deps) }), {
      access: 'operator',
      response: { 200: BreakerRecords, ...errorResponses(401, 403) },
      detail: {
        summary: 'Circuit breakers of the payment processors',
        description:
          'Of each processor and host, as the process that answers sees them. Five failures in a row (time-outs, the network, 5xx) open one; after 30 seconds a probe in the background closes it, or doubles the pause up to ten minutes. An isolation by hand holds in every process.',
      },
    })
    .post(
      '/admin/operations/breakers/:processor',
      ({ params, body, actor }) => changeIsolation(deps, { actor }, params.processor, body.action),
      {
        access: 'operator',
        params: ProcessorParam,
        body: ChangeBreaker,
        response: { 200: BreakerRecord, ...errorResponses(401, 403, 404, 413, 415) },
        detail: {
          summary: 'Isolate a processor, or restore it',
          description:
            '`isolate` takes it out in every process, whatever its breakers say; `restore` takes that back, and its breakers decide again. Asked for what is so already, nothing changes.',
        },
      },
    )
