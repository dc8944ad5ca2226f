import { apiUrl, secret, setting, token } from '../../../settings/kinds.ts'
import type { ProcessorDefinition } from '../definition.ts'
import { btcpayCapabilities, createBtcpay } from './client.ts'

export const btcpay = {
  fields: {
    storeId: { isText: true, description: 'its store' },
    apiKey: { description: 'the key of calls' },
    webhookSecret: { isText: true, description: 'what its messages are signed with' },
    apiUrl: { isPublic: true, description: 'where the server is' },
  },
  required: ['storeId', 'apiKey', 'apiUrl'],
  identity: ['apiUrl', 'storeId'],
  proof: { names: 'storeId, apiKey', why: 'the server does not know this store, or does not let this key see its invoices' },
  modeIsAsked: true,
  settings: {
    BTCPAY_STORE_ID: setting('btcpayStoreId', 'text', undefined, 'Store at the BTCPay server', token),
    BTCPAY_API_KEY: secret('btcpayApiKey', 'text', 'Key to the BTCPay server', token),
    BTCPAY_WEBHOOK_SECRET: secret('btcpayWebhookSecret', 'text', "What the BTCPay server's messages are signed with", token),
    BTCPAY_API_URL: setting('btcpayApiUrl', 'URL', undefined, 'Where the BTCPay server is', apiUrl),
  },
  supportsCurrency: btcpayCapabilities.supportsCurrency,
  create: createBtcpay,
} as const satisfies ProcessorDefinition
