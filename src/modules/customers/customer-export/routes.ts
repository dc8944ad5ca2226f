import { streamText } from '../../../http/csv-stream.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import type { OrderDeps } from '../../selling/order/index.ts'
import { CustomerPath } from '../customer/model.ts'
import { exportCustomer } from './index.ts'
import { CustomerExport } from './model.ts'

export const customerExportRoutes = (deps: HttpDeps & OrderDeps) =>
  routes(deps, 'Customers').get(
    '/customer/:customerId/export',
    async ({ params, shop, actor, request }) => {
      const releaseSlot = deps.exportSlots.take(shop.id)
      request.signal.addEventListener('abort', releaseSlot, { once: true })
      try {
        return streamExport(deps, request, params.customerId, await exportCustomer(deps, { shop, actor }, params.customerId), releaseSlot)
      } catch (error) {
        releaseSlot()
        throw error
      }
    },
    {
      access: 'management',
      params: CustomerPath,
      response: { 200: CustomerExport, ...errorResponses(401, 403, 404, 429) },
      detail: {
        operationId: 'exportCustomer',
        summary: 'Exports the data of a customer',
        description:
          'Returns one JSON document, sent as it is read; changes made meanwhile may appear in parts of it. The export is recorded in the audit trail (`customer.exported`) before it is sent. `guestOrders` has guest orders with the same e-mail address: before you pass them on, check that the customer owns the address (`emailVerified`). If the response is cut off, it is not valid JSON; send the request again. A shop can run two exports at a time (429).',
      },
    },
  )

/**
 * Streams the export as a download. Cancelling ends the reading.
 * @param releaseSlot frees the export slot
 */
function streamExport(
  { clock, log }: Pick<HttpDeps, 'clock' | 'log'>,
  { signal }: Pick<Request, 'signal'>,
  customerId: string,
  pieces: AsyncGenerator<string, void>,
  releaseSlot: () => void,
): Response {
  const options = { clock, log, list: 'customer', signal, onEnd: releaseSlot, onLeave: () => pieces.return() }
  const body = streamText(() => pieces.next(), options)
  return new Response(body, {
    headers: {
      'content-type': 'application/json',
      'content-disposition': `attachment; filename="${customerId}.json"`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
  })
}
