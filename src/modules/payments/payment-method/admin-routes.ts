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
      detail: {
        operationId: 'listPartnerships',
        summary: 'Lists partnerships',
        description: 'Returns all partnerships: shops for which an operator has chosen the card processor.',
      },
    })
    .put('/admin/partnerships', ({ body, actor, expected }) => setPartnerships(deps, { actor, expected }, body.data), {
      access: 'superAdmin',
      largeJson: true,
      versioned: true,
      body: Partnerships,
      response: { 200: Partnerships, ...errorResponses(401, 403, 413, 415) },
      detail: {
        operationId: 'replacePartnerships',
        summary: 'Replaces the partnerships',
        description:
          "Replaces the whole list. The resolver uses a partnership's card processor if the shop has not chosen one itself. A shop can be in one partnership. An unknown shop is 400.",
      },
    })
    .get('/admin/operations/breakers', async () => ({ data: await listBreakers(deps) }), {
      access: 'operator',
      response: { 200: BreakerRecords, ...errorResponses(401, 403) },
      detail: {
        operationId: 'listCircuitBreakers',
        summary: 'Lists circuit breakers of payment processors',
        description:
          'Returns the state of each processor and host in the process that responds. Five failures in a row (time-outs, network errors, 5xx) open a circuit breaker. After 30 seconds, a probe in the background closes it or doubles the pause, up to ten minutes. A processor isolated by an operator is isolated in every process.',
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
          operationId: 'updateCircuitBreaker',
          summary: 'Isolates or restores a payment processor',
          description:
            '`isolate` stops the use of the processor in every process, whatever the state of its circuit breakers. `restore` ends the isolation. Repeating a call changes nothing.',
        },
      },
    )
