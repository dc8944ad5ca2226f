import { apiUrl, keyWith, publicKey, secret, secretKey, setting, token } from '../../../settings/kinds.ts'
import type { ProcessorDefinition } from '../definition.ts'
import { createCheckout } from './client.ts'
import { supportsCurrency } from './states.ts'

export const checkout = {
  fields: {
    publishableKey: { isPublic: true, description: 'publishable key' },
    secretKey: { description: 'secret key' },
    webhookSecret: { isText: true, description: 'signing secret of the webhook' },
    channelId: { description: 'id of the processing channel' },
    apiUrl: { isPublic: true, description: "URL of the account's own API host" },
  },
  // Source: checkout.com/docs, "Webhooks" and "API keys"; scopes of its SDK.
  setup: {
    dashboard: { TEST: 'https://dashboard.sandbox.checkout.com', LIVE: 'https://dashboard.checkout.com' },
    keys: ['Developers', 'Keys', 'Create a new key'],
    webhook: {
      at: ['Developers', 'Webhooks', 'New webhook'],
      events: [
        ...['approved', 'declined', 'pending', 'captured', 'capture_declined', 'voided', 'void_declined'],
        ...['refunded', 'refund_declined', 'canceled', 'expired'],
      ]
        .map((event) => `payment_${event}`)
        .concat('dispute_received', 'dispute_won', 'dispute_lost'),
    },
    rights: ['gateway', 'payment-sessions'],
  },
  required: ['secretKey'],
  identity: ['publishableKey'],
  proof: { names: 'secretKey', why: 'Checkout.com rejects this key at this address, or the key may not read payments' },
  pageKey: 'publishableKey',
  hosts: { TEST: 'https://api.sandbox.checkout.com', LIVE: 'https://api.checkout.com' },
  ownHost: /(^|\.)checkout\.com$/,
  settings: {
    CHECKOUT_PUBLISHABLE_KEY: setting(
      'checkoutPublishableKey',
      'text',
      undefined,
      'Public key of Checkout.com (`pk_…`)',
      keyWith('a Checkout.com public key', ['pk_'], publicKey),
    ),
    CHECKOUT_SECRET_KEY: secret(
      'checkoutSecretKey',
      'text',
      'Secret key of Checkout.com (`sk_…`), in the same mode',
      keyWith('a Checkout.com secret key', ['sk_'], secretKey),
    ),
    CHECKOUT_WEBHOOK_SECRET: secret('checkoutWebhookSecret', 'text', 'Signing key of the Checkout.com webhook', token),
    CHECKOUT_CHANNEL_ID: setting(
      'checkoutChannelId',
      'text',
      undefined,
      'Processing channel of Checkout.com (`pc_…`)',
      keyWith('a Checkout.com processing channel ID', ['pc_'], publicKey),
    ),
    CHECKOUT_API_URL: setting(
      'checkoutApiUrl',
      'URL',
      undefined,
      'URL of the Checkout.com API with the prefix of the account. Default: the common host, or the sandbox for sandbox keys',
      apiUrl,
    ),
  },
  supportsCurrency,
  googlePay: (key) => ({ gateway: 'checkoutltd', gatewayMerchantId: key }),
  create: createCheckout,
} as const satisfies ProcessorDefinition
