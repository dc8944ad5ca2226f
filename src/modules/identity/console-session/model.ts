import { t } from 'elysia'
import { Email, integer, oneOf, text } from '../../../http/schema.ts'
import { OpenShop } from '../../shop/shop/model.ts'
import { NewPassword } from '../auth/model.ts'
import { LoginBody, ShopOfStaff } from '../merchant/model.ts'
import { tokenLength, tokenPattern } from '../one-time-token/domain.ts'
import { features } from './domain.ts'

const { email, password, code } = LoginBody.properties
/** Either a login, or nothing to resume the session of the cookie. */
export const SessionBody = t.Object({ email: t.Optional(email), password: t.Optional(password), code })
export const SetupBody = t.Object({
  token: text(tokenLength, { pattern: tokenPattern, rule: 'the token that the server has printed' }),
  email: Email,
  password: NewPassword,
  shop: t.Optional(t.Object(OpenShop.properties, { description: 'A first shop. The same account is its OWNER' })),
})
export const SessionAnswer = t.Object(
  {
    accessToken: t.String(),
    expiresIn: integer({ description: 'In seconds' }),
    roles: t.Array(oneOf(['MERCHANT', 'SUPER_ADMIN'], { description: 'Role of the account' })),
    canCreateShops: t.Boolean({ description: 'Whether `POST /shops/v2` is open to the account' }),
    features: t.Array(oneOf(features), { description: 'Optional parts of the instance that are switched on or used' }),
    affiliateShops: t.Array(t.String(), { description: 'Ids of those of `shops` that have affiliates' }),
    shops: t.Array(ShopOfStaff, { description: 'Shops in which the person works, as in `GET /merchant/me`' }),
  },
  { title: 'ConsoleSession' },
)
