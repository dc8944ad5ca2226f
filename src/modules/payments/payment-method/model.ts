import { t } from 'elysia'
import { Instant, integer, notBlank, nullable, oneOf, publicName, text } from '../../../http/schema.ts'
import {
  breakerActions,
  cardProcessors,
  expiresAfterDaysMax,
  instructionsMax,
  manualMethodsMax,
  manualTitleMax,
  methods,
  outcomes,
  partnershipsMax,
  processorNames,
  steps,
} from './domain.ts'

const optionalText = (description: string) =>
  text(300, { minLength: 1, pattern: '^[\\x21-\\x7e]+$', rule: 'ASCII characters without spaces', description })
const enabled = t.Boolean({ description: 'False turns the method off, whatever the defaults are' })

const Chosen = {
  card: t.Optional(
    t.Object({
      enabled,
      processor: t.Optional(oneOf(cardProcessors)),
      publishableKey: t.Optional(optionalText('Of the processor. Every payment page shows it. For `qpay`: the invoice code')),
    }),
  ),
  paypal: t.Optional(t.Object({ enabled, clientId: t.Optional(optionalText('Every payment page shows it')) })),
  crypto: t.Optional(t.Object({ enabled })),
  wallet: t.Optional(
    t.Object({
      enabled,
      tokenProvider: t.Optional(
        oneOf(cardProcessors, { description: 'Processor of wallet payments. Default: the card processor, if it supports them' }),
      ),
      merchantIdentifier: t.Optional(optionalText("Apple's, as `merchant.example.shop`")),
    }),
  ),
  manual: t.Optional(
    t.Array(
      t.Object(
        {
          code: text(40, { minLength: 1, pattern: '^[a-z0-9_-]+$', rule: 'lower-case letters, digits, - and _' }),
          title: text(manualTitleMax, publicName),
          instructions: text(instructionsMax, { ...notBlank, description: 'How to pay, for the shopper. Plain text with line breaks' }),
          expiresAfterDays: integer({
            minimum: 1,
            maximum: expiresAfterDaysMax,
            description: 'How long an order waits for its payment before it expires and releases its stock',
          }),
        },
        { title: 'ManualPaymentMethod' },
      ),
      {
        maxItems: manualMethodsMax,
        description:
          'Payments that the shop receives outside souk (bank transfer, cash on delivery) and marks as paid. Codes are unique. Only the role OWNER changes them',
      },
    ),
  ),
}
export const SetPaymentMethods = t.Object(Chosen)
export const PaymentMethods = t.Object(
  {
    ...Chosen,
    warnings: t.Array(t.Object({ method: oneOf(methods), message: t.String() }), {
      description: 'Settings that can never be used',
    }),
  },
  { title: 'PaymentMethods' },
)

const Partnership = t.Object(
  {
    name: text(100, notBlank),
    defaultCardProcessor: oneOf(cardProcessors),
    shopIds: t.Array(text(64), { maxItems: 20_000 }),
  },
  { title: 'Partnership' },
)
export const Partnerships = t.Object({ data: t.Array(Partnership, { maxItems: partnershipsMax }) })

export const BreakerRecord = t.Object(
  {
    processor: oneOf(processorNames),
    isolatedAt: nullable(t.String({ ...Instant, description: 'Isolated by an operator in every process since then' })),
    hosts: t.Array(
      t.Object({
        host: t.String({ description: "Of the instance's account and of shops' own accounts" }),
        state: oneOf(['CLOSED', 'OPEN', 'HALF_OPEN']),
        failures: nullable(integer({ description: 'In a row, while the breaker is closed. Five open it' })),
        openSince: nullable(Instant),
        probeAt: nullable(t.String({ ...Instant, description: 'When it is probed next' })),
      }),
    ),
  },
  { title: 'Breaker' },
)
export const BreakerRecords = t.Object({ data: t.Array(BreakerRecord) })
export const ProcessorParam = t.Object({ processor: text(64) })
export const ChangeBreaker = t.Object({ action: oneOf(breakerActions) })

/** A shop's handle, or one of its host names. */
export const ShopUrlParam = t.Object({ shopUrl: text(253) })
const optional = (description: string) => t.Optional(t.String({ description }))
export const ResolvedMethods = t.Object(
  {
    card: nullable(
      t.Object({
        processor: oneOf(cardProcessors),
        publishableKey: t.String({ description: 'Public key for the payment page. For `qpay`: the invoice code' }),
        environment: oneOf(['live', 'test']),
      }),
    ),
    paypal: t.Object({ enabled: t.Boolean(), clientId: optional("For PayPal's buttons") }),
    crypto: t.Object({ enabled: t.Boolean(), provider: optional('`btcpay`') }),
    wallet: t.Object({
      enabled: t.Boolean(),
      tokenProvider: nullable(oneOf(cardProcessors)),
      googlePay: t.Optional(
        t.Object({
          gateway: t.String(),
          gatewayMerchantId: t.Optional(t.String()),
          parameters: t.Optional(t.Record(t.String(), t.String())),
        }),
      ),
      applePay: t.Optional(t.Object({ merchantIdentifier: t.String() })),
    }),
    manual: t.Array(t.Object({ code: t.String(), title: t.String() }, { title: 'ManualPaymentOption' }), {
      description: 'Payments outside souk. A checkout names one by `manualCode`',
    }),
    currency: t.String({ description: 'ISO 4217' }),
    meta: t.Object(
      {
        kybCohort: nullable(t.String()),
        partnership: nullable(t.String()),
        chain: t.Array(
          t.Object({ method: oneOf(methods), step: oneOf(steps), candidate: nullable(oneOf(processorNames)), outcome: oneOf(outcomes) }),
          { description: 'Steps of the resolver, in order, with their results' },
        ),
        skippedByBreaker: t.Array(oneOf(processorNames)),
      },
      { description: 'For troubleshooting. Payment pages do not need it' },
    ),
  },
  { title: 'ResolvedPaymentMethods' },
)
