import { t } from 'elysia'
import { fieldsOf, Instant, nullable, oneOf } from '../../../http/schema.ts'
import { AuditRecord } from '../../operations/audit/model.ts'
import { GiftCardRecord } from '../../selling/gift-card/model.ts'
import { OrderRecord } from '../../selling/order/model.ts'
import { AddressRecord, OwnCustomerRecord } from '../customer/model.ts'

const recordsOf = (description: string) => t.Array(t.Record(t.String(), t.Unknown()), { description })

export const CustomerExport = t.Object(
  {
    exportedAt: Instant,
    customer: OwnCustomerRecord,
    addresses: t.Array(AddressRecord, { description: 'The address book, and addresses that the customer entered' }),
    orders: t.Array(OrderRecord, { description: 'Complete orders with notes, payments, refunds, fulfilments and events' }),
    guestOrders: t.Array(OrderRecord, {
      description: 'Guest orders with the same e-mail address. They belong to the customer only if `emailVerified` is true',
    }),
    carts: recordsOf(
      'With their lines and, for draft orders, the `draft` with its note. Includes guest carts with the same e-mail address',
    ),
    giftCards: t.Array(GiftCardRecord, { description: 'Discounts that only this customer can use' }),
    discountsUsed: recordsOf('Discounts used in each order'),
    sessions: t.Array(
      t.Object({
        id: t.String(),
        address: nullable(t.String()),
        agent: nullable(t.String()),
        createdAt: Instant,
        ...fieldsOf(nullable(Instant), 'lastUsedAt', 'revokedAt'),
        expiresAt: Instant,
      }),
    ),
    mails: t.Array(
      t.Object({
        id: t.String(),
        template: t.String(),
        language: nullable(t.String()),
        status: oneOf(['PENDING', 'SENT', 'FAILED', 'DROPPED']),
        about: t.String({ description: 'Id of the record that the message was about' }),
        ...fieldsOf(Instant, 'createdAt', 'updatedAt'),
      }),
      { description: "Messages about the customer's orders and draft orders within the last 30 days, without their content" },
    ),
    activity: t.Array(AuditRecord, {
      description: 'Audit records of the account: logins, changes of consent (`acceptsMarketing`) and others',
    }),
  },
  { title: 'CustomerExport' },
)
