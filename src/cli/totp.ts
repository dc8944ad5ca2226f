import { OperatorError } from '../core/errors.ts'
import { removeSecondFactor } from '../modules/identity/merchant/index.ts'
import type { Input } from './command.ts'
import { UsageError } from './failure.ts'
import { withExistingInstance } from './instance-command.ts'

/** `souk totp remove`: lets a user log in who lost the authenticator app and the recovery codes. */
export async function totp({ config, positionals: [what], values }: Input): Promise<number> {
  if (what !== 'remove') throw new UsageError('`souk totp remove` is what there is: `souk totp --help` shows how it is called')
  const email = values.get('email')
  if (email === undefined) throw new UsageError('--email is missing: `souk totp remove --email you@example.com`')
  return withExistingInstance(config(), async ({ deps }) => {
    const user = await removeSecondFactor(deps, email)
    if (!user) throw new OperatorError('No merchant or super admin with that e-mail address has a second factor: nothing was changed')
    process.stdout.write(`${user.email} has no second factor any more, and logs in with the password alone.\n`)
    return 0
  })
}
