import { OperatorError } from '../core/errors.ts'
import { checkMailServer, countMails, sendTestMail } from '../modules/messaging/mail/index.ts'
import type { Input } from './command.ts'
import { withExistingInstance } from './instance-command.ts'

/**
 * `souk mail status|test`.
 * @returns 1 if the mail server does not accept mail or is not configured
 */
export async function mail(input: Input): Promise<number> {
  const [what = ''] = input.positionals
  if (what === 'status') return status(input)
  if (what === 'test') return test(input)
  throw new OperatorError('souk mail takes status or test')
}

const notConfigured = 'SMTP_URL is not set: no mails are sent'

async function status({ config }: Input): Promise<number> {
  return withExistingInstance(config(), async ({ deps }) => {
    const { byStatus, errors } = await countMails(deps)
    const why = deps.mailServer ? await checkMailServer(deps.mailServer) : notConfigured
    const lines = [
      why === undefined ? 'The mail server takes mails' : `The mail server does not take mails: ${why}`,
      ...byStatus.map(({ status: one, n }) => `${one.padEnd(8)} ${n}`),
      ...(errors.length > 0 ? ['', 'Why mails were not sent, as far as they are kept:'] : []),
      ...errors.map(({ error, n }) => `${String(n).padStart(8)}  ${error}`),
    ]
    process.stdout.write(`${lines.join('\n')}\n`)
    return why === undefined ? 0 : 1
  })
}

async function test({ config, values }: Input): Promise<number> {
  const to = values.get('to')
  if (to === undefined) throw new OperatorError('souk mail test needs --to, the address that the mail goes to')
  return withExistingInstance(config(), async ({ deps }) => {
    const why = deps.mailServer ? await sendTestMail(deps, to) : notConfigured
    if (why === undefined) process.stdout.write('The mail server has taken it\n')
    else process.stderr.write(`The mail was not taken: ${why}\n`)
    return why === undefined ? 0 : 1
  })
}
