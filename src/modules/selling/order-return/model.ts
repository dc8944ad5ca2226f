import { t } from 'elysia'
import { fieldsOf, Instant, integer, maybe, notBlank, nullable, oneOf, pageOf, pageQuery, text } from '../../../http/schema.ts'
import { linesMax, quantityMax } from '../cart/domain.ts'
import { refundStatuses } from '../order/domain.ts'
import { reasonMax, returnStatuses } from './domain.ts'

export const OrderParam = t.Object({ orderId: text(64) })
export const ReturnParams = t.Object({ orderId: text(64), returnId: text(64) })
export const ListReturns = t.Object({ ...pageQuery, status: t.Optional(oneOf(returnStatuses)) })
export const LinkParam = t.Object({ token: text(200) })

export const CreateReturn = t.Object({
  lines: t.Array(
    t.Object({
      lineId: text(64, { minLength: 1 }),
      quantity: integer({ minimum: 1, maximum: quantityMax }),
      reason: text(reasonMax, notBlank),
    }),
    { minItems: 1, maxItems: linesMax, description: 'Units of each line, each line once' },
  ),
})
export const RejectReturn = t.Object({ reason: maybe(text(reasonMax, { description: 'The mail to the shopper contains it' })) })
export const ApproveReturn = t.Object({})
export const ReceiveReturn = t.Object({
  restock: t.Boolean({ description: 'Whether tracked units go back to stock' }),
  refund: t.Boolean({ description: 'Whether the lines are refunded now, without shipping' }),
})

const status = oneOf(returnStatuses, {
  description: 'REQUESTED: the shop has to decide. APPROVED: the shopper may send the goods. RECEIVED: the goods are back',
})
const unit = { lineId: t.String(), quantity: integer() }

export const ReturnRecord = t.Object(
  {
    ...fieldsOf(t.String(), 'id', 'orderId'),
    status,
    requestedBy: oneOf(['SHOPPER', 'SHOP']),
    lines: t.Array(t.Object({ ...unit, reason: t.String() }, { title: 'ReturnLine' })),
    rejectionReason: nullable(t.String()),
    restocked: t.Boolean({ description: 'Whether the received units went back to stock' }),
    refund: nullable(
      t.Object(
        { id: t.String(), status: oneOf(refundStatuses) },
        { description: 'The refund that was made when the return was received, as it was at the response' },
      ),
    ),
    ...fieldsOf(Instant, 'createdAt', 'updatedAt'),
  },
  { title: 'Return' },
)
export const Returns = pageOf(t.Object({ ...ReturnRecord.properties, orderNumber: integer() }, { title: 'ListedReturn' }))
const Returnable = t.Array(t.Object(unit, { title: 'ReturnableLine' }), {
  description: 'Units that can still be returned: sent, in no return that stands, and not refunded without a return',
})
export const OrderReturns = t.Object(
  { data: t.Array(ReturnRecord, { description: 'Oldest first' }), returnable: Returnable },
  { title: 'OrderReturns' },
)

export const PublicReturnRecord = t.Object(
  { id: t.String(), status, lines: t.Array(t.Object(unit)), ...fieldsOf(Instant, 'createdAt', 'updatedAt') },
  { title: 'PublicReturn' },
)
/** What the order's link shows of returns. */
export const publicReturnFields = {
  returns: t.Array(PublicReturnRecord, { description: 'Returns, oldest first' }),
  returnable: t.Array(t.Object(unit), { description: "Units whose return the shopper can request now, within the shop's `returnDays`" }),
}
