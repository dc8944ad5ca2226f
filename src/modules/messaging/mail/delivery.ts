import { locking } from '../../../core/command-context.ts'
import { createDeliveryQueue, lanesPerQuery, type Sender } from '../../../core/delivery-queue.ts'
import { MailNotTaken } from '../../../core/mail-server.ts'
import { afterFailure, afterProbe, afterSuccess, isClosed, isProbeDue, startProbe } from '../../../lib/breaker.ts'
import { randomFraction } from '../../../lib/random.ts'
import { composeMail } from './compose.ts'
import {
  afterAttempt,
  hasSlot,
  isServerFailure,
  type Mail,
  type MailContent,
  type MailSlot,
  mailSeal,
  type Outcome,
  slotsMax,
} from './domain.ts'
import type { MailBaseDeps, MailHealth, Preparer } from './mail-deps.ts'
import { claimAllowed } from './quotas.ts'
import { type DueLane, mailStore as store } from './store.ts'

const expiryBatchSize = 100
/** Time for writing the result, in addition to the attempt. After both, another process may claim the mail. */
const leaseMarginMs = 30_000
/** Time for the handshake and login of a check. */
const probeMs = 20_000

/**
 * Sends pending mails. A server that fails repeatedly is only checked now and then until it recovers.
 */
export function createMailSender(deps: MailBaseDeps): Sender {
  const { db, clock, log, mailServer, mailHealth, mailLimits } = deps
  const inFlight = new Map<string, MailSlot>()
  const queue = createDeliveryQueue<MailSlot, DueLane, Mail>({
    slots: slotsMax,
    hasSlot,
    inFlight,
    isOpen: () => isClosed(mailHealth.breaker),
    lanes: (after) => store.lanes(db.read, { now: clock.now(), after, limit: lanesPerQuery }),
    laneName: ({ lane }) => lane,
    async claim(selected) {
      if (selected.length === 0) return { claimed: [], ended: 0 }
      const ids = selected.map(({ mailId }) => mailId)
      const until = clock.now() + mailLimits.attemptMs + leaseMarginMs
      const { claimed, held } = await db.write((tx) => claimAllowed(tx, deps, ids, until), locking)
      return { claimed, ended: held }
    },
    send(mail) {
      inFlight.set(mail.id, mail)
      return send(deps, mail)
    },
    onError: (error, mail) => log.error(mail === undefined ? 'mail.claim_failed' : 'mail.result_lost', { mail, error }),
  })

  return {
    async run() {
      if (queue.isStopped() || mailServer === undefined) return
      const now = clock.now()
      if (isProbeDue(mailHealth.breaker, now)) await probe(deps)
      const work = await store.work(db.read, now)
      if (work.expired) await endExpiredMails(deps)
      if (work.due) await queue.fill()
    },
    idle: queue.idle,
    async stop() {
      await queue.stop()
      mailServer?.close()
    },
  }
}

/** Ends mails that waited too long. */
export async function endExpiredMails({ db, clock, mailCounts, config, log }: MailBaseDeps): Promise<void> {
  const end =
    config.smtpUrl === undefined
      ? ({ status: 'DROPPED', lastError: 'there is no mail server' } as const)
      : ({ status: 'FAILED', lastError: 'waited too long' } as const)
  for (let ended = expiryBatchSize; ended === expiryBatchSize; ) {
    ended = await db.write((tx) => store.giveUp(tx, clock.now(), end, expiryBatchSize), locking)
    if (ended === 0) return
    mailCounts.add(end.status === 'FAILED' ? 'dead' : 'dropped', ended)
    log.warn('mail.given_up', { mails: ended, why: end.lastError })
  }
}

/** Checks whether a failed server accepts mails again. */
async function probe({ mailServer, mailHealth, clock, log, randomBytes }: MailBaseDeps): Promise<void> {
  mailHealth.breaker = startProbe(mailHealth.breaker, clock.now())
  const why = await mailServer?.verify(probeMs).then(
    () => undefined,
    (error: unknown) => errorText(error),
  )
  mailHealth.breaker = afterProbe(mailHealth.breaker, why === undefined, clock.now(), randomFraction(randomBytes))
  if (why === undefined) log.info('mail.server_back', {})
  else log.warn('mail.server_away', { why })
}

const errorText = (error: unknown): string => (error instanceof MailNotTaken ? error.message : 'internal error')

/** Makes one attempt and stores its result. */
async function send(deps: MailBaseDeps, mail: Mail): Promise<void> {
  const { db, clock, randomBytes, log, mailCounts, mailHealth } = deps
  const outcome = await attempt(deps, mail)
  const now = clock.now()
  updateHealth(mailHealth, outcome, deps)
  const result = afterAttempt(outcome, mail, now, randomFraction(randomBytes))
  // Unneeded mails do not count towards the recipient's quota, but towards that of the causing address.
  const uncounted = outcome.result === 'nobody' ? { recipient: null } : {}
  await db.write((tx) => store.settle(tx, mail, { ...result, ...uncounted, updatedAt: now }), locking)
  mailCounts.add({ SENT: 'sent', PENDING: 'failed', FAILED: 'dead', DROPPED: 'nobody' }[result.status])
  if (result.status === 'FAILED') log.warn('mail.not_sent', { mail: mail.id, template: mail.template, why: result.lastError })
}

function updateHealth(health: MailHealth, outcome: Outcome, { clock, log }: Pick<MailBaseDeps, 'clock' | 'log'>): void {
  const hasFailed = isServerFailure(outcome)
  if (hasFailed === undefined) return
  const wasClosed = isClosed(health.breaker)
  health.breaker = hasFailed ? afterFailure(health.breaker, clock.now()) : afterSuccess(health.breaker)
  if (wasClosed && !isClosed(health.breaker)) log.error('mail.server_away', { why: 'error' in outcome ? outcome.error : '' })
}

async function attempt(deps: MailBaseDeps, mail: Mail): Promise<Outcome> {
  const { keyring, mailServer, mailPreparers, mailLimits, log } = deps
  try {
    if (mail.sealed === null || mailServer === undefined) return { result: 'nobody' }
    const content: MailContent = JSON.parse(keyring.unseal(mail.sealed, mailSeal(mail.id)))
    const prepare = mailPreparers.get(mail.template)
    const prepared: Awaited<ReturnType<Preparer>> = prepare ? await prepare(content, mail) : content
    if (prepared === undefined) return { result: 'nobody' }
    const outgoing = await composeMail(deps, { ...mail, template: prepared.template ?? mail.template }, prepared)
    if (outgoing === undefined) return { result: 'refused', error: 'the address cannot receive mail' }
    await mailServer.send(outgoing, mailLimits.attemptMs)
    return { result: 'sent' }
  } catch (error) {
    if (error instanceof MailNotTaken) return { result: error.failure, error: error.message }
    log.error('mail.not_made', { mail: mail.id, template: mail.template, error })
    return { result: 'internal', error: 'internal error' }
  }
}
