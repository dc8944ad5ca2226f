import { apiUrl, secret, setting, token } from '../../../settings/kinds.ts'
import type { ProcessorDefinition } from '../definition.ts'
import { btcpayCapabilities, createBtcpay } from './client.ts'

export const btcpay = {
  fields: {
    storeId: { isText: true, description: 'id of the store' },
    apiKey: { description: 'API key' },
    webhookSecret: { isText: true, description: 'signing secret of the webhook' },
    apiUrl: { isPublic: true, description: 'URL of the server' },
  },
  // Source: docs.btcpayserver.org, "Greenfield API"; the rights are those that client.ts names.
  setup: {
    keys: ['Account', 'Manage Account', 'API Keys', 'Generate Key'],
    webhook: {
      at: ['Store Settings', 'Webhooks', 'Create Webhook'],
      events: ['ReceivedPayment', 'Processing', 'Expired', 'Settled', 'Invalid', 'PaymentSettled'].map((event) => `Invoice${event}`),
    },
    rights: ['canviewinvoices', 'cancreateinvoice', 'canmodifyinvoices', 'cancreatenonapprovedpullpayments', 'canviewpullpayments'].map(
      (right) => `btcpay.store.${right}`,
    ),
  },
  required: ['storeId', 'apiKey', 'apiUrl'],
  identity: ['apiUrl', 'storeId'],
  proof: { names: 'storeId, apiKey', why: 'the server rejects this store or key, or the key may not read invoices' },
  modeIsAsked: true,
  settings: {
    BTCPAY_STORE_ID: setting('btcpayStoreId', 'text', undefined, 'Store ID at the BTCPay Server', token),
    BTCPAY_API_KEY: secret('btcpayApiKey', 'text', 'API key of the BTCPay Server', token),
    BTCPAY_WEBHOOK_SECRET: secret('btcpayWebhookSecret', 'text', 'Secret of the BTCPay Server webhook', token),
    BTCPAY_API_URL: setting('btcpayApiUrl', 'URL', undefined, 'URL of the BTCPay Server', apiUrl),
  },
  supportsCurrency: btcpayCapabilities.supportsCurrency,
  create: createBtcpay,
} as const satisfies ProcessorDefinition
