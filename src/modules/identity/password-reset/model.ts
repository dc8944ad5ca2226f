import { t } from 'elysia'
import { Email, text } from '../../../http/schema.ts'
import { NewPassword } from '../auth/model.ts'

export const ForgotPassword = t.Object({
  email: Email,
  shopName: t.Optional(text(63, { minLength: 1, description: 'For a customer of a shop. Leave it out for a merchant or super admin' })),
})
export const ResetPassword = t.Object({
  token: text(200, { minLength: 1, description: 'From the link in the e-mail' }),
  password: NewPassword,
})
export const ForgotAnswer = t.Object(
  { message: t.String(), sending: t.Boolean({ description: 'False if the instance has no mail server. Nothing is sent then' }) },
  { description: 'The same whether or not the account exists' },
)
