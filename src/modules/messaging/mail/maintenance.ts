import { inBatches } from '../../../lib/batches.ts'
import { dayMs } from '../../../lib/day.ts'
import { idBoundary } from '../../../lib/ids.ts'
import { made } from './compose.ts'
import { giveUpExpired } from './delivery.ts'
import { keptMs, laneOf, mailSeal } from './domain.ts'
import type { MailBaseDeps } from './mail-deps.ts'
import { mailStore as store } from './store.ts'

const forgottenAtOnce = 500
const verifyMs = 20_000

/** Ends what waited for too long, forgets after a day what quotas count by, and after a month what is over. */
export async function forgetMails(deps: MailBaseDeps): Promise<void> {
  await giveUpExpired(deps)
  const before = idBoundary('mail', deps.clock.now() - keptMs)
  await inBatches(forgottenAtOnce, () => deps.db.write((tx) => store.forgetCounted(tx, deps.clock.now() - dayMs, forgottenAtOnce)))
  await inBatches(forgottenAtOnce, () => deps.db.write((tx) => store.removeOld(tx, before, forgottenAtOnce)))
}

/** Says at the start whether mails are sent, and whether the server takes them: nobody waits for that, and nothing is stopped by it. */
export async function tellOfMail({ config, mailServer, log }: Pick<MailBaseDeps, 'config' | 'mailServer' | 'log'>): Promise<void> {
  if (mailServer === undefined) {
    log.info('mail.off', {
      advice: 'no mails are sent: nobody is told of their order, and no password can be reset by mail. Set SMTP_URL and MAIL_FROM',
    })
    return
  }
  if (config.publicUrl === undefined)
    log.warn('mail.links_lead_here', { advice: 'links in mails lead to where souk listens: set PUBLIC_URL to where people reach it' })
  const why = await whyNotReady(mailServer)
  if (why === undefined) log.info('mail.ready', {})
  else log.error('mail.server_not_ready', { why, advice: 'mails wait until it takes them: see that SMTP_URL is right' })
}

/** What the mail server has against us, in words; undefined where it lets us in. */
export async function whyNotReady(mailServer: NonNullable<MailBaseDeps['mailServer']>): Promise<string | undefined> {
  try {
    await mailServer.verify(verifyMs)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : 'internal error'
  }
}

/** How many mails there are by what became of them, and why those failed that did. */
export const mailStanding = ({ db }: Pick<MailBaseDeps, 'db'>) => store.standing(db.read)

/** Sends a mail at once, to see whether one arrives. @returns why it was not taken; undefined where it was */
export async function sendTestMail(deps: MailBaseDeps, to: string): Promise<string | undefined> {
  const now = deps.clock.now()
  const mail = { ...{ id: deps.newId('mail'), shopId: null, language: null, template: 'test' }, createdAt: now }
  const outgoing = await made(deps, mail, { to, data: {} })
  if (!outgoing) return 'that is no address that a mail can be sent to'
  try {
    await deps.mailServer?.send(outgoing, deps.mailLimits.attemptMs)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : 'internal error'
  }
}

const lookedAtAtOnce = 500

/**
 * The ids of a shop's mails that wait and are about somebody.
 * @param isAbout of a mail, whom it goes to and what it says, as JSON
 */
export async function mailsAbout(
  { db, keyring }: Pick<MailBaseDeps, 'db' | 'keyring'>,
  shopId: string,
  isAbout: (content: string) => boolean,
): Promise<string[]> {
  const lanes = [laneOf(shopId, 'order-confirmed'), laneOf(shopId, 'email-verify')]
  const found: string[] = []
  let last: string | undefined = ''
  while (last !== undefined) {
    const rows: Awaited<ReturnType<typeof store.waiting>> = await store.waiting(db.read, lanes, last, lookedAtAtOnce)
    for (const { id, sealed } of rows) if (sealed !== null && isAbout(keyring.unseal(sealed, mailSeal(id)))) found.push(id)
    last = rows[lookedAtAtOnce - 1]?.id
    await new Promise((resume) => setImmediate(resume))
  }
  return found
}
