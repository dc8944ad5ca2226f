import { t } from 'elysia'
import { nullable, oneOf, text, Url } from '../../../http/schema.ts'
import { paymentMethods, paymentStatuses } from '../../payments/payment/domain.ts'
import { OrderRecord } from '../order/model.ts'
import { paymentTokenMax } from './domain.ts'

export const CheckoutBody = t.Object({
  method: oneOf(paymentMethods),
  processor: t.Optional(text(40, { description: 'Default: the one that the shop uses; `sandbox` for shops in mode TEST' })),
  paymentToken: t.Optional(
    text(paymentTokenMax, {
      minLength: 1,
      description: 'What the processor gave to the page. `sandbox`: tok_success (default), tok_decline, tok_timeout, tok_crash, tok_action',
    }),
  ),
  returnUrl: t.Optional(Url),
})

const payment = t.Object({
  processor: nullable(t.String()),
  status: oneOf([...paymentStatuses, 'NOT_REQUIRED'] as const),
  clientParameters: t.Record(t.String(), t.Unknown(), { description: 'What the page needs to go on with the processor' }),
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
