import { apiUrl, keyWith, publicKey, secret, secretKey, setting } from '../../../settings/kinds.ts'
import type { ProcessorDefinition } from '../definition.ts'
import { createTap } from './client.ts'
import { supportsCurrency } from './states.ts'

export const tap = {
  fields: {
    publishableKey: { isPublic: true, description: 'publishable key' },
    merchantId: { isPublic: true, description: 'merchant id, which Google Pay needs' },
    secretKey: { description: 'secret key, which also signs messages' },
  },
  // Source: developers.tap.company/reference, "API Credentials". Each payment names the URL of its messages.
  setup: {
    dashboard: { TEST: 'https://businesses.tap.company', LIVE: 'https://businesses.tap.company' },
    keys: ['goSell', 'API Credentials', 'Generate Key'],
  },
  required: ['secretKey'],
  identity: ['publishableKey'],
  proof: { names: 'secretKey', why: 'Tap rejects this key' },
  pageKey: 'publishableKey',
  callsSign: true,
  settings: {
    TAP_PUBLISHABLE_KEY: setting(
      'tapPublishableKey',
      'text',
      undefined,
      'Publishable key of Tap (`pk_…`)',
      keyWith('a Tap publishable key', ['pk_'], publicKey),
    ),
    TAP_SECRET_KEY: secret(
      'tapSecretKey',
      'text',
      'Secret key of Tap (`sk_…`), which also signs webhooks; in the same mode',
      keyWith('a Tap secret key', ['sk_'], secretKey),
    ),
    TAP_MERCHANT_ID: setting('tapMerchantId', 'text', undefined, 'Merchant ID at Tap, required for Google Pay', publicKey),
    TAP_API_URL: setting('tapApiUrl', 'URL', 'https://api.tap.company/v2', 'URL of the Tap API', apiUrl),
  },
  supportsCurrency,
  googlePay: (_, { merchantId }) => (merchantId ? { gateway: 'tappayments', gatewayMerchantId: merchantId } : undefined),
  create: createTap,
} as const satisfies ProcessorDefinition
