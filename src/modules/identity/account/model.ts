import { t } from 'elysia'
import { integer, text } from '../../../http/schema.ts'
import { passwordLength } from '../auth/domain.ts'
import { NewPassword } from '../auth/model.ts'
import { codeLengthMax, recoveryCodeCount } from '../second-factor/domain.ts'

/** Checks only the length, because errors must not reveal more about a password. */
const CurrentPassword = text(passwordLength.maxLength, { minLength: 1 })
const codeField = (description: string) => text(codeLengthMax, { minLength: 1, description })

export const ChangePassword = t.Object({ current: CurrentPassword, password: NewPassword })

export const Totp = t.Object(
  {
    enabled: t.Boolean({ description: 'Whether a login asks for a code. False until the second factor is confirmed' }),
    recoveryCodesLeft: integer({
      minimum: 0,
      maximum: recoveryCodeCount,
      description: 'Number of unused recovery codes. 0 if there is no second factor',
    }),
  },
  { title: 'Totp' },
)
export const BeginTotp = t.Object({ password: CurrentPassword })
export const BegunTotp = t.Object(
  {
    secret: t.String({ description: 'In base32, for entry into an authenticator app. Returned only once' }),
    otpauthUri: t.String({ description: 'The same as an `otpauth://totp/…` URI, for a QR code. Returned only once' }),
  },
  { title: 'TotpSetup' },
)
export const ConfirmTotp = t.Object({ code: codeField('The current six-digit code of the authenticator app') })
export const RecoveryCodes = t.Object(
  {
    recoveryCodes: t.Array(t.String(), {
      minItems: recoveryCodeCount,
      maxItems: recoveryCodeCount,
      description: 'Each replaces a code once. Returned only once',
    }),
  },
  { title: 'RecoveryCodes' },
)
export const RemoveTotp = t.Object({ password: CurrentPassword, code: codeField('A code of the authenticator app, or a recovery code') })
