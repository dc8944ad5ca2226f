import { Value } from '@sinclair/typebox/value'
import { OperatorError } from '../core/errors.ts'
import { Email } from '../http/schema.ts'
import { createSuperAdmin, findUserByEmail, hasSuperAdmin } from '../modules/identity/merchant/index.ts'
import type { Input } from './command.ts'
import { UsageError } from './failure.ts'
import { withInstance } from './instance-command.ts'
import { onInterruption } from './interruption.ts'
import { askPassword } from './prompt-password.ts'

/** `souk setup`: creates the first super admin. */
export async function setup({ config, values, switches }: Input): Promise<number> {
  const email = values.get('email')
  if (email === undefined) throw new UsageError('--email is missing: `souk setup --email you@example.com`')
  if (!Value.Check(Email, email)) throw new UsageError('--email must be an e-mail address')
  return withInstance(config(), async ({ deps }) => {
    if (await findUserByEmail(deps, email))
      throw new OperatorError('Somebody with that e-mail address is there already: nothing was changed')
    if (!switches.has('another') && (await hasSuperAdmin(deps))) {
      throw new OperatorError('There is a super admin already: `souk setup --another` makes one more')
    }
    const password = await askPassword()
    const interruption = onInterruption(() => 'Stopped: `souk setup` run again makes the super admin, or says that it is there')
    const user = await createSuperAdmin(deps, { email, password })
    interruption.end()
    process.stdout.write(`The super admin ${user.email} is made: log in with POST /merchant/login\n`)
    return 0
  })
}
