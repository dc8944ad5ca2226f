import { t } from 'elysia'
import { text } from '../../http/schema.ts'
import { passwordLength } from '../auth/domain.ts'
import { NewPassword } from '../auth/model.ts'

/** The one before is checked against nothing but its length: what is wrong with it is not told. */
export const ChangePassword = t.Object({ current: text(passwordLength.maxLength, { minLength: 1 }), password: NewPassword })
