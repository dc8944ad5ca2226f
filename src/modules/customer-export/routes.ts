import type { HttpDeps } from '../../http/deps.ts'
import { routes } from '../../http/routes.ts'
import { errorResponses } from '../../http/schema.ts'
import { CustomerPath } from '../customer/model.ts'
import type { OrderDeps } from '../order/index.ts'
import { exportCustomer } from './index.ts'
import { CustomerExport } from './model.ts'

export const customerExportRoutes = (deps: HttpDeps & OrderDeps) =>
  routes(deps, 'Customers').get(
    '/customer/:customerId/export',
    async ({ params, shop, actor }) => sent(params.customerId, await exportCustomer(deps, { shop, actor }, params.customerId)),
    {
      access: 'management',
      params: CustomerPath,
      response: { 200: CustomerExport, ...errorResponses(401, 403, 404) },
      detail: {
        summary: 'All that is kept of a customer',
        description:
          'One JSON text, sent as it is read: what changes meanwhile may be in a part of it. That it was asked for is on record (`customer.exported`) before it is sent. Orders that were bought as a guest with the same e-mail address are in `guestOrders`: see that the address is theirs (`emailVerified`) before these are handed on. An answer that breaks off is no whole JSON text: ask again.',
      },
    },
  )

/** A file to be saved, read as it is sent: whoever leaves ends the reading. */
function sent(customerId: string, pieces: AsyncGenerator<string>): Response {
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await pieces.next()
          if (done) controller.close()
          else controller.enqueue(encoder.encode(value))
        } catch {
          // An answer that has begun can only break off; Bun would print any error with the source around it.
          controller.error(undefined)
        }
      },
      async cancel() {
        await pieces.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(body, {
    headers: {
      'content-type': 'application/json',
      'content-disposition': `attachment; filename="${customerId}.json"`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
  })
}
