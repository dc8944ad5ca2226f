import { apiUrl, publicKey, secret, setting, token } from '../../../settings/kinds.ts'
import type { ProcessorDefinition } from '../definition.ts'
import { paypalSupportsCurrency } from './amounts.ts'
import { createPaypal } from './client.ts'

export const paypal = {
  fields: {
    clientId: { isPublic: true, description: 'client id of the app' },
    secret: { description: 'secret of the app' },
    webhookId: { description: 'id of the webhook that sends messages to souk' },
  },
  setup: {
    dashboard: {
      TEST: 'https://developer.paypal.com/dashboard/applications/sandbox',
      LIVE: 'https://developer.paypal.com/dashboard/applications/live',
    },
    keys: ['Apps & Credentials', 'Create App'],
    webhook: {
      at: ['Apps & Credentials', 'App', 'Webhooks', 'Add Webhook'],
      events: [
        'CHECKOUT.ORDER.APPROVED',
        'PAYMENT.AUTHORIZATION.CREATED',
        'PAYMENT.AUTHORIZATION.VOIDED',
        ...['COMPLETED', 'DECLINED', 'DENIED', 'PENDING', 'REFUNDED', 'REVERSED'].map((event) => `PAYMENT.CAPTURE.${event}`),
        ...['CREATED', 'UPDATED', 'RESOLVED'].map((event) => `CUSTOMER.DISPUTE.${event}`),
      ],
    },
  },
  required: ['clientId', 'secret'],
  identity: ['clientId'],
  proof: { names: 'clientId, secret', why: 'PayPal rejects these in this mode' },
  pageKey: 'clientId',
  modeIsAsked: true,
  hosts: { TEST: 'https://api-m.sandbox.paypal.com', LIVE: 'https://api-m.paypal.com' },
  settings: {
    PAYPAL_CLIENT_ID: setting('paypalClientId', 'text', undefined, 'Client ID of the PayPal app', publicKey),
    PAYPAL_SECRET: secret('paypalSecret', 'text', 'Secret of the PayPal app', token),
    PAYPAL_WEBHOOK_ID: setting('paypalWebhookId', 'text', undefined, 'ID of the PayPal webhook', token),
    PAYPAL_API_URL: setting('paypalApiUrl', 'URL', 'https://api-m.paypal.com', 'URL of the PayPal API; the sandbox is test mode', apiUrl),
  },
  supportsCurrency: paypalSupportsCurrency,
  create: createPaypal,
} as const satisfies ProcessorDefinition
