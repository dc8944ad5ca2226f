import { t } from 'elysia'
import { CountryCode, Email, fieldsOf, Instant, integer, maybe, notBlank, nullable, pageOf, pageQuery, text } from '../../../http/schema.ts'
import { passwordLength } from '../../identity/auth/domain.ts'
import { NewPassword } from '../../identity/auth/model.ts'
import { addressesPerCustomerMax, orderIdsMax } from './domain.ts'

const shopName = text(63, { minLength: 1 })
const name = text(200)
export const CustomerSignup = t.Object({ shopName, email: Email, password: NewPassword, name: t.Optional(name) })
export const CustomerLogin = t.Object({
  shopName,
  email: text(254, { minLength: 1 }),
  password: text(passwordLength.maxLength, { minLength: 1 }),
})
const profile = {
  name: t.Optional(name),
  phone: maybe(text(40)),
  acceptsMarketing: t.Optional(t.Boolean({ description: 'Whether the customer agreed to marketing; false for a new one' })),
}
export const CreateCustomer = t.Object({ email: Email, ...profile })

export const CustomerRecord = t.Object(
  {
    ...fieldsOf(t.String(), 'id', 'shopId', 'email'),
    emailVerified: t.Boolean({ description: 'Whether they have shown that they read what goes to this address' }),
    name: t.String(),
    phone: nullable(t.String()),
    acceptsMarketing: t.Boolean(),
    addressIds: t.Array(t.String(), { description: `Their address book, oldest first; at most ${addressesPerCustomerMax}` }),
    ordersCount: integer({ description: 'Orders placed, whatever became of them' }),
    totalSpent: t.Object(
      { amount: integer({ description: 'Minor units' }), currency: t.String() },
      { description: "Confirmed orders less refunds, in the shop's currency" },
    ),
    erasedAt: nullable(
      t.String({
        format: 'date-time',
        description: 'When their personal data was erased: what stands here of them since is nothing of theirs',
      }),
    ),
    ...fieldsOf(Instant, 'createdAt', 'updatedAt'),
  },
  { title: 'Customer' },
)
export const Customers = t.Object({
  ...pageOf(CustomerRecord).properties,
  totalCapped: t.Optional(t.Literal(true, { description: 'There are more than `total`; after an upgrade, there may be' })),
})
export const ListCustomers = t.Object({
  ...pageQuery,
  q: t.Optional(
    text(200, {
      minLength: 1,
      description: 'Up to ten words that their e-mail address and name hold, of which the last may be how a word begins; or their id',
    }),
  ),
  email: t.Optional(text(254, { minLength: 1, description: 'Their whole e-mail address, in either case' })),
})
export const CustomerPath = t.Object({ customerId: text(64) })

/** Fields of an address in a request; `addressOf` builds the stored address. */
const addressFields = {
  name: text(200, notBlank),
  company: maybe(text(200)),
  line1: text(200, notBlank),
  line2: maybe(text(200)),
  city: text(100, notBlank),
  province: maybe(text(100)),
  postalCode: maybe(text(20)),
  countryCode: CountryCode,
  phone: maybe(text(40)),
}
export const AddressInput = t.Object(addressFields)

const defaultFlags = {
  isDefaultShipping: t.Optional(t.Boolean({ description: "One of the book's addresses at most: another loses it" })),
  isDefaultBilling: t.Optional(t.Boolean({ description: "One of the book's addresses at most: another loses it" })),
}
export const BookAddressInput = t.Object({ ...addressFields, ...defaultFlags })
export const ChangeBookAddress = t.Partial(BookAddressInput)
export const AddAddress = t.Object({ addressId: text(64, { minLength: 1 }), ...defaultFlags })

export const ChangeOwnCustomer = t.Object({
  ...profile,
  email: t.Optional(Email),
  password: t.Optional(
    text(passwordLength.maxLength, { minLength: 1, description: 'The present one: needed to change the e-mail address' }),
  ),
})
export const VerifyToken = t.Object({ token: text(200, { minLength: 1, description: 'From the link of the mail' }) })

/** An address in responses. */
export const PostalAddress = t.Object(
  {
    name: t.String(),
    company: nullable(t.String()),
    line1: t.String(),
    line2: nullable(t.String()),
    city: t.String(),
    province: nullable(t.String()),
    postalCode: nullable(t.String()),
    countryCode: t.String(),
    phone: nullable(t.String()),
  },
  { title: 'PostalAddress' },
)

export const AddressRecord = t.Object(
  {
    id: t.String(),
    shopId: t.String(),
    customerId: nullable(t.String({ description: 'Whose book it is in' })),
    ...PostalAddress.properties,
    isDefaultShipping: t.Boolean(),
    isDefaultBilling: t.Boolean(),
    ...fieldsOf(Instant, 'createdAt', 'updatedAt'),
  },
  { title: 'Address' },
)

export const Addresses = pageOf(AddressRecord)
export const ListOrderIds = t.Object({
  ...pageQuery,
  limit: t.Optional(t.String({ ...pageQuery.limit, description: `Default 20, clamped to 1..${orderIdsMax}` })),
})
export const OrderIds = t.Object(
  {
    customerId: t.String(),
    orderIds: t.Array(t.String(), { description: 'Newest first' }),
    total: integer({ description: 'Of all pages' }),
  },
  { title: 'OrderIds' },
)
/** The same as rows of a table. */
export const OrderIdRows = t.Object({ data: t.Array(t.Object({ id: t.String() })) })
