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
      ({ params, body: { method, processor, paymentToken, returnUrl }, shop, principal, request, once }) =>
        once(
          201,
          (_, attempt) => {
            const choice = { method, processor, paymentToken, returnUrl }
            return checkOut(deps, { caller: { shop, principal }, cartId: params.id, address: deps.limitKey(request), attempt, ...choice })
          },
          { sees: () => cartOf(deps, { shop, principal }, params.id) },
        ),
      {
        access: 'cart',
        idempotent: 'required',
        params: CartParam,
        body: CheckoutBody,
        response: { 201: CheckoutAnswer, ...errorResponses(401, 403, 404, 409, 413, 415, 422, 429) },
        detail: {
          summary: 'Buy a cart',
          description:
            'Makes the order, with its stock and gift cards, and takes the payment as far as it goes. 409 when the cart is not as it was seen: the message says what changed, and the cart shows it. A declined payment is 201 with `paymentStatus` FAILED: the order waits an hour and may be paid again under a new key. A payment that the processor has not decided is 201 with `paymentStatus` PENDING: it is asked again. An explicit `processor` must be one that the shop can use.',
        },
      },
    )
    .delete('/cart/:id/checkout', ({ params, shop, principal }) => cancelCheckout(deps, { shop, principal }, params.id), {
      access: 'cart',
      params: CartParam,
      response: { 200: CartRecord, ...errorResponses(401, 403, 404, 409, 413, 415) },
      detail: {
        summary: 'Take a checkout back',
        description:
          'Of an order that was not paid: what is open at the processor is given up first, then the order is CANCELLED, its stock and gift cards are free, and the cart is OPEN again with its address and e-mail. 200 too when it is open already. 409 while a payment may still succeed, or has.',
      },
    })
    .post('/cart/:id/complete', ({ params, shop, principal }) => returnFromProcessor(deps, { shop, principal }, params.id), {
      access: 'cart',
      params: CartParam,
      response: { 200: Returned, ...errorResponses(401, 403, 404, 413, 415) },
      detail: {
        summary: 'Come back from the processor',
        description:
          "For the page that a shopper returns to: asks the processor what became of the payment, takes the cart's order on and answers how it stands, without anything of the person. It may be called any number of times: the processor is asked once in two seconds.",
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
        summary: 'A message of a payment processor',
        description:
          'Signed by the processor over its raw bytes, for the account of the instance. It is kept, once however often it comes, answered at once, and worked then: what it says is asked of the processor, so that messages which come twice, late or out of order change nothing. Messages about something else are 200 and ignored; a processor that is not set up is 401, like a bad signature; 503 where the signature cannot be checked now; 429 for an address that sends many bad ones of a processor which has to be asked about each.',
      },
    })
    .post('/webhooks/payments/:processor/:shopId', ({ params: { processor, shopId }, request }) => handle(request, processor, shopId), {
      access: 'processor',
      params: ShopWebhookParams,
      response: { 200: Received, ...errorResponses(401, 413, 415, 429) },
      detail: {
        summary: "The same, for a shop's own account with the processor",
        description: 'Signed with the secret of an account that the shop has, or had. It reaches payments through that account alone.',
      },
    })
    .get('/webhooks/payments/qpay/callback/:token', ({ params: { token }, request }) => handleCall(token, request), {
      ...callback,
      detail: {
        summary: 'A call of QPay about a payment',
        description:
          'QPay signs nothing, and is given an address of its own for each payment, which nobody can guess. Of what comes with the call no more than `qpay_payment_id` is looked at, and that only where QPay did not answer when its invoice was made: QPay is asked what became of the payment. An address that is none is 404.',
      },
    })
    .post('/webhooks/payments/qpay/callback/:token', ({ params: { token }, request }) => handleCall(token, request), {
      ...callback,
      detail: { summary: 'The same, for those who post' },
    })
}
