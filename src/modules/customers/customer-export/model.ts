import { t } from 'elysia'
import { fieldsOf, Instant, nullable, oneOf } from '../../../http/schema.ts'
import { AuditRecord } from '../../operations/audit/model.ts'
import { GiftCardRecord } from '../../selling/gift-card/model.ts'
import { OrderRecord } from '../../selling/order/model.ts'
import { AddressRecord, CustomerRecord } from '../customer/model.ts'

const recordsOf = (description: string) => t.Array(t.Record(t.String(), t.Unknown()), { description })

export const CustomerExport = t.Object(
  {
    exportedAt: Instant,
    customer: CustomerRecord,
    addresses: t.Array(AddressRecord, { description: 'Their address book, and what they entered' }),
    orders: t.Array(OrderRecord, { description: 'Whole, with notes, payments, refunds, parcels and what happened' }),
    guestOrders: t.Array(OrderRecord, {
      description: 'Bought as a guest with their e-mail address: theirs only if they have shown that they read it (`emailVerified`)',
    }),
    carts: recordsOf(
      'With their lines, and of what the shop drew up for them the `draft` with its note; those of a guest with their e-mail address included',
    ),
    giftCards: t.Array(GiftCardRecord, { description: 'That only they may use' }),
    discountsUsed: recordsOf('Which discount counted in which order'),
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
        about: t.String({ description: 'The id of what it told of' }),
        ...fieldsOf(Instant, 'createdAt', 'updatedAt'),
      }),
      { description: 'That told of their orders and of drafts for them, within 30 days; what they said is not kept' },
    ),
    activity: t.Array(AuditRecord, {
      description: 'What is on record that they did and that was done to their account: logins, changes of consent (`acceptsMarketing`)',
    }),
  },
  { title: 'CustomerExport' },
)
