import { locking } from '../../../core/command-context.ts'
import { MailNotTaken } from '../../../core/mail-server.ts'
import { failed, isToProbe, lets, probed, probing, succeeded } from '../../../lib/breaker.ts'
import { atOnceOrAgain } from '../../../lib/coalesce.ts'
import { chanceOf } from '../../../lib/random.ts'
import { made } from './compose.ts'
import { afterAttempt, type Mail, type MailContent, mailSeal, type Outcome, placesMax, serverFailed, withRoom } from './domain.ts'
import type { MailBaseDeps, MailHealth, Preparer } from './mail-deps.ts'
import { claimAllowed } from './quotas.ts'
import { type Due, mailStore as store } from './store.ts'

export type Mails = {
  /** Begins to send what is due, and does not wait until that is sent; for a server that failed, first whether it takes mails again. */
  run(): Promise<void>
  /** Resolves when nothing is being sent any more. */
  idle(): Promise<void>
  /** Begins nothing new, and resolves when nothing is being sent any more. */
  stop(): Promise<void>
}

const lanesAtOnce = 50
const givenUpAtOnce = 100
/** Besides the time that an attempt may take: for the write of its result. Whoever claimed a mail and vanished leaves it to others after both. */
const leaseSpareMs = 30_000
/** The handshake and the login of a server that is looked at. */
const probeMs = 20_000

/**
 * Sends the mails that wait. Every process may: what one has claimed, the others leave alone. Lanes have their turns one after the other, so
 * that what waits for one holds up no other. A server that fails again and again is left alone, and looked at now and then, before more is
 * handed to it.
 */
export function createMails(deps: MailBaseDeps): Mails {
  const { db, clock, log, mailServer, mailHealth, mailLimits } = deps
  const underWay = new Map<string, string>()
  const sends = new Set<Promise<void>>()
  /** The lane that had the last turn. */
  let lastLane = ''
  let stopped = false

  /** Claims and begins what there is room for, one caller at a time: whoever comes meanwhile has it looked at once more. */
  const filling = atOnceOrAgain(async () => {
    if (!stopped) await fillOnce()
  })
  const fill = (): Promise<void> => (stopped ? Promise.resolve() : filling.ask())

  /** Goes from lane to lane, around and around, until there is no more room or nothing more to begin. */
  async function fillOnce(): Promise<void> {
    let begun = false
    while (!stopped && lets(mailHealth.breaker) && underWay.size < placesMax) {
      const fromTheStart = lastLane === ''
      const found = await store.lanes(db.read, { now: clock.now(), after: lastLane, limit: lanesAtOnce })
      const chosen = withRoom(found, [...underWay.values()])
      const { claimed, held } = await claim(chosen)
      begun ||= claimed.length + held > 0
      for (const mail of claimed) begin(mail)
      const isFull = underWay.size >= placesMax
      lastLane = (isFull ? chosen.at(-1) : found.length < lanesAtOnce ? undefined : found.at(-1))?.lane ?? ''
      if (lastLane !== '') continue
      // The last one had its turn.
      if (fromTheStart && !begun) return
      begun = false
    }
  }

  async function claim(chosen: readonly Due[]): Promise<{ claimed: Mail[]; held: number }> {
    if (chosen.length === 0) return { claimed: [], held: 0 }
    const ids = chosen.map(({ mailId }) => mailId)
    return db.write((tx) => claimAllowed(tx, deps, ids, clock.now() + mailLimits.attemptMs + leaseSpareMs), locking)
  }

  function begin(mail: Mail): void {
    underWay.set(mail.id, mail.lane)
    const sending = send(deps, mail)
      // Its claim runs out, and then it is sent again.
      .catch((error) => log.error('mail.result_lost', { mail: mail.id, error }))
      .then(() => {
        underWay.delete(mail.id)
        sends.delete(sending)
        return fill()
      })
      .catch((error) => log.error('mail.claim_failed', { error }))
    sends.add(sending)
  }

  async function idle(): Promise<void> {
    while (filling.underWay() || sends.size > 0) await Promise.allSettled([filling.underWay(), ...sends])
  }

  return {
    async run() {
      if (stopped || mailServer === undefined) return
      const now = clock.now()
      if (isToProbe(mailHealth.breaker, now)) await probe(deps)
      const work = await store.work(db.read, now)
      if (work.expired) await giveUpExpired(deps)
      if (work.due) await fill()
    },
    idle,
    async stop() {
      stopped = true
      await idle()
      mailServer?.close()
    },
  }
}

/** Ends what waited for too long. */
export async function giveUpExpired({ db, clock, mailCounts, config, log }: MailBaseDeps): Promise<void> {
  const end =
    config.smtpUrl === undefined
      ? ({ status: 'DROPPED', lastError: 'there is no mail server' } as const)
      : ({ status: 'FAILED', lastError: 'waited too long' } as const)
  for (let ended = givenUpAtOnce; ended === givenUpAtOnce; ) {
    ended = await db.write((tx) => store.giveUp(tx, clock.now(), end, givenUpAtOnce), locking)
    if (ended === 0) return
    mailCounts.add(end.status === 'FAILED' ? 'dead' : 'dropped', ended)
    log.warn('mail.given_up', { mails: ended, why: end.lastError })
  }
}

/** Looks whether a server that failed takes mails again. */
async function probe({ mailServer, mailHealth, clock, log, randomBytes }: MailBaseDeps): Promise<void> {
  mailHealth.breaker = probing(mailHealth.breaker, clock.now())
  const why = await mailServer?.verify(probeMs).then(
    () => undefined,
    (error: unknown) => wordsOf(error),
  )
  mailHealth.breaker = probed(mailHealth.breaker, why === undefined, clock.now(), chanceOf(randomBytes))
  if (why === undefined) log.info('mail.server_back', {})
  else log.warn('mail.server_away', { why })
}

const wordsOf = (error: unknown): string => (error instanceof MailNotTaken ? error.message : 'internal error')

/** One attempt, and what came of it. */
async function send(deps: MailBaseDeps, mail: Mail): Promise<void> {
  const { db, clock, randomBytes, log, mailCounts, mailHealth } = deps
  const outcome = await attempt(deps, mail)
  const now = clock.now()
  noteHealth(mailHealth, outcome, deps)
  const result = afterAttempt(outcome, mail, now, chanceOf(randomBytes))
  // A mail that was not needed does not count towards the recipient's quota. It still counts for who caused it.
  const uncounted = outcome.result === 'nobody' ? { recipient: null } : {}
  await db.write((tx) => store.settle(tx, mail, { ...result, ...uncounted, updatedAt: now }), locking)
  mailCounts.add({ SENT: 'sent', PENDING: 'failed', FAILED: 'dead', DROPPED: 'nobody' }[result.status])
  if (result.status === 'FAILED') log.warn('mail.not_sent', { mail: mail.id, template: mail.template, why: result.lastError })
}

function noteHealth(health: MailHealth, outcome: Outcome, { clock, log }: Pick<MailBaseDeps, 'clock' | 'log'>): void {
  const hasFailed = serverFailed(outcome)
  if (hasFailed === undefined) return
  const wasClosed = lets(health.breaker)
  health.breaker = hasFailed ? failed(health.breaker, clock.now()) : succeeded(health.breaker)
  if (wasClosed && !lets(health.breaker)) log.error('mail.server_away', { why: 'error' in outcome ? outcome.error : '' })
}

async function attempt(deps: MailBaseDeps, mail: Mail): Promise<Outcome> {
  const { keyring, mailServer, mailPreparers, mailLimits, log } = deps
  try {
    if (mail.sealed === null || mailServer === undefined) return { result: 'nobody' }
    const content: MailContent = JSON.parse(keyring.unseal(mail.sealed, mailSeal(mail.id)))
    const prepare = mailPreparers.get(mail.template)
    const prepared: Awaited<ReturnType<Preparer>> = prepare ? await prepare(content, mail) : content
    if (prepared === undefined) return { result: 'nobody' }
    const outgoing = await made(deps, { ...mail, template: prepared.template ?? mail.template }, prepared)
    if (outgoing === undefined) return { result: 'refused', error: 'no address that a mail can be sent to' }
    await mailServer.send(outgoing, mailLimits.attemptMs)
    return { result: 'sent' }
  } catch (error) {
    if (error instanceof MailNotTaken) return { result: error.failure, error: error.message }
    log.error('mail.not_made', { mail: mail.id, template: mail.template, error })
    return { result: 'internal', error: 'internal error' }
  }
}
