import { passwordLength } from '../modules/identity/auth/domain.ts'
import { isCommonPassword } from '../modules/identity/auth/index.ts'
import { UsageError } from './failure.ts'
import { askSecret } from './prompt.ts'

/**
 * Asks for a new password.
 * @throws UsageError like `askSecret`, and for a common password
 */
export async function askPassword(): Promise<string> {
  const password = await askSecret({ what: 'password', twice: true, ...passwordLength })
  if (await isCommonPassword(password)) throw new UsageError('The password is too common. Choose another one')
  return password
}
