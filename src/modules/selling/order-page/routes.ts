import { t } from 'elysia'
import { qualityOf } from '../../../http/csv.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import { pageResponse } from '../../../http/web-page.ts'
import type { MailDeps } from '../../messaging/mail/index.ts'
import type { ReturnDeps } from '../order-return/index.ts'
import { orderByLink, orderPage, receiptPage } from './index.ts'
import { OrderToken, PublicOrderRecord } from './model.ts'

/** Browsers ask for HTML, programs accept anything. */
function wantsPage({ headers }: Request): boolean {
  const accept = headers.get('accept') ?? '*/*'
  return qualityOf(accept, 'text/html') > qualityOf(accept, 'application/json')
}
const linkHeaders = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', 'x-robots-tag': 'noindex, nofollow', vary: 'accept' }

/** The public page of an order. */
export const orderPageRoutes = (deps: HttpDeps & ReturnDeps & MailDeps) =>
  routes(deps, 'Orders')
    .get(
      '/v2/orders/public/:token',
      async ({ params: { token }, request, set }) => {
        if (wantsPage(request)) return pageResponse(await orderPage(deps, token)) as never
        Object.assign(set.headers, linkHeaders)
        return orderByLink(deps, token)
      },
      {
        access: 'public',
        params: OrderToken,
        response: { 200: PublicOrderRecord, ...errorResponses(404) },
        detail: {
          operationId: 'getPublicOrder',
          summary: 'Returns an order by its link',
          description:
            "The link is the order's `publicUrl`, which e-mails contain unless the shop has its own page. Anyone who has the link can see the order, without street, postal code, company, phone number, e-mail address, notes and reasons. With `accept: text/html`, the response is a page in the shop's language. Expired and cancelled orders are shown as such. Any other token is 404. The response is not cached or indexed and sends no referrer, and the token is not logged.",
        },
      },
    )
    .get('/v2/orders/public/:token/receipt', async ({ params: { token } }) => pageResponse(await receiptPage(deps, token)) as never, {
      access: 'public',
      anyQuery: true,
      params: OrderToken,
      response: {
        200: t.String({ contentMediaType: 'text/html', description: 'The page' }),
        ...errorResponses(404),
      },
      detail: {
        operationId: 'getReceipt',
        summary: 'Returns the receipt of an order',
        description: "The receipt is an HTML page in the shop's language, for printing. The response is 404 if the order was never paid.",
      },
    })
