import { t } from 'elysia'
import { rawBodyOf } from '../../../http/body.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import { cartOf } from '../cart/index.ts'
import { CartRecord } from '../cart/model.ts'
import { handleCallback, handleWebhook, type OrderDeps } from '../order/index.ts'
import { cancelCheckout, checkOut, returnFromProcessor } from './index.ts'
import { CallbackParam, CartParam, CheckoutAnswer, CheckoutBody, Received, Returned, ShopWebhookParams, WebhookParams } from './model.ts'

export const checkoutRoutes = (deps: HttpDeps & OrderDeps) =>
  routes(deps, 'Carts')
    .post(
      '/cart/:id/checkout',
      ({ params, body: { method, processor, paymentToken, returnUrl, manualCode }, shop, principal, request, once }) =>
        once(
          201,
          (_, attempt) => {
            const choice = { method, processor, paymentToken, returnUrl, manualCode }
            return checkOut(deps, { caller: { shop, principal }, cartId: params.id, address: deps.limitKey(request), attempt, ...choice })
          },
          { assertVisible: () => cartOf(deps, { shop, principal }, params.id) },
        ),
      {
        access: 'cart',
        idempotent: 'required',
        params: CartParam,
        body: CheckoutBody,
        response: { 201: CheckoutAnswer, ...errorResponses(401, 403, 404, 409, 413, 415, 422, 429) },
        detail: {
          operationId: 'checkOutCart',
          summary: 'Checks out a cart',
          description:
            'Creates the order, reserves its stock and gift cards, and starts the payment. The response is 409 if the cart changed since it was last shown: the message says what changed, and the cart shows the new values. If the payment is declined, the response is 201 with `paymentStatus` FAILED; the order stays for an hour and can be paid with a new idempotency key. If the processor has not decided yet, `paymentStatus` is PENDING, and souk asks the processor again. `processor` must be one that the shop can use.\n\nWith `manual` and `manualCode` the shopper pays outside souk: the order is PENDING_PAYMENT and holds its stock until the shop marks it as paid, or it expires after the days that the shop set.',
        },
      },
    )
    .delete('/cart/:id/checkout', ({ params, shop, principal }) => cancelCheckout(deps, { shop, principal }, params.id), {
      access: 'cart',
      params: CartParam,
      response: { 200: CartRecord, ...errorResponses(401, 403, 404, 409, 413, 415) },
      detail: {
        operationId: 'cancelCheckout',
        summary: 'Cancels a checkout',
        description:
          'For an unpaid order. First the payment is cancelled at the processor. Then the order is CANCELLED, its stock and gift cards are released, and the cart is OPEN again with its address and e-mail address. If the cart is open already, the response is 200. The response is 409 if a payment has succeeded or may still succeed.',
      },
    })
    .post('/cart/:id/complete', ({ params, shop, principal }) => returnFromProcessor(deps, { shop, principal }, params.id), {
      access: 'cart',
      params: CartParam,
      response: { 200: Returned, ...errorResponses(401, 403, 404, 413, 415) },
      detail: {
        operationId: 'completeCheckout',
        summary: 'Completes a checkout',
        description:
          "Call this when the shopper returns from the processor's page. It asks the processor for the status of the payment, continues the order, and returns its status without personal data. You can repeat the call; the processor is asked at most once in two seconds.",
      },
    })

export const paymentWebhookRoutes = (deps: HttpDeps & OrderDeps) => {
  const handle = async (request: Request, processor: string, shopId: string | undefined): Promise<typeof Received.static> => {
    const sender = deps.limitKey(request)
    const bad = { wait: () => deps.badMessages.wait(sender), count: () => void deps.badMessages.take(sender) }
    await handleWebhook(deps, { processor, shopId, body: rawBodyOf(request), headers: request.headers, sender, bad })
    return { received: true }
  }
  /** QPay requires exactly this response body. */
  const handleCall = async (token: string, { url }: Request) => {
    const paid = new URL(url).searchParams.get('qpay_payment_id') ?? ''
    await handleCallback(deps, token, /^[\w-]{1,64}$/.test(paid) ? paid : undefined)
    return new Response('SUCCESS', { headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' } }) as never
  }
  const callback = {
    access: 'processor',
    params: CallbackParam,
    response: { 200: t.String({ contentMediaType: 'text/plain', description: '`SUCCESS`' }), ...errorResponses(404, 413) },
  } as const

  return routes(deps, 'Webhooks')
    .post('/webhooks/payments/:processor', ({ params: { processor }, request }) => handle(request, processor, undefined), {
      access: 'processor',
      params: WebhookParams,
      response: { 200: Received, ...errorResponses(401, 413, 415, 429) },
      detail: {
        operationId: 'receiveProcessorMessage',
        summary: "Receives a payment processor's message",
        description:
          "The processor signs the raw body for the instance's account. The message is stored once, acknowledged at once and processed afterwards. souk then asks the processor for the status, so repeated, late and reordered messages do no harm. Messages about other subjects are 200 and ignored. The response is 401 for a wrong signature or a processor that is not configured, 503 if the signature cannot be verified now, and 429 for many wrong signatures from a client address, where verification needs a call to the processor.",
      },
    })
    .post('/webhooks/payments/:processor/:shopId', ({ params: { processor, shopId }, request }) => handle(request, processor, shopId), {
      access: 'processor',
      params: ShopWebhookParams,
      response: { 200: Received, ...errorResponses(401, 413, 415, 429) },
      detail: {
        operationId: 'receiveShopProcessorMessage',
        summary: "Receives a processor's message for a shop's own account",
        description: 'Signed with the secret of a current or former account of the shop. It applies only to payments of that account.',
      },
    })
    .get('/webhooks/payments/qpay/callback/:token', ({ params: { token }, request }) => handleCall(token, request), {
      ...callback,
      detail: {
        operationId: 'receiveQpayCallback',
        summary: "Receives QPay's callback about a payment",
        description:
          'QPay does not sign callbacks, so each payment has its own secret URL. souk ignores the content and asks QPay for the status of the payment. Only `qpay_payment_id` is read, and only if QPay did not respond when the invoice was created. An unknown URL is 404.',
      },
    })
    .post('/webhooks/payments/qpay/callback/:token', ({ params: { token }, request }) => handleCall(token, request), {
      ...callback,
      detail: { operationId: 'receivePostedQpayCallback', summary: "Receives QPay's callback sent by POST" },
    })
}
