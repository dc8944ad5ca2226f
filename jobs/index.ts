/** Croner wiring only: what a job does is in its own file. */
import { Cron } from 'croner'
import type { AppDeps } from '../src/parts.ts'
import { approveCommissions } from './approve-commissions.ts'
import { backUp } from './back-up.ts'
import { checkpoint } from './checkpoint.ts'
import { deliverWebhooks } from './deliver-webhooks.ts'
import { expireCarts } from './expire-carts.ts'
import { fetchRates } from './fetch-rates.ts'
import { foldListings } from './fold-listings.ts'
import { forget } from './forget.ts'
import { lookAround } from './look-around.ts'
import { priceUnpriced } from './price-unpriced.ts'
import { probeProcessors } from './probe-processors.ts'
import { checkQuickly } from './quick-check.ts'
import { recheckHosts } from './recheck-hosts.ts'
import { recordAttestedRepayments } from './record-attested-repayments.ts'
import { rescanChains } from './rescan-chains.ts'
import { closeOrders, resume, sweep, workInbox } from './sell.ts'
import { sweepDocuments } from './sweep-documents.ts'
import { syncAttestations } from './sync-attestations.ts'
import { watchBackups } from './watch-backups.ts'

export type Job = {
  name: string
  /** Croner pattern, with seconds. */
  pattern: string
  run: (deps: AppDeps) => Promise<unknown>
  /** Ends or forgets things by their age: waits while the clock cannot be trusted. */
  byAge?: true
  /** Besides, as soon as the program has started. */
  atStart?: true
  /** Its runs see to it themselves that they do nothing twice: one that is held up does not hold up the next. */
  overlaps?: true
}

export const jobs: readonly Job[] = [
  { name: 'resume-orders', pattern: '*/5 * * * * *', run: resume, overlaps: true },
  { name: 'work-payment-messages', pattern: '*/5 * * * * *', run: workInbox, overlaps: true },
  { name: 'deliver-webhooks', pattern: '* * * * * *', run: deliverWebhooks },
  { name: 'probe-processors', pattern: '* * * * * *', run: probeProcessors, overlaps: true },
  { name: 'close-orders', pattern: '45 * * * * *', run: closeOrders, byAge: true, overlaps: true },
  { name: 'sweep-payments', pattern: '50 * * * * *', run: sweep, overlaps: true },
  { name: 'forget', pattern: '0 */10 * * * *', run: forget, byAge: true },
  { name: 'expire-carts', pattern: '20 */10 * * * *', run: expireCarts, byAge: true },
  { name: 'fold-listings', pattern: '15 * * * * *', run: foldListings },
  { name: 'approve-commissions', pattern: '0 5 * * * *', run: approveCommissions, byAge: true },
  { name: 'fetch-rates', pattern: '0 1 * * * *', run: fetchRates, atStart: true },
  { name: 'price-unpriced', pattern: '0 3 * * * *', run: priceUnpriced },
  { name: 'recheck-hosts', pattern: '10 40 * * * *', run: recheckHosts, byAge: true },
  { name: 'sweep-documents', pattern: '25 20 * * * *', run: sweepDocuments, byAge: true },
  { name: 'sync-attestations', pattern: '*/5 * * * * *', run: (deps) => syncAttestations(deps) },
  { name: 'record-attested-repayments', pattern: '40 * * * * *', run: recordAttestedRepayments },
  { name: 'rescan-chains', pattern: '30 50 * * * *', run: (deps) => rescanChains(deps) },
  { name: 'look-around', pattern: '*/10 * * * * *', run: lookAround },
  { name: 'back-up', pattern: '20 15 3 * * *', run: backUp, byAge: true },
  { name: 'watch-backups', pattern: '30 35 * * * *', run: watchBackups, byAge: true },
  { name: 'quick-check', pattern: '20 15 4 * * 0', run: checkQuickly },
  { name: 'checkpoint', pattern: '30 * * * * *', run: checkpoint },
]

/** One run of a job, unless it goes by age and the clock has just jumped. What it throws goes to the log. */
export async function runJob({ name, run, byAge }: Job, deps: AppDeps): Promise<void> {
  if (byAge && !deps.clockWatch.isSteady()) return
  try {
    await run(deps)
  } catch (error) {
    deps.log.error('job.failed', { job: name, error })
  }
}

/** Runs every job on its schedule, never twice at once unless it says so. `stop` waits for those at work, and for what they have sent. */
export function startJobs(deps: AppDeps): { stop(): Promise<void> } {
  const running = new Set<Promise<void>>()
  const crons = jobs.map((job) => {
    const { name, pattern, atStart, overlaps } = job
    const once = () => runJob(job, deps)
    // UTC by its offset: by its name, croner would load the time zones of all the world, which takes longer than the rest of a start.
    const cron = new Cron(pattern, { name, protect: !overlaps, utcOffset: 0 }, () => {
      const work = once().finally(() => running.delete(work))
      running.add(work)
      return work
    })
    if (atStart) void cron.trigger()
    return cron
  })
  return {
    async stop() {
      for (const cron of crons) cron.stop()
      deps.stopChains()
      await Promise.all([...running, deps.webhooks.stop(), deps.errands.idle()])
    },
  }
}
