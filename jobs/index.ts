/** Connects each job with its work and its schedule; src/lib/job-table.ts defines the schedules. */
import { Cron } from 'croner'
import { type JobEntry, type JobName, jobNames, jobTable, patternOf } from '../src/lib/job-table.ts'
import { foldListings } from '../src/modules/catalog/products/index.ts'
import { finishPendingErasures } from '../src/modules/customers/erasure/index.ts'
import { backUp, quickCheck, watchBackups } from '../src/modules/operations/backup/index.ts'
import { recordHeartbeat } from '../src/modules/operations/deploy-status/index.ts'
import { heartbeatPattern, type RunOutcome } from '../src/modules/operations/job/index.ts'
import { rebuildKpis } from '../src/modules/operations/kpi/index.ts'
import { probeProcessors } from '../src/modules/payments/payment-method/index.ts'
import { mailAbandonedCarts } from '../src/modules/selling/abandoned-cart/index.ts'
import { expireCarts } from '../src/modules/selling/cart/index.ts'
import { recheckHosts } from '../src/modules/shop/shop/index.ts'
import { beginRescans, recordAttestedRepayments, runSync } from '../src/modules/trust/attestation/index.ts'
import type { AppDeps } from '../src/providers.ts'
import { approveCommissions } from './approve-commissions.ts'
import { checkProcess } from './check-process.ts'
import { checkpoint } from './checkpoint.ts'
import { convertCurrencies } from './convert-currencies.ts'
import { deliverWebhooks } from './deliver-webhooks.ts'
import { fetchRates } from './fetch-rates.ts'
import { fillSearch } from './fill-search.ts'
import { foldKpis } from './fold-kpis.ts'
import { refreshOperations } from './refresh-operations.ts'
import { removeExpired } from './remove-expired.ts'
import { closeOrders, resumeInterrupted, sweep, workInbox } from './resume-orders.ts'
import { sweepDocuments } from './sweep-documents.ts'

/** Only the result SKIPPED matters: it means that there was no work. */
type Run = (deps: AppDeps) => Promise<unknown>
export type Job = Pick<JobEntry, 'byAge' | 'overlaps'> & { readonly name: JobName; readonly run: Run }

const runs: Readonly<Record<JobName, Run>> = {
  'resume-orders': resumeInterrupted,
  'work-payment-messages': workInbox,
  'deliver-webhooks': deliverWebhooks,
  /** Does not wait for the mail server: a slow one must not delay the next run. */
  'send-mails': ({ mails }) => mails.run(),
  'probe-processors': probeProcessors,
  'close-orders': closeOrders,
  'sweep-payments': sweep,
  forget: removeExpired,
  'finish-erasures': finishPendingErasures,
  'mail-abandoned-carts': mailAbandonedCarts,
  'expire-carts': expireCarts,
  'fold-listings': foldListings,
  'approve-commissions': approveCommissions,
  'fetch-rates': fetchRates,
  'price-unpriced': convertCurrencies,
  'recheck-hosts': recheckHosts,
  'sweep-documents': sweepDocuments,
  'sync-attestations': runSync,
  'record-attested-repayments': recordAttestedRepayments,
  'rescan-chains': beginRescans,
  'refresh-operations': refreshOperations,
  'tend-process': recordHeartbeat,
  'look-around': checkProcess,
  checkpoint,
  'fill-search': fillSearch,
  'fold-kpis': foldKpis,
  'rebuild-kpis': rebuildKpis,
  'back-up': backUp,
  'watch-backups': watchBackups,
  'quick-check': quickCheck,
}

export const jobs: readonly Job[] = jobNames.map((name) => ({ name, ...jobTable[name], run: runs[name] }))

/** Runs a job once, unless it depends on ages and the clock has just jumped. Errors are logged and returned. */
export async function runJob({ name, run, byAge }: Job, deps: AppDeps): Promise<RunOutcome> {
  if (byAge && !deps.clockWatch.isSteady()) return { result: 'SKIPPED' }
  try {
    return { result: (await run(deps)) === 'SKIPPED' ? 'SKIPPED' : 'OK' }
  } catch (error) {
    deps.log.error('job.failed', { job: name, error })
    return { result: 'FAILED', error }
  }
}

/**
 * Runs every job on its schedule, from the next turn of the event loop, so that a server is ready first. `stop` waits
 * for running jobs, deliveries and background tasks.
 */
export function startJobs(deps: AppDeps): { stop(): Promise<void> } {
  const { jobRunner, config } = deps
  const off = jobNames.filter((name) => config.jobSchedules[name] === 'off')
  if (off.length > 0) deps.log.warn('jobs.off', { jobs: off })
  // By offset: with a zone name croner would load all time zones, which takes longer than the rest of the start.
  const scheduleCron = (pattern: string | undefined, run: () => Promise<void>) =>
    pattern === undefined ? [] : [new Cron(pattern, { utcOffset: 0 }, run)]
  async function start() {
    await deps.sleep(0)
    const started = jobRunner.start(jobs.map((job) => ({ name: job.name, perform: () => runJob(job, deps) })))
    const crons = [
      ...jobNames.flatMap((name) => scheduleCron(patternOf(name, config), () => jobRunner.runScheduled(name))),
      ...scheduleCron(heartbeatPattern, jobRunner.heartbeat),
    ]
    await started
    return crons
  }
  const starting = start()
  return {
    async stop() {
      for (const cron of await starting) cron.stop()
      deps.stopChains()
      await Promise.all([
        jobRunner.stop(),
        deps.webhooks.stop(),
        deps.orderMessages.stop(),
        deps.mails.stop(),
        deps.backgroundTasks.whenIdle(),
      ])
    },
  }
}
