import { apiUrl, keyWith, publicKey, secret, secretKey, setting } from '../../../settings/kinds.ts'
import type { ProcessorDefinition } from '../definition.ts'
import { stripeSupportsCurrency } from './amounts.ts'
import { stripeVersion } from './calls.ts'
import { createStripe } from './client.ts'

export const stripe = {
  fields: {
    publishableKey: { isPublic: true, description: 'publishable key' },
    secretKey: { description: 'secret key' },
    webhookSecret: { isText: true, description: 'signing secret of the webhook' },
  },
  setup: {
    dashboard: { TEST: 'https://dashboard.stripe.com/test/apikeys', LIVE: 'https://dashboard.stripe.com/apikeys' },
    keys: ['Developers', 'API keys'],
    webhook: {
      at: ['Developers', 'Webhooks'],
      // The objects that `messageOf` reads: payment intents, charges, refunds and disputes.
      events: [
        ...['amount_capturable_updated', 'canceled', 'payment_failed', 'processing', 'requires_action', 'succeeded'].map(
          (event) => `payment_intent.${event}`,
        ),
        'charge.refunded',
        ...['created', 'updated', 'closed'].map((event) => `charge.dispute.${event}`),
        ...['created', 'updated', 'failed'].map((event) => `refund.${event}`),
      ],
    },
    rights: ['Balance: Read', 'Charges and Refunds: Write', 'PaymentIntents: Write', 'PaymentMethods: Write'],
  },
  required: ['secretKey'],
  identity: ['publishableKey'],
  proof: { names: 'secretKey', why: 'Stripe rejects this key, or the key may not read the balance' },
  pageKey: 'publishableKey',
  settings: {
    STRIPE_PUBLISHABLE_KEY: setting(
      'stripePublishableKey',
      'text',
      undefined,
      'Publishable key of Stripe (`pk_…`)',
      keyWith('a Stripe publishable key', ['pk_'], publicKey),
    ),
    STRIPE_SECRET_KEY: secret(
      'stripeSecretKey',
      'text',
      'Secret or restricted key of Stripe (`sk_…`, `rk_…`), in the same mode',
      keyWith('a Stripe secret or restricted key', ['sk_', 'rk_'], secretKey),
    ),
    STRIPE_WEBHOOK_SECRET: secret(
      'stripeWebhookSecret',
      'text',
      'Signing secret of the Stripe webhook (`whsec_…`)',
      keyWith('a Stripe webhook signing secret', ['whsec_']),
    ),
    STRIPE_API_URL: setting('stripeApiUrl', 'URL', 'https://api.stripe.com', 'URL of the Stripe API', apiUrl),
  },
  supportsCurrency: stripeSupportsCurrency,
  googlePay: (key) => ({ gateway: 'stripe', parameters: { 'stripe:version': stripeVersion, 'stripe:publishableKey': key } }),
  create: createStripe,
} as const satisfies ProcessorDefinition
