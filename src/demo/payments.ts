/** Starts local servers that simulate the six payment processors, and configures the instance to use them. */
import { settings as allSettings, type Config } from '../config.ts'
import { startBtcpayServer } from './stand-ins/btcpay.ts'
import { checkoutKeys, startCheckoutServer } from './stand-ins/checkout.ts'
import { startPaypal } from './stand-ins/paypal.ts'
import { startQpayServer } from './stand-ins/qpay.ts'
import { callOnThisMachine, type Message } from './stand-ins/server.ts'
import { startStripe } from './stand-ins/stripe.ts'
import { startTapServer, tapKeys } from './stand-ins/tap.ts'

type SettingName = keyof typeof allSettings
/** The settings of one processor: its account keys, and the URL of its API. */
type SettingsHint = {
  readonly title: string
  readonly keys: Readonly<Partial<Record<SettingName, string>>>
  readonly at: Readonly<Partial<Record<SettingName, string>>>
}

export type DemoPayments = {
  /** Values by setting name. */
  readonly settings: Readonly<Record<string, string>>
  /**
   * URL prefixes that simulate the processors' components on the storefront's page. Append Stripe's `clientSecret`, or
   * the id of Checkout.com's `paymentSession`.
   */
  readonly pages: { readonly stripe: string; readonly checkout: string }
  /**
   * Adds the six demo accounts to a configuration. Leaves out processors with keys of the operator: they belong to real
   * accounts, which the demo must not use.
   */
  configured(config: Config): { readonly config: Config; readonly leftOut: readonly string[] }
  /** Sets the origin of the instance. Messages are sent from then on. */
  tellTo(origin: string): void
  close(): Promise<void>
}

/** Ids of the stand-ins count the milliseconds since this date, so that a restarted demo does not reuse ids. */
const countedFrom = Date.UTC(2026, 0, 1)

/** Starts the six servers, each on a free port of the loopback interface. Their state is in memory only. */
export async function startPayments({ now = Date.now }: { now?: () => number } = {}): Promise<DemoPayments> {
  const made = Math.max(0, now() - countedFrom)
  let origin: string | undefined
  const to = (name: string) => (message: Message) => {
    if (origin !== undefined) callOnThisMachine(`${origin}/webhooks/payments/${name}`, message)
  }
  const qpayAccount = { username: 'demo', password: 'demo', invoiceCode: 'DEMO_INVOICE' }
  const btcpayAccount = { storeId: 'demo', apiKey: 'demo', webhookSecret: 'demo' }
  const paypalAccount = { clientId: 'demo', secret: 'demo', webhookId: 'WH-DEMO' }
  const stripeAccount = { secretKey: 'sk_test_demo', webhookSecret: 'whsec_demo' }
  const [stripe, tap, qpay, checkout, paypal, btcpay] = await Promise.all([
    startStripe({ ...stripeAccount, now, made, tell: to('stripe') }),
    startTapServer({ made, refundsAtOnce: true }),
    startQpayServer({ ...qpayAccount, now, pages: true }),
    startCheckoutServer({ made, settlesAtOnce: true, tell: to('checkout') }),
    startPaypal({ ...paypalAccount, now, made, tell: to('paypal') }),
    startBtcpayServer({ ...btcpayAccount, now, tell: to('btcpay') }),
  ])
  const hints: readonly SettingsHint[] = [
    {
      title: 'Stripe',
      keys: {
        STRIPE_PUBLISHABLE_KEY: 'pk_test_demo',
        STRIPE_SECRET_KEY: stripeAccount.secretKey,
        STRIPE_WEBHOOK_SECRET: stripeAccount.webhookSecret,
      },
      at: { STRIPE_API_URL: stripe.url },
    },
    {
      title: 'Tap',
      keys: { TAP_PUBLISHABLE_KEY: tapKeys.publishableKey, TAP_SECRET_KEY: tapKeys.secretKey, TAP_MERCHANT_ID: tapKeys.merchantId },
      at: { TAP_API_URL: tap.apiUrl },
    },
    {
      title: 'QPay',
      keys: { QPAY_USERNAME: qpayAccount.username, QPAY_PASSWORD: qpayAccount.password, QPAY_INVOICE_CODE: qpayAccount.invoiceCode },
      at: { QPAY_API_URL: qpay.account.apiUrl },
    },
    {
      title: 'Checkout.com',
      keys: {
        CHECKOUT_PUBLISHABLE_KEY: checkoutKeys.publishableKey,
        CHECKOUT_SECRET_KEY: checkoutKeys.secretKey,
        CHECKOUT_WEBHOOK_SECRET: checkoutKeys.webhookSecret,
        CHECKOUT_CHANNEL_ID: checkoutKeys.channelId,
      },
      at: { CHECKOUT_API_URL: checkout.url },
    },
    {
      title: 'PayPal',
      keys: { PAYPAL_CLIENT_ID: paypalAccount.clientId, PAYPAL_SECRET: paypalAccount.secret, PAYPAL_WEBHOOK_ID: paypalAccount.webhookId },
      at: { PAYPAL_API_URL: paypal.url },
    },
    {
      title: 'BTCPay',
      keys: {
        BTCPAY_STORE_ID: btcpayAccount.storeId,
        BTCPAY_API_KEY: btcpayAccount.apiKey,
        BTCPAY_WEBHOOK_SECRET: btcpayAccount.webhookSecret,
      },
      at: { BTCPAY_API_URL: btcpay.account.apiUrl },
    },
  ]
  const servers = [stripe, tap, qpay, checkout, paypal, btcpay]
  return {
    settings: Object.assign({}, ...hints.map(({ keys, at }) => ({ ...keys, ...at }))),
    pages: { stripe: `${stripe.url}/pay/`, checkout: `${checkout.url}/pay/` },
    configured: (config) => configuredBy(hints, config),
    tellTo(url) {
      origin = url
    },
    async close() {
      await Promise.all(servers.map((server) => server.close()))
    },
  }
}

const fieldOf = (name: string): keyof Config => allSettings[name as SettingName].field

function configuredBy(hints: readonly SettingsHint[], config: Config): ReturnType<DemoPayments['configured']> {
  const isSet = (name: string) => config[fieldOf(name)] !== undefined
  const isLeftOut = ({ keys }: SettingsHint) => Object.keys(keys).some(isSet)
  const fields = hints.flatMap((one) => {
    const keyFields = Object.entries(one.keys).map(([name, value]) => [fieldOf(name), isLeftOut(one) ? undefined : value])
    return [...keyFields, ...Object.entries(one.at).map(([name, value]) => [fieldOf(name), value])]
  })
  return {
    // No public URL, because messages go to this machine. No rate source, because the demo has its own rates.
    config: Object.freeze({ ...config, publicUrl: undefined, fxRatesUrl: undefined, ...Object.fromEntries(fields) }),
    leftOut: hints.filter(isLeftOut).map(({ title }) => title),
  }
}
