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
  if (email === undefined) throw new UsageError('--email is missing. Run `souk setup --email you@example.com`')
  if (!Value.Check(Email, email)) throw new UsageError('--email must be an email address')
  return withInstance(config(), async ({ deps }) => {
    if (await findUserByEmail(deps, email)) throw new OperatorError('A user with this email already exists. Nothing was changed')
    if (!switches.has('another') && (await hasSuperAdmin(deps))) {
      throw new OperatorError('An administrator already exists. Use `souk setup --another` to create a further one')
    }
    const password = await askPassword()
    const interruption = onInterruption(() => 'Stopped. Run `souk setup` again')
    const user = await createSuperAdmin(deps, { email, password })
    interruption.end()
    process.stdout.write(`Administrator ${user.email} created. Log in at /console\n`)
    return 0
  })
}
