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
    enabled: t.Boolean({ description: 'Whether logins of this account ask for a code; one that was begun and not confirmed is none' }),
    recoveryCodesLeft: integer({
      minimum: 0,
      maximum: recoveryCodeCount,
      description: 'Those that were not used yet; 0 where no second factor is on',
    }),
  },
  { title: 'Totp' },
)
export const BeginTotp = t.Object({ password: CurrentPassword })
export const BegunTotp = t.Object(
  {
    secret: t.String({ description: 'In base32, to type into an authenticator app; shown this once' }),
    otpauthUri: t.String({ description: 'The same as `otpauth://totp/…`, to show as a QR code; shown this once' }),
  },
  { title: 'BegunTotp' },
)
export const ConfirmTotp = t.Object({ code: codeField('Six digits, as the authenticator app shows them now') })
export const RecoveryCodes = t.Object(
  {
    recoveryCodes: t.Array(t.String(), {
      minItems: recoveryCodeCount,
      maxItems: recoveryCodeCount,
      description: 'Each stands in for a code once; shown this once',
    }),
  },
  { title: 'RecoveryCodes' },
)
export const RemoveTotp = t.Object({ password: CurrentPassword, code: codeField('Of the authenticator app, or a recovery code') })
