/** Compares the requests of our client with those of the PayPal SDK, which has no webhooks. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import {
  CheckoutPaymentIntent,
  Client,
  Environment,
  OrdersController,
  PaymentsController,
  PaypalExperienceUserAction,
  PaypalWalletContextShippingPreference,
} from '@paypal/paypal-server-sdk'
import { createPaypal } from '../../../src/clients/processors/paypal/client.ts'
import { longTestMs } from '../../support/timeouts.ts'
import { type PaypalServer, startPaypal } from './paypal-server.ts'
import { type ApiRequest, loopbackPort } from './stand-in.ts'

setDefaultTimeout(longTestMs)

const credentials = { clientId: 'client', secret: 'secret' }
const paymentId = 'pay_01'
const refundId = 'ref_01'
const prefer = 'return=representation'

/** The fields of a request that must be equal. */
const comparable = ({ method, path, query, headers, body }: ApiRequest) => ({
  method,
  path,
  query: [...query],
  body: path.endsWith('/token') ? Object.fromEntries(new URLSearchParams(body)) : body === '' ? undefined : JSON.parse(body),
  authorization: headers.get('authorization'),
  // The SDK sends no content type without a body.
  contentType: body === '' ? undefined : headers.get('content-type'),
  key: headers.get('paypal-request-id'),
  prefer: headers.get('prefer'),
})

/** Returns an SDK client whose adapter sends all requests to the stand-in. The SDK has no setting for its address. */
function sdkAt({ url }: PaypalServer) {
  const adapter = async (config: { url?: string; method?: string; headers: Record<string, string>; data?: BodyInit }) => {
    const { pathname, search } = new URL(config.url ?? '')
    const headers = Object.fromEntries(Object.entries(config.headers).filter(([, value]) => typeof value === 'string'))
    const answer = await fetch(url + pathname + search, {
      method: config.method?.toUpperCase() ?? 'GET',
      headers,
      ...(config.data ? { body: config.data } : {}),
    })
    return {
      data: await answer.text(),
      status: answer.status,
      statusText: '',
      headers: Object.fromEntries(answer.headers),
      config,
      request: {},
    }
  }
  const client = new Client({
    clientCredentialsAuthCredentials: { oAuthClientId: credentials.clientId, oAuthClientSecret: credentials.secret },
    environment: Environment.Sandbox,
    unstable_httpClientOptions: { adapter },
  })
  return { orders: new OrdersController(client), payments: new PaymentsController(client) }
}

test('authorizes, captures, refunds, finds refunds, reads webhooks and voids like the official PayPal SDK', async () => {
  await using sdkServer = await startPaypal(credentials)
  await using clientServer = await startPaypal(credentials)
  const { orders, payments } = sdkAt(sdkServer)
  const paypal = createPaypal({ ...credentials, webhookId: 'WH-STANDIN', apiUrl: clientServer.url }, loopbackPort())
  const experienceContext = {
    returnUrl: 'https://shop.example/back?a=1',
    cancelUrl: 'https://shop.example/back?a=1',
    userAction: PaypalExperienceUserAction.PayNow,
    shippingPreference: PaypalWalletContextShippingPreference.NoShipping,
  }
  const unit = { amount: { currencyCode: 'USD', value: '10.00' }, customId: paymentId }
  const order = { intent: CheckoutPaymentIntent.Authorize, purchaseUnits: [unit] }
  const name = { paymentId, amount: 1000, currency: 'USD' }

  const created = await orders.createOrder({
    body: { ...order, paymentSource: { paypal: { experienceContext } } },
    paypalRequestId: paymentId,
    prefer,
  })
  const id = created.result.id ?? ''
  const { reference } = await paypal.create({ ...name, token: undefined, returnUrl: experienceContext.returnUrl })
  expect(reference).toBe(id)
  for (const server of [sdkServer, clientServer]) server.approve(id)

  await orders.getOrder({ id })
  const authorizationId = (await orders.authorizeOrder({ id, prefer })).result.purchaseUnits?.[0]?.payments?.authorizations?.[0]?.id ?? ''
  await orders.getOrder({ id })
  expect((await paypal.retrieve({ ...name, reference }))?.references).toEqual({ authorization: authorizationId })

  await orders.getOrder({ id })
  const capture = { amount: { currencyCode: 'USD', value: '10.00' }, finalCapture: true }
  const captureId =
    (
      await payments.captureAuthorizedPayment({
        authorizationId: authorizationId,
        body: capture,
        paypalRequestId: `${paymentId}-capture`,
        prefer,
      })
    ).result.id ?? ''
  const references = (await paypal.capture({ ...name, reference })).references ?? {}
  expect(references).toEqual({ authorization: authorizationId, capture: captureId })

  const back = { amount: { currencyCode: 'USD', value: '4.05' }, customId: refundId }
  const refunded =
    (await payments.refundCapturedPayment({ captureId: captureId, body: back, paypalRequestId: refundId, prefer })).result.id ?? ''
  const refund = { ...name, reference, references, refundId, amount: 405 }
  expect(await paypal.refund({ ...refund, whole: false })).toEqual({ reference: refunded, state: 'SUCCEEDED' })
  await payments.getRefund({ refundId: refunded })
  expect(await paypal.retrieveRefund({ ...refund, refundReference: refunded })).toEqual({ reference: refunded, state: 'SUCCEEDED' })
  await orders.getOrder({ id })
  expect(await paypal.retrieveRefund({ ...refund, refundReference: undefined })).toEqual({ reference: refunded, state: 'SUCCEEDED' })

  const other = { ...name, paymentId: 'pay_02' }
  const second =
    (await orders.createOrder({ body: { ...order, purchaseUnits: [{ ...unit, customId: 'pay_02' }] }, paypalRequestId: 'pay_02', prefer }))
      .result.id ?? ''
  await paypal.create({ ...other, token: undefined, returnUrl: undefined })
  for (const server of [sdkServer, clientServer]) server.approve(second)
  await orders.getOrder({ id: second })
  const secondAuthorizationId =
    (await orders.authorizeOrder({ id: second, prefer })).result.purchaseUnits?.[0]?.payments?.authorizations?.[0]?.id ?? ''
  await orders.getOrder({ id: second })
  await paypal.retrieve({ ...other, reference: second })
  await orders.getOrder({ id: second })
  await payments.voidPayment({ authorizationId: secondAuthorizationId, paypalRequestId: 'pay_02-void', prefer })
  expect(await paypal.void({ ...other, reference: second })).toMatchObject({ state: 'VOIDED' })

  // Our client reads the capture that a refund message names. The SDK has no call that verifies a message.
  await payments.getCapturedPayment({ captureId: captureId })
  const refundMessage = clientServer.events.find((event) => (event as { event_type?: string }).event_type === 'PAYMENT.CAPTURE.REFUNDED')
  expect((await paypal.readMessage(clientServer.sent(refundMessage ?? {}))).payment).toMatchObject({
    paymentId,
    references: { capture: captureId },
  })

  expect(clientServer.requests.filter(({ path }) => !path.includes('verify')).map(comparable)).toEqual(sdkServer.requests.map(comparable))
  expect(sdkServer.requests.length).toBe(17)
  const posts = clientServer.requests.filter(({ method, path }) => method === 'POST' && !path.endsWith('/token'))
  expect(new Set(posts.map(({ headers }) => headers.get('content-type')))).toEqual(new Set(['application/json']))
})
