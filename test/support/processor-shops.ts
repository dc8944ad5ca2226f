/** A shop that takes payments through one of the six processors, each with a stand-in server. */
import { startBtcpayServer } from '../clients/processors/btcpay-server.ts'
import { checkoutKeys, startCheckoutServer } from '../clients/processors/checkout-server.ts'
import { startPaypal } from '../clients/processors/paypal-server.ts'
import { startQpayServer } from '../clients/processors/qpay-server.ts'
import { startStripe } from '../clients/processors/stripe-server.ts'
import { startTapServer, tapKeys } from '../clients/processors/tap-server.ts'
import { type TestApp, type TestAppOptions, testApp } from './app.ts'
import { address, ok, sellingIn } from './selling.ts'

export const processorNames = ['stripe', 'tap', 'qpay', 'checkout', 'paypal', 'btcpay'] as const
export type ProcessorName = (typeof processorNames)[number]

type Message = { body: Uint8Array; headers: Headers }
/** Settings of a stand-in and actions on it. `reference` is the processor's name for a payment. */
type ProcessorStandIn = {
  settings: Record<string, string>
  method: string
  currency: string
  /** Pays on the processor's page. */
  pay(reference: string): void
  /** Settles pending captures and refunds, and claims refunds for shoppers. */
  settle(): void
  /** Returns whether the shopper can still pay on the page. */
  isPayable(reference: string): boolean
  /** Returns whether the payment is authorized there. */
  isHeld(reference: string): boolean
  /** Returns a signed message about a payment; undefined if the processor signs none. */
  message(reference: string): Message | undefined
  close(): Promise<void>
}

const standIns: Record<ProcessorName, (now: () => number) => Promise<ProcessorStandIn>> = {
  async stripe(now) {
    const server = await startStripe({ now })
    return {
      settings: {
        STRIPE_PUBLISHABLE_KEY: 'pk_test_standin',
        STRIPE_SECRET_KEY: 'sk_test_standin',
        STRIPE_WEBHOOK_SECRET: 'whsec_standin',
        STRIPE_API_URL: server.url,
      },
      method: 'card',
      currency: 'USD',
      pay: (reference) => server.page.pay(reference),
      settle: () => undefined,
      isPayable: (reference) => server.intents.get(reference)?.status !== 'canceled',
      isHeld: (reference) => server.intents.get(reference)?.status === 'requires_capture',
      message: () => server.sent(server.events.at(-1) ?? {}),
      close: server.close,
    }
  },
  async tap() {
    const server = await startTapServer()
    return {
      settings: {
        TAP_PUBLISHABLE_KEY: 'pk_test_standin',
        TAP_SECRET_KEY: tapKeys.secretKey,
        TAP_MERCHANT_ID: tapKeys.merchantId,
        TAP_API_URL: `${server.url}/v2`,
      },
      method: 'card',
      currency: 'KWD',
      pay: (reference) => server.pay(reference),
      settle: () => server.settleRefunds(),
      isPayable: (reference) => server.objects.get(reference)?.status === 'INITIATED',
      isHeld: (reference) => server.objects.get(reference)?.status === 'AUTHORIZED',
      message: (reference) => server.message(reference),
      close: server.close,
    }
  },
  async qpay() {
    const server = await startQpayServer({ username: 'user', password: 'password', invoiceCode: 'SOUK_INVOICE' })
    const { username, password, invoiceCode, apiUrl } = server.account
    return {
      settings: { QPAY_USERNAME: username, QPAY_PASSWORD: password, QPAY_INVOICE_CODE: invoiceCode, QPAY_API_URL: apiUrl },
      method: 'card',
      currency: 'MNT',
      pay: (reference) => void server.pay(reference, { type: 'CARD' }),
      settle: () => undefined,
      isPayable: (reference) => server.invoices.get(reference)?.canceled === false,
      isHeld: () => false,
      message: () => undefined,
      close: server.close,
    }
  },
  async checkout() {
    const server = await startCheckoutServer()
    return {
      settings: {
        CHECKOUT_PUBLISHABLE_KEY: checkoutKeys.publishableKey,
        CHECKOUT_SECRET_KEY: checkoutKeys.secretKey,
        CHECKOUT_WEBHOOK_SECRET: checkoutKeys.webhookSecret,
        CHECKOUT_CHANNEL_ID: checkoutKeys.channelId,
        CHECKOUT_API_URL: server.url,
      },
      method: 'card',
      currency: 'USD',
      pay: (reference) => void server.pay(reference),
      settle: () => server.settle(),
      isPayable: (reference) => server.sessions.has(reference),
      isHeld: () => [...server.payments.values()].some(({ status, voided }) => status === 'Authorized' && voided === 0),
      message() {
        const [payment] = [...server.payments.values()].slice(-1)
        return payment && server.message('payment_captured', payment)
      },
      close: server.close,
    }
  },
  async paypal(now) {
    const server = await startPaypal({ now })
    return {
      settings: { PAYPAL_CLIENT_ID: 'client', PAYPAL_SECRET: 'secret', PAYPAL_WEBHOOK_ID: 'WH-STANDIN', PAYPAL_API_URL: server.url },
      method: 'paypal',
      currency: 'USD',
      pay: (reference) => server.approve(reference),
      settle: () => undefined,
      isPayable: (reference) => server.orders.get(reference)?.status !== 'VOIDED',
      isHeld: (reference) => server.orders.get(reference)?.authorizations.some(({ status }) => status === 'CREATED') ?? false,
      message: () => server.sent(server.events.at(-1) ?? {}),
      close: server.close,
    }
  },
  async btcpay(now) {
    const server = await startBtcpayServer({ now, storeId: 'store', apiKey: 'key', webhookSecret: 'hook' })
    const { apiUrl, storeId, apiKey, webhookSecret } = server.account
    return {
      settings: { BTCPAY_API_URL: apiUrl, BTCPAY_STORE_ID: storeId, BTCPAY_API_KEY: apiKey, BTCPAY_WEBHOOK_SECRET: webhookSecret },
      method: 'crypto',
      currency: 'USD',
      pay: (reference) => server.pay(reference, Number(server.invoices.get(reference)?.amount)),
      settle: () => {
        for (const { id, amount, payouts } of server.claims.values()) if (payouts.length === 0) server.redeem(id, amount)
      },
      isPayable: (reference) => server.invoices.get(reference)?.status === 'New',
      isHeld: () => false,
      message: (reference) => server.message(reference, 'InvoiceSettled'),
      close: server.close,
    }
  },
}

/** Opens an app whose shop offers this processor, with the actions of its stand-in. */
export async function sellingThrough(name: ProcessorName, settings: Record<string, string> = {}, options: TestAppOptions = {}) {
  let app: TestApp | undefined
  const standIn = await standIns[name](() => app?.deps.clock.now() ?? 0)
  app = await testApp({ PUBLIC_URL: 'https://souk.example', ...standIn.settings, ...settings }, options)
  const { currency, method } = standIn
  const shop = await sellingIn(app, { currency, price: currency === 'MNT' ? 1_000_000 : 10_500 })
  if (method === 'card') {
    const body = { card: { enabled: true, processor: name } }
    ok(await app.call('PUT', '/shops/v2/payment-methods', { token: shop.token, body }))
  }
  const seller = { ...shop, app, ...standIn }
  return {
    ...seller,
    /** Starts a checkout, so that the shopper is on the payment page. */
    async begin() {
      const cartId = await shop.cart({ shippingAddress: address })
      const answer = ok(await shop.checkout(cartId, { method, returnUrl: 'https://shop.example/back' }))
      const [payment] = answer.body.order.payments
      return { cartId, ...answer.body, id: answer.body.order.id as string, reference: payment.processorReference as string }
    },
    complete: (cartId: string) => app.call('POST', `/cart/${cartId}/complete`, { key: shop.publishableKey }),
    async [Symbol.asyncDispose]() {
      await app.close()
      await standIn.close()
    },
  }
}
