import { t } from 'elysia'
import { Email, integer, oneOf, text } from '../../../http/schema.ts'
import { NewPassword } from '../auth/model.ts'
import { LoginBody, ShopOfStaff } from '../merchant/model.ts'
import { tokenLength, tokenPattern } from '../one-time-token/domain.ts'

const { email, password, code } = LoginBody.properties
/** Either a login, or nothing to resume the session of the cookie. */
export const SessionBody = t.Object({ email: t.Optional(email), password: t.Optional(password), code })
export const SetupBody = t.Object({
  token: text(tokenLength, { pattern: tokenPattern, rule: 'the token that the server has printed' }),
  email: Email,
  password: NewPassword,
})
export const SessionAnswer = t.Object(
  {
    accessToken: t.String(),
    expiresIn: integer({ description: 'Seconds' }),
    roles: t.Array(oneOf(['MERCHANT', 'SUPER_ADMIN'], { description: 'What the account is' })),
    shops: t.Array(ShopOfStaff, { description: 'Where a merchant works, as in GET /merchant/me; none of a super admin' }),
  },
  { title: 'ConsoleSession' },
)
