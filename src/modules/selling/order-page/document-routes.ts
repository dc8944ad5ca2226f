import { t } from 'elysia'
import { AppError } from '../../../core/errors.ts'
import { canExport } from '../../../core/principal.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import { pageResponse } from '../../../http/web-page.ts'
import type { MailDeps } from '../../messaging/mail/index.ts'
import type { OrderDeps } from '../order/index.ts'
import { OrderIdParam, RefundIdParams } from '../order/model.ts'
import { creditNotes, idsOf, invoices, packingSlips } from './index.ts'
import { DocumentsQuery } from './model.ts'

const documents = { 'packing-slip': packingSlips, invoice: invoices, 'credit-note': creditNotes } as const
const page = t.String({ contentMediaType: 'text/html', description: 'The page' })

/** Documents of orders, for printing. */
export const orderDocumentRoutes = (deps: HttpDeps & OrderDeps & MailDeps) =>
  routes(deps, 'Orders')
    .get(
      '/v2/orders/:orderId/packing-slip',
      async ({ params: { orderId }, shop }) => pageResponse(await packingSlips(deps, shop.id, [orderId])) as never,
      {
        access: 'fulfilment',
        params: OrderIdParam,
        response: { 200: page, ...errorResponses(401, 403, 404, 409) },
        detail: {
          operationId: 'getPackingSlip',
          summary: 'Returns the packing slip of an order',
          description:
            "The packing slip is an HTML page in the shop's language, for printing, without prices and scripts. It lists the units that are left to send or, once nothing is left, those that were sent. The response is 409 if there are none.",
        },
      },
    )
    .get(
      '/v2/orders/:orderId/invoice',
      async ({ params: { orderId }, shop }) => pageResponse(await invoices(deps, shop.id, [orderId])) as never,
      {
        access: 'management',
        params: OrderIdParam,
        response: { 200: page, ...errorResponses(401, 403, 404, 409) },
        detail: {
          operationId: 'getInvoice',
          summary: 'Returns the invoice of an order',
          description:
            "The invoice is an HTML page for printing, without scripts. Its number is the order's. The first response fixes the seller, the buyer and the language: later changes of the shop and corrections of the order do not change it. Credit notes are listed below it. The response is 409 for an order that was never paid.",
        },
      },
    )
    .get(
      '/v2/orders/:orderId/credit-notes/:refundId',
      async ({ params: { orderId, refundId }, shop }) => pageResponse(await creditNotes(deps, shop.id, [orderId], refundId)) as never,
      {
        access: 'management',
        params: RefundIdParams,
        response: { 200: page, ...errorResponses(401, 403, 404, 409) },
        detail: {
          operationId: 'getCreditNote',
          summary: 'Returns the credit note of a refund',
          description:
            'A refund draws the next number of the shop when it succeeds. Test orders have numbers of their own. The credit note names its invoice, shows the same parties and splits the refund into net amounts and tax by rate. The response is 409 for a refund that has not succeeded, of zero, or of money that was never invoiced.',
        },
      },
    )
    .get(
      '/v2/orders/documents',
      async ({ query: { ids, type = 'packing-slip' }, principal, shop }) => {
        if (type !== 'packing-slip' && !canExport(principal))
          throw new AppError('FORBIDDEN', 'This requires the OWNER or MANAGER role in the shop')
        return pageResponse(await documents[type](deps, shop.id, idsOf(ids))) as never
      },
      {
        access: 'fulfilment',
        query: DocumentsQuery,
        response: { 200: page, ...errorResponses(401, 403, 404, 409) },
        detail: {
          operationId: 'getOrderDocuments',
          summary: 'Returns documents of several orders in one page',
          description:
            'Returns the documents of up to 100 orders as one HTML page for printing: each document starts a new sheet, in the order of `ids`. If one of them cannot be printed, the response is 404 or 409 and names the order. Orders without credit notes are left out, unless none has any.',
        },
      },
    )
