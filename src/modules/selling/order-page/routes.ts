import { t } from 'elysia'
import { qualityOf } from '../../../http/csv.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import { pageResponse } from '../../../http/web-page.ts'
import type { MailDeps } from '../../messaging/mail/index.ts'
import type { OrderDeps } from '../order/index.ts'
import { orderByLink, orderPage, receiptPage } from './index.ts'
import { OrderToken, PublicOrderRecord } from './model.ts'

/** Browsers ask for HTML, programs accept anything. */
function wantsPage({ headers }: Request): boolean {
  const accept = headers.get('accept') ?? '*/*'
  return qualityOf(accept, 'text/html') > qualityOf(accept, 'application/json')
}
const linkHeaders = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', 'x-robots-tag': 'noindex, nofollow', vary: 'accept' }

/** The public page of an order. */
export const orderPageRoutes = (deps: HttpDeps & OrderDeps & MailDeps) =>
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
          summary: 'An order by its link',
          description:
            'The link is an order’s `publicUrl`, which mails lead to unless the shop has a page of its own: whoever has it sees the order, without street, postal code, company, phone, e-mail, notes and reasons. A browser that asks for `text/html` gets a page in the language of the shop. Orders that expired or were cancelled are shown as that. Every other token is 404, also one of another instance. Nothing keeps the answer, finds it or passes the link on, and the token is in no log.',
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
        summary: 'The receipt of an order, to print',
        description: 'A page of HTML in the language of the shop. There is none (404) of an order that was never paid.',
      },
    })
