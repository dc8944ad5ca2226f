import { t } from 'elysia'
import { Email, text } from '../../../http/schema.ts'
import { NewPassword } from '../auth/model.ts'

export const ForgotPassword = t.Object({
  email: Email,
  shopName: t.Optional(text(63, { minLength: 1, description: "For a shop's customer; without it for a merchant or an operator" })),
})
export const ResetPassword = t.Object({
  token: text(200, { minLength: 1, description: 'From the link of the mail' }),
  password: NewPassword,
})
export const ForgotAnswer = t.Object(
  { message: t.String(), sending: t.Boolean({ description: 'False: the instance has no mail server, and nobody is sent anything' }) },
  { description: 'Whether there is such an account is not told' },
)
