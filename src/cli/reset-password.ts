import { OperatorError } from '../core/errors.ts'
import { findUserByEmail, resetUserPassword } from '../modules/identity/merchant/index.ts'
import type { Input } from './command.ts'
import { UsageError } from './failure.ts'
import { withExistingInstance } from './instance-command.ts'
import { askPassword } from './prompt-password.ts'

/** `souk reset-password`: sets a new password and ends all sessions of a user. */
export async function resetPassword({ config, values }: Input): Promise<number> {
  const email = values.get('email')
  if (email === undefined) throw new UsageError('--email is missing. Run `souk reset-password --email you@example.com`')
  return withExistingInstance(config(), async ({ deps }) => {
    const noSuchUserError = () => new OperatorError('No user has this email. Nothing was changed')
    if (!(await findUserByEmail(deps, email))) throw noSuchUserError()
    const user = await resetUserPassword(deps, { email, password: await askPassword() })
    if (!user) throw noSuchUserError()
    process.stdout.write(`${user.email} has the new password, and is logged out everywhere.\n`)
    return 0
  })
}
