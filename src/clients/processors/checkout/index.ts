import { apiUrl, publicKey, secret, secretKey, setting, token } from '../../../settings/kinds.ts'
import type { ProcessorDefinition } from '../definition.ts'
import { createCheckout } from './client.ts'
import { saysCurrency } from './states.ts'

export const checkout = {
  fields: {
    publishableKey: { isPublic: true, description: 'what payment pages begin with' },
    secretKey: { description: 'the key of calls' },
    webhookSecret: { isText: true, description: 'what its messages are signed with' },
    channelId: { description: 'the processing channel' },
    apiUrl: { isPublic: true, description: "the account's own host" },
  },
  required: ['secretKey'],
  identity: ['publishableKey'],
  proof: { names: 'secretKey', why: 'Checkout.com does not know this key at this address, or does not let it read payments' },
  pageKey: 'publishableKey',
  hosts: { TEST: 'https://api.sandbox.checkout.com', LIVE: 'https://api.checkout.com' },
  ownHost: /(^|\.)checkout\.com$/,
  settings: {
    CHECKOUT_PUBLISHABLE_KEY: setting('checkoutPublishableKey', 'text', undefined, "Checkout.com's public key (`pk_…`)", publicKey),
    CHECKOUT_SECRET_KEY: secret('checkoutSecretKey', 'text', "Checkout.com's secret key (`sk_…`); of the same mode", secretKey),
    CHECKOUT_WEBHOOK_SECRET: secret('checkoutWebhookSecret', 'text', "What Checkout.com's messages are signed with", token),
    CHECKOUT_CHANNEL_ID: setting('checkoutChannelId', 'text', undefined, "Checkout.com's processing channel (`pc_…`)", publicKey),
    CHECKOUT_API_URL: setting(
      'checkoutApiUrl',
      'URL',
      undefined,
      "Where Checkout.com's API is, with the account's own prefix; unset: its common host, or its sandbox under keys that say so",
      apiUrl,
    ),
  },
  supportsCurrency: saysCurrency,
  googlePay: (key) => ({ gateway: 'checkoutltd', gatewayMerchantId: key }),
  create: createCheckout,
} as const satisfies ProcessorDefinition
