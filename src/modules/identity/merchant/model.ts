import { t } from 'elysia'
import { type StaffRole, staffRoles } from '../../../core/roles.ts'
import { CountryCode, CurrencyCode, Email, Instant, nullable, oneOf, text } from '../../../http/schema.ts'
import { isoTimes } from '../../../lib/objects.ts'
import { KybRecord } from '../../shop/kyb/model.ts'
import type { Shop } from '../../shop/shop/domain.ts'
import { ShopName, ShopRecord, shopView } from '../../shop/shop/model.ts'
import { passwordLength } from '../auth/domain.ts'
import { NewPassword } from '../auth/model.ts'
import { codeLengthMax } from '../second-factor/domain.ts'
import type { User } from './domain.ts'

/** Checks only the length, because errors must not reveal more. */
export const LoginBody = t.Object({
  email: text(254, { minLength: 1 }),
  password: text(passwordLength.maxLength, { minLength: 1 }),
  code: t.Optional(
    text(codeLengthMax, {
      minLength: 1,
      description: 'A code of the authenticator app, or a recovery code. Ignored if the account has no second factor',
    }),
  ),
})
export const SignupBody = t.Object({
  email: Email,
  password: NewPassword,
  shopName: ShopName,
  country: CountryCode,
  currency: CurrencyCode,
})
const MerchantRecord = t.Object({ id: t.String(), email: t.String(), createdAt: Instant }, { title: 'Merchant' })
export const SignupAnswer = t.Object({ merchant: MerchantRecord, shop: ShopRecord })
export const ShopOfStaff = t.Object(
  { ...ShopRecord.properties, role: oneOf(staffRoles, { description: "The merchant's role in the shop" }) },
  { title: 'ShopOfStaff' },
)
export const Me = t.Object({
  merchant: t.Object(
    {
      ...MerchantRecord.properties,
      secondFactor: t.Boolean({ description: 'Whether a login asks for a code' }),
    },
    { title: 'Me' },
  ),
  shops: t.Array(ShopOfStaff),
  kyb: nullable(KybRecord),
})

/** Renders a shop with the person's role in it. */
export const shopOfStaffView = ({ shop, role }: { shop: Shop; role: StaffRole }) => ({ ...shopView(shop), role })

/** Renders an account without its password hash and role. */
export const merchantView = ({ id, email, createdAt }: User) => ({ id, email, ...isoTimes({ createdAt }) })
