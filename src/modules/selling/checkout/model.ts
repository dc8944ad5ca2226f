import { t } from 'elysia'
import { nullable, oneOf, text, Url } from '../../../http/schema.ts'
import { paymentMethods, paymentStatuses } from '../../payments/payment/domain.ts'
import { OrderRecord } from '../order/model.ts'
import { paymentTokenMax } from './domain.ts'

export const CheckoutBody = t.Object({
  method: oneOf(paymentMethods),
  processor: t.Optional(text(40, { description: 'Default: the processor that the shop uses. `sandbox` is for shops in mode TEST' })),
  paymentToken: t.Optional(
    text(paymentTokenMax, {
      minLength: 1,
      description:
        "Token from the processor's script. For `sandbox`: tok_success (default), tok_decline, tok_timeout, tok_crash, tok_action",
    }),
  ),
  returnUrl: t.Optional(Url),
  manualCode: t.Optional(text(40, { minLength: 1, description: 'For `manual`, and required there: a code that the resolver returns' })),
})

const payment = t.Object({
  processor: nullable(t.String()),
  status: oneOf([...paymentStatuses, 'NOT_REQUIRED'] as const),
  clientParameters: t.Record(t.String(), t.Unknown(), {
    description: 'What the page needs to continue with the processor. For `manual`: `code`, `title` and `instructions` for the shopper',
  }),
})
export const CheckoutAnswer = t.Object({ order: OrderRecord, payment }, { title: 'Checkout' })
export const Returned = t.Object(
  { order: t.Pick(OrderRecord, ['id', 'number', 'status', 'paymentStatus', 'total', 'amountDue'], { title: 'OrderStanding' }), payment },
  { title: 'Returned' },
)
export const CartParam = t.Object({ id: text(64) })
export const WebhookParams = t.Object({ processor: text(40) })
export const ShopWebhookParams = t.Object({ processor: text(40), shopId: text(64) })
/** The limit on URLs; a longer token is never valid. */
export const CallbackParam = t.Object({ token: text(8_192) })
export const Received = t.Object({ received: t.Literal(true) })
