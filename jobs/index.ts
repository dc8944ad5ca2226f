/** Croner wiring only: what a job does is in its own file. */
import { Cron } from 'croner'
import type { AppDeps } from '../src/parts.ts'
import { approveCommissions } from './approve-commissions.ts'
import { checkpoint } from './checkpoint.ts'
import { deliverWebhooks } from './deliver-webhooks.ts'
import { expireCarts } from './expire-carts.ts'
import { fetchRates } from './fetch-rates.ts'
import { foldListings } from './fold-listings.ts'
import { forget } from './forget.ts'
import { priceUnpriced } from './price-unpriced.ts'
import { closeOrders, resume } from './sell.ts'

type Job = {
  name: string
  /** Croner pattern, with seconds. */
  pattern: string
  run: (deps: AppDeps) => Promise<unknown>
  /** Besides, as soon as the program has started. */
  atStart?: true
  /** Its runs see to it themselves that they do nothing twice: one that is held up does not hold up the next. */
  overlaps?: true
}

const jobs: readonly Job[] = [
  { name: 'resume-orders', pattern: '*/5 * * * * *', run: resume, overlaps: true },
  { name: 'deliver-webhooks', pattern: '* * * * * *', run: deliverWebhooks },
  { name: 'close-orders', pattern: '45 * * * * *', run: closeOrders },
  { name: 'forget', pattern: '0 */10 * * * *', run: forget },
  { name: 'expire-carts', pattern: '20 */10 * * * *', run: expireCarts },
  { name: 'fold-listings', pattern: '15 * * * * *', run: foldListings },
  { name: 'approve-commissions', pattern: '0 5 * * * *', run: approveCommissions },
  { name: 'fetch-rates', pattern: '0 1 * * * *', run: fetchRates, atStart: true },
  { name: 'price-unpriced', pattern: '0 3 * * * *', run: priceUnpriced },
  { name: 'checkpoint', pattern: '30 * * * * *', run: checkpoint },
]

/** Runs every job on its schedule, never twice at once unless it says so. `stop` waits for those at work, and for what they have sent. */
export function startJobs(deps: AppDeps): { stop(): Promise<void> } {
  const running = new Set<Promise<void>>()
  const crons = jobs.map(({ name, pattern, run, atStart, overlaps }) => {
    const once = async () => {
      try {
        await run(deps)
      } catch (error) {
        deps.log.error('job.failed', { job: name, error })
      }
    }
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
      await Promise.all([...running, deps.webhooks.stop()])
    },
  }
}
