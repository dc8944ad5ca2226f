import { Value } from '@sinclair/typebox/value'
import { Email } from '../http/schema.ts'
import { checkMailServer, countMails, sendTestMail } from '../modules/messaging/mail/index.ts'
import type { Input } from './command.ts'
import { UsageError } from './failure.ts'
import { withExistingInstance } from './instance-command.ts'
import { unknownText } from './suggestion.ts'

/**
 * `souk mail status|test`.
 * @returns 1 if the mail server does not accept mail or is not configured
 */
export async function mail(input: Input): Promise<number> {
  const [what = ''] = input.positionals
  if (what === 'status') return status(input)
  if (what === 'test') return test(input)
  throw new UsageError(`${unknownText('argument', what, ['status', 'test'])} Use \`souk mail status\` or \`souk mail test\`.`)
}

const notConfigured = 'Email is not set up: set SMTP_URL'

async function status({ config }: Input): Promise<number> {
  return withExistingInstance(config(), async ({ deps }) => {
    const { byStatus, errors } = await countMails(deps)
    const why = deps.mailServer ? await checkMailServer(deps.mailServer) : notConfigured
    const lines = [
      why === undefined ? 'The mail server accepts emails' : why === notConfigured ? why : `The mail server doesn't accept emails: ${why}`,
      ...byStatus.map(({ status: one, n }) => `${one.padEnd(8)} ${n}`),
      ...(errors.length > 0 ? ['', 'Causes of failed emails:'] : []),
      ...errors.map(({ error, n }) => `${String(n).padStart(8)}  ${error}`),
    ]
    process.stdout.write(`${lines.join('\n')}\n`)
    return why === undefined ? 0 : 1
  })
}

async function test({ config, values }: Input): Promise<number> {
  const to = values.get('to')
  if (to === undefined) throw new UsageError('--to is missing. Run `souk mail test --to you@example.com`')
  if (!Value.Check(Email, to)) throw new UsageError('--to must be an email address')
  return withExistingInstance(config(), async ({ deps }) => {
    const why = deps.mailServer ? await sendTestMail(deps, to) : notConfigured
    if (why === undefined) process.stdout.write('Test email sent\n')
    else process.stderr.write(why === notConfigured ? `${why}\n` : `The test email was not sent: ${why}\n`)
    return why === undefined ? 0 : 1
  })
}
