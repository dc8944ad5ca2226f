import { apiUrl, publicKey, secret, secretKey, setting, token } from '../../../settings/kinds.ts'
import type { ProcessorDefinition } from '../definition.ts'
import { stripeSaysCurrency } from './amounts.ts'
import { stripeVersion } from './calls.ts'
import { createStripe } from './client.ts'

export const stripe = {
  fields: {
    publishableKey: { isPublic: true, description: 'what payment pages begin with' },
    secretKey: { description: 'the key of calls' },
    webhookSecret: { isText: true, description: 'what its messages are signed with' },
  },
  required: ['secretKey'],
  identity: ['publishableKey'],
  proof: { names: 'secretKey', why: 'Stripe does not know this key, or does not let it read the balance' },
  pageKey: 'publishableKey',
  settings: {
    STRIPE_PUBLISHABLE_KEY: setting('stripePublishableKey', 'text', undefined, "Stripe's key for payment pages (`pk_…`)", publicKey),
    STRIPE_SECRET_KEY: secret('stripeSecretKey', 'text', "Stripe's secret key (`sk_…`, `rk_…`); of the same mode", secretKey),
    STRIPE_WEBHOOK_SECRET: secret('stripeWebhookSecret', 'text', "What Stripe's messages are signed with (`whsec_…`)", token),
    STRIPE_API_URL: setting('stripeApiUrl', 'URL', 'https://api.stripe.com', "Where Stripe's API is", apiUrl),
  },
  supportsCurrency: stripeSaysCurrency,
  googlePay: (key) => ({ gateway: 'stripe', parameters: { 'stripe:version': stripeVersion, 'stripe:publishableKey': key } }),
  create: createStripe,
} as const satisfies ProcessorDefinition
