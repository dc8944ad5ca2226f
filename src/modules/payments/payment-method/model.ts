import { t } from 'elysia'
import { Instant, integer, notBlank, nullable, oneOf, text } from '../../../http/schema.ts'
import { breakerActions, cardProcessors, methods, outcomes, partnershipsMax, processorNames, steps } from './domain.ts'

const shown = (description: string) =>
  text(300, { minLength: 1, pattern: '^[\\x21-\\x7e]+$', rule: 'characters of ASCII without spaces', description })
const enabled = t.Boolean({ description: 'False: the method stays off, whatever else says it could be on' })

const Chosen = {
  card: t.Optional(
    t.Object({
      enabled,
      processor: t.Optional(oneOf(cardProcessors)),
      publishableKey: t.Optional(shown('Of the processor beside it; every payment page shows it. Of `qpay`, the invoice code')),
    }),
  ),
  paypal: t.Optional(t.Object({ enabled, clientId: t.Optional(shown('Every payment page shows it')) })),
  crypto: t.Optional(t.Object({ enabled })),
  wallet: t.Optional(
    t.Object({
      enabled,
      tokenProvider: t.Optional(oneOf(cardProcessors, { description: 'Who takes the tokens; else the card processor, if it does' })),
      merchantIdentifier: t.Optional(shown("Apple's, as `merchant.example.shop`")),
    }),
  ),
}
export const SetPaymentMethods = t.Object(Chosen)
export const PaymentMethods = t.Object(
  {
    ...Chosen,
    warnings: t.Array(t.Object({ method: oneOf(methods), message: t.String() }), {
      description: 'Why something of it can never be chosen, or not be paid by',
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
    isolatedAt: nullable(t.String({ ...Instant, description: 'Taken out by hand since then, in every process' })),
    hosts: t.Array(
      t.Object({
        host: t.String({ description: "Of the instance's account, and of merchants' own" }),
        state: oneOf(['CLOSED', 'OPEN', 'HALF_OPEN']),
        failures: nullable(integer({ description: 'In a row, while it is closed: five open it' })),
        openSince: nullable(Instant),
        probeAt: nullable(t.String({ ...Instant, description: 'When it is looked at again' })),
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
        publishableKey: t.String({ description: 'What the page begins with: of `qpay`, the invoice code' }),
        environment: oneOf(['live', 'test']),
      }),
    ),
    paypal: t.Object({ enabled: t.Boolean(), clientId: optional("Of PayPal's buttons") }),
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
    currency: t.String({ description: 'ISO 4217' }),
    meta: t.Object(
      {
        kybCohort: nullable(t.String()),
        partnership: nullable(t.String()),
        chain: t.Array(
          t.Object({ method: oneOf(methods), step: oneOf(steps), candidate: nullable(oneOf(processorNames)), outcome: oneOf(outcomes) }),
          { description: 'The steps that were taken, in their order, and what came of each' },
        ),
        skippedByBreaker: t.Array(oneOf(processorNames)),
      },
      { description: 'For whoever wonders why; a page needs none of it' },
    ),
  },
  { title: 'ResolvedPaymentMethods' },
)
