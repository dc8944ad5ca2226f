import { inBatches } from '../../../lib/batches.ts'
import { dayMs } from '../../../lib/day.ts'
import { idBoundary } from '../../../lib/ids.ts'
import { composeMail } from './compose.ts'
import { endExpiredMails } from './delivery.ts'
import { laneOf, mailSeal, retentionMs } from './domain.ts'
import type { MailBaseDeps } from './mail-deps.ts'
import { mailStore as store } from './store.ts'

const deletionBatchSize = 500
const verifyMs = 20_000

/** Ends expired mails, deletes quota data after a day, and deletes finished mails after a month. */
export async function deleteOldMails(deps: MailBaseDeps): Promise<void> {
  await endExpiredMails(deps)
  const before = idBoundary('mail', deps.clock.now() - retentionMs)
  await inBatches(deletionBatchSize, () => deps.db.write((tx) => store.forgetCounted(tx, deps.clock.now() - dayMs, deletionBatchSize)))
  await inBatches(deletionBatchSize, () => deps.db.write((tx) => store.removeOld(tx, before, deletionBatchSize)))
}

/** Logs at the start whether mails are sent and the server accepts them. Nothing waits for it. */
export async function logMailStatus({ config, mailServer, log }: Pick<MailBaseDeps, 'config' | 'mailServer' | 'log'>): Promise<void> {
  if (mailServer === undefined) {
    log.info('mail.off', {
      advice: "No emails are sent: customers get no order confirmations, and passwords can't be reset by email. Set SMTP_URL and MAIL_FROM",
    })
    return
  }
  if (config.publicUrl === undefined)
    log.warn('mail.links_lead_here', {
      advice: 'Links in emails use the address that souk listens on. Set PUBLIC_URL to its public address',
    })
  const why = await checkMailServer(mailServer)
  if (why === undefined) log.info('mail.ready', {})
  else log.error('mail.server_not_ready', { why, advice: 'Emails wait until the mail server accepts them. Check SMTP_URL' })
}

/** Returns why the mail server refuses the login; undefined if it accepts. */
export async function checkMailServer(mailServer: NonNullable<MailBaseDeps['mailServer']>): Promise<string | undefined> {
  try {
    await mailServer.verify(verifyMs)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : 'internal error'
  }
}

/** Counts mails by status, and the most frequent errors. */
export const countMails = ({ db }: Pick<MailBaseDeps, 'db'>) => store.statusCounts(db.read)

/** Sends a test mail at once. @returns why it was refused; undefined if accepted */
export async function sendTestMail(deps: MailBaseDeps, to: string): Promise<string | undefined> {
  const now = deps.clock.now()
  const mail = { ...{ id: deps.newId('mail'), shopId: null, language: null, template: 'test' }, createdAt: now }
  const outgoing = await composeMail(deps, mail, { to, data: {} })
  if (!outgoing) return 'the address cannot receive mail'
  try {
    await deps.mailServer?.send(outgoing, deps.mailLimits.attemptMs)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : 'internal error'
  }
}

const scanBatchSize = 500

/**
 * Returns a shop's pending mails about a person.
 * @param isAbout receives recipient and data as JSON
 */
export async function findPendingMailsAbout(
  { db, keyring }: Pick<MailBaseDeps, 'db' | 'keyring'>,
  shopId: string,
  isAbout: (content: string) => boolean,
): Promise<string[]> {
  const lanes = [laneOf(shopId, 'order-confirmed'), laneOf(shopId, 'email-verify')]
  const found: string[] = []
  let last: string | undefined = ''
  while (last !== undefined) {
    const rows: Awaited<ReturnType<typeof store.pendingOfLanes>> = await store.pendingOfLanes(db.read, lanes, last, scanBatchSize)
    for (const { id, sealed } of rows) if (sealed !== null && isAbout(keyring.unseal(sealed, mailSeal(id)))) found.push(id)
    last = rows[scanBatchSize - 1]?.id
    await new Promise((resume) => setImmediate(resume))
  }
  return found
}
