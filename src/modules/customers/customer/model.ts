import { t } from 'elysia'
import {
  CountryCode,
  Email,
  fieldsOf,
  Instant,
  integer,
  maybe,
  notBlank,
  nullable,
  oneLine,
  oneOf,
  pageOf,
  pageQuery,
  text,
} from '../../../http/schema.ts'
import { passwordLength } from '../../identity/auth/domain.ts'
import { NewPassword } from '../../identity/auth/model.ts'
import { addressesPerCustomerMax, customerSorts, noteLengthMax, orderIdsMax, tagLengthMax, tagsMax } from './domain.ts'

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
  acceptsMarketing: t.Optional(t.Boolean({ description: 'Whether the customer agreed to marketing. Default: false' })),
}
export const CreateCustomer = t.Object({ email: Email, ...profile })

/** Tags that the staff gives a customer or an order. */
export const StaffTags = t.Array(text(tagLengthMax, { minLength: 1, ...oneLine }), {
  maxItems: tagsMax,
  description: 'Compared in NFC and without case; repeated and blank ones are left out',
})
/** The filter of a list by tag. */
export const tagFilter = t.Optional(text(tagLengthMax, { description: 'Not case-sensitive' }))
export const ChangeCustomer = t.Object(
  {
    email: t.Optional(Email),
    ...profile,
    note: maybe(text(noteLengthMax, { description: 'For staff only; null or blank clears it' })),
    tags: t.Optional(StaffTags),
  },
  { description: 'Fields that you leave out keep their values' },
)

/** A customer as customers see themselves. */
export const OwnCustomerRecord = t.Object(
  {
    ...fieldsOf(t.String(), 'id', 'shopId', 'email'),
    emailVerified: t.Boolean({ description: 'Whether the customer has verified the e-mail address' }),
    name: t.String(),
    phone: nullable(t.String()),
    acceptsMarketing: t.Boolean(),
    addressIds: t.Array(t.String(), { description: `Address book, oldest first, at most ${addressesPerCustomerMax}` }),
    ordersCount: integer({ description: 'Number of orders of every status' }),
    totalSpent: t.Object(
      { amount: integer({ description: 'In minor units' }), currency: t.String() },
      { description: "Confirmed orders minus refunds, in the shop's currency" },
    ),
    erasedAt: nullable(
      t.String({
        format: 'date-time',
        description: 'When the personal data was erased. The remaining values are placeholders',
      }),
    ),
    ...fieldsOf(Instant, 'createdAt', 'updatedAt'),
  },
  { title: 'OwnCustomer' },
)
export const CustomerRecord = t.Object(
  {
    ...OwnCustomerRecord.properties,
    note: nullable(t.String({ description: 'For staff only' })),
    tags: t.Array(t.String(), { description: 'For staff only' }),
  },
  { title: 'Customer' },
)
export const Customers = t.Object({
  ...pageOf(CustomerRecord).properties,
  totalCapped: t.Optional(t.Literal(true, { description: 'True if there are more than `total` or, after an upgrade, may be' })),
})
export const ListCustomers = t.Object({
  ...pageQuery,
  q: t.Optional(
    text(200, {
      minLength: 1,
      description: 'Up to ten words of the e-mail address and name, or an id. The last word may be incomplete',
    }),
  ),
  email: t.Optional(text(254, { minLength: 1, description: 'The whole e-mail address. Not case-sensitive' })),
  tag: tagFilter,
  sort: t.Optional(
    oneOf(customerSorts, {
      description:
        'Default: newest first. By `name`: without regard to the case of A to Z, and customers without a name by e-mail address. With `q`, the newest 1,000 matches are sorted; with `tag` alone, the newest 2,000, and later pages are empty. Does not apply to CSV, which has the newest customer first',
    }),
  ),
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
  isDefaultShipping: t.Optional(t.Boolean({ description: 'At most one address of the book. The previous default loses the flag' })),
  isDefaultBilling: t.Optional(t.Boolean({ description: 'At most one address of the book. The previous default loses the flag' })),
}
export const BookAddressInput = t.Object({ ...addressFields, ...defaultFlags })
export const ChangeBookAddress = t.Partial(BookAddressInput)
export const AddAddress = t.Object({ addressId: text(64, { minLength: 1 }), ...defaultFlags })

export const ChangeOwnCustomer = t.Object({
  ...profile,
  email: t.Optional(Email),
  password: t.Optional(
    text(passwordLength.maxLength, { minLength: 1, description: 'The current password. Required to change the e-mail address' }),
  ),
})
export const VerifyToken = t.Object({ token: text(200, { minLength: 1, description: 'From the link in the e-mail' }) })

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
    customerId: nullable(t.String({ description: 'The customer whose address book contains it' })),
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
  limit: t.Optional(t.String({ ...pageQuery.limit, description: `Default: 20. Clamped to 1 to ${orderIdsMax}` })),
})
export const OrderIds = t.Object(
  {
    customerId: t.String(),
    orderIds: t.Array(t.String(), { description: 'Newest first' }),
    total: integer({ description: 'On all pages' }),
  },
  { title: 'OrderIds' },
)
/** The same as rows of a table. */
export const OrderIdRows = t.Object({ data: t.Array(t.Object({ id: t.String() })) })
