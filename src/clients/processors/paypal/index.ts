import { apiUrl, publicKey, secret, setting, token } from '../../../settings/kinds.ts'
import type { ProcessorDefinition } from '../definition.ts'
import { paypalSaysCurrency } from './amounts.ts'
import { createPaypal } from './client.ts'

export const paypal = {
  fields: {
    clientId: { isPublic: true, description: 'what payment pages begin with' },
    secret: { description: 'of its app' },
    webhookId: { description: 'of the webhook whose messages come here' },
  },
  required: ['clientId', 'secret'],
  identity: ['clientId'],
  proof: { names: 'clientId, secret', why: 'PayPal does not know these in this mode' },
  pageKey: 'clientId',
  modeIsAsked: true,
  hosts: { TEST: 'https://api-m.sandbox.paypal.com', LIVE: 'https://api-m.paypal.com' },
  settings: {
    PAYPAL_CLIENT_ID: setting('paypalClientId', 'text', undefined, 'Client id of the PayPal app, which payment pages are told', publicKey),
    PAYPAL_SECRET: secret('paypalSecret', 'text', 'Secret of the PayPal app', token),
    PAYPAL_WEBHOOK_ID: setting('paypalWebhookId', 'text', undefined, "PayPal's id of the webhook whose messages come here", token),
    PAYPAL_API_URL: setting(
      'paypalApiUrl',
      'URL',
      'https://api-m.paypal.com',
      "Where PayPal's API is; its sandbox is of mode TEST",
      apiUrl,
    ),
  },
  supportsCurrency: paypalSaysCurrency,
  create: createPaypal,
} as const satisfies ProcessorDefinition
