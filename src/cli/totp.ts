import { OperatorError } from '../core/errors.ts'
import { removeSecondFactor } from '../modules/identity/merchant/index.ts'
import type { Input } from './command.ts'
import { UsageError } from './failure.ts'
import { withExistingInstance } from './instance-command.ts'
import { unknownText } from './suggestion.ts'

/** `souk totp remove`: lets a user log in who lost the authenticator app and the recovery codes. */
export async function totp({ config, positionals: [what], values }: Input): Promise<number> {
  if (what !== 'remove') throw new UsageError(`${unknownText('argument', what ?? '', ['remove'])} Use \`souk totp remove\`.`)
  const email = values.get('email')
  if (email === undefined) throw new UsageError('--email is missing. Run `souk totp remove --email you@example.com`')
  return withExistingInstance(config(), async ({ deps }) => {
    const user = await removeSecondFactor(deps, email)
    if (!user) throw new OperatorError('No user with this email uses two-factor authentication. Nothing was changed')
    process.stdout.write(`Two-factor authentication removed for ${user.email}.\n`)
    return 0
  })
}
