import { apiUrl, publicKey, secret, secretKey, setting } from '../../../settings/kinds.ts'
import type { ProcessorDefinition } from '../definition.ts'
import { createTap } from './client.ts'
import { saysCurrency } from './states.ts'

export const tap = {
  fields: {
    publishableKey: { isPublic: true, description: 'what payment pages begin with' },
    merchantId: { isPublic: true, description: 'its name of the merchant, which Google Pay asks for' },
    secretKey: { description: 'the key of calls' },
  },
  required: ['secretKey'],
  identity: ['publishableKey'],
  proof: { names: 'secretKey', why: 'Tap does not know this key' },
  pageKey: 'publishableKey',
  callsSign: true,
  settings: {
    TAP_PUBLISHABLE_KEY: setting('tapPublishableKey', 'text', undefined, "Tap's key for payment pages (`pk_…`)", publicKey),
    TAP_SECRET_KEY: secret('tapSecretKey', 'text', "Tap's secret key, which also signs its messages; of the same mode", secretKey),
    TAP_MERCHANT_ID: setting('tapMerchantId', 'text', undefined, "Tap's name of the merchant, which Google Pay asks for", publicKey),
    TAP_API_URL: setting('tapApiUrl', 'URL', 'https://api.tap.company/v2', "Where Tap's API is", apiUrl),
  },
  supportsCurrency: saysCurrency,
  googlePay: (_, { merchantId }) => (merchantId ? { gateway: 'tappayments', gatewayMerchantId: merchantId } : undefined),
  create: createTap,
} as const satisfies ProcessorDefinition
