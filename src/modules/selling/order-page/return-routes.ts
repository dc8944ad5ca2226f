import { AppError } from '../../../core/errors.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import { pageResponse } from '../../../http/web-page.ts'
import type { MailDeps } from '../../messaging/mail/index.ts'
import { fieldsIn } from '../draft-order/index.ts'
import type { ReturnDeps } from '../order-return/index.ts'
import { CreateReturn, LinkParam, PublicReturnRecord } from '../order-return/model.ts'
import { orderByLink, requestReturnByForm, requestReturnByLink } from './index.ts'

const formBytesMax = 64 * 1024

/** Redirects to the order's page, so that a reload sends nothing again. Relative, as the form's action is. */
const seeOrder = (token: string) =>
  new Response(null, {
    status: 303,
    headers: { location: `../../v2/orders/public/${token}`, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
  })

/** Returns that the holder of an order's link requests: as JSON, and by the form of the order's page. */
export const linkReturnRoutes = (deps: HttpDeps & ReturnDeps & MailDeps) =>
  routes(deps, 'Orders')
    .post(
      '/v2/orders/public/:token/returns',
      ({ params: { token }, body: { lines }, once }) =>
        once(201, (write) => requestReturnByLink(deps, token, lines, write), { assertVisible: () => orderByLink(deps, token) }),
      {
        access: 'public',
        anyQuery: true,
        idempotent: true,
        params: LinkParam,
        body: CreateReturn,
        response: { 201: PublicReturnRecord, ...errorResponses(404, 409, 413, 415, 422) },
        detail: {
          operationId: 'createReturnByLink',
          summary: 'Requests a return by the link of an order',
          description:
            "For the holder of the order's link, as `POST /v2/orders/{orderId}/returns` for its customer. `returnable` of the order tells what can be returned.",
        },
      },
    )
    .post(
      '/pages/returns/:token',
      async ({ params: { token }, upload, once }) => {
        const fields = fieldsIn(await upload.bytes())
        if (!fields) throw new AppError('INVALID', 'body: must not contain a NUL character')
        const page = await requestReturnByForm(deps, token, fields, (key, work) => once(200, work, { key, recompute: async () => null }))
        return (page ? pageResponse(page) : seeOrder(token)) as never
      },
      {
        access: 'public',
        anyQuery: true,
        idempotent: true,
        params: LinkParam,
        upload: { types: ['application/x-www-form-urlencoded'], bytesMax: formBytesMax },
        detail: { hide: true },
      },
    )
