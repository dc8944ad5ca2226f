/** What each job of the table does, and croner wiring: which there are and when they run is in src/lib/job-table.ts. */
import { Cron } from 'croner'
import { type JobEntry, type JobName, jobNames, jobTable, patternOf } from '../src/lib/job-table.ts'
import { heartbeatPattern, type RunOutcome } from '../src/modules/operations/job/index.ts'
import type { AppDeps } from '../src/providers.ts'
import { approveCommissions } from './approve-commissions.ts'
import { backUp } from './back-up.ts'
import { lookAround } from './check-process.ts'
import { checkpoint } from './checkpoint.ts'
import { priceUnpriced } from './convert-currencies.ts'
import { deliverWebhooks } from './deliver-webhooks.ts'
import { expireCarts } from './expire-carts.ts'
import { fetchRates } from './fetch-rates.ts'
import { fillSearch } from './fill-search.ts'
import { finishErasures } from './finish-erasures.ts'
import { foldKpis } from './fold-kpis.ts'
import { foldListings } from './fold-listings.ts'
import { probeProcessors } from './probe-processors.ts'
import { quickCheck } from './quick-check.ts'
import { rebuildKpis } from './rebuild-kpis.ts'
import { recheckHosts } from './recheck-hosts.ts'
import { recordAttestedRepayments } from './record-attested-repayments.ts'
import { refreshOperations } from './refresh-operations.ts'
import { forget } from './remove-expired.ts'
import { recordHeartbeat } from './report-process.ts'
import { rescanChains } from './rescan-chains.ts'
import { closeOrders, resume, sweep, workInbox } from './resume-orders.ts'
import { sendMails } from './send-mails.ts'
import { sweepDocuments } from './sweep-documents.ts'
import { syncAttestations } from './sync-attestations.ts'
import { watchBackups } from './watch-backups.ts'

/** What it gives is of no concern, but for SKIPPED: it turned out to be no run. */
type Run = (deps: AppDeps) => Promise<unknown>
export type Job = Pick<JobEntry, 'byAge' | 'overlaps'> & { readonly name: JobName; readonly run: Run }

const runs: Readonly<Record<JobName, Run>> = {
  'resume-orders': resume,
  'work-payment-messages': workInbox,
  'deliver-webhooks': deliverWebhooks,
  'send-mails': sendMails,
  'probe-processors': probeProcessors,
  'close-orders': closeOrders,
  'sweep-payments': sweep,
  forget,
  'finish-erasures': finishErasures,
  'expire-carts': expireCarts,
  'fold-listings': foldListings,
  'approve-commissions': approveCommissions,
  'fetch-rates': fetchRates,
  'price-unpriced': priceUnpriced,
  'recheck-hosts': recheckHosts,
  'sweep-documents': sweepDocuments,
  'sync-attestations': syncAttestations,
  'record-attested-repayments': recordAttestedRepayments,
  'rescan-chains': (deps) => rescanChains(deps),
  'refresh-operations': refreshOperations,
  'tend-process': recordHeartbeat,
  'look-around': lookAround,
  checkpoint,
  'fill-search': fillSearch,
  'fold-kpis': foldKpis,
  'rebuild-kpis': rebuildKpis,
  'back-up': backUp,
  'watch-backups': watchBackups,
  'quick-check': quickCheck,
}

export const jobs: readonly Job[] = jobNames.map((name) => ({ name, ...jobTable[name], run: runs[name] }))

/** One run of a job, unless it goes by age and the clock has just jumped. What it throws goes to the log, and is told. */
export async function runJob({ name, run, byAge }: Job, deps: AppDeps): Promise<RunOutcome> {
  if (byAge && !deps.clockWatch.isSteady()) return { result: 'SKIPPED' }
  try {
    return { result: (await run(deps)) === 'SKIPPED' ? 'SKIPPED' : 'OK' }
  } catch (error) {
    deps.log.error('job.failed', { job: name, error })
    return { result: 'FAILED', error }
  }
}

/** Runs every job on its schedule. `stop` waits for those at work, and for what they have sent. */
export function startJobs(deps: AppDeps): { stop(): Promise<void> } {
  const { jobRunner, config } = deps
  const off = jobNames.filter((name) => config.jobSchedules[name] === 'off')
  if (off.length > 0) deps.log.warn('jobs.off', { jobs: off })
  const begun = jobRunner.begin(jobs.map((job) => ({ name: job.name, perform: () => runJob(job, deps) })))
  // UTC by its offset: by its name, croner would load the time zones of all the world, which takes longer than the rest of a start.
  const every = (pattern: string | undefined, run: () => Promise<void>) =>
    pattern === undefined ? [] : [new Cron(pattern, { utcOffset: 0 }, run)]
  const crons = [
    ...jobNames.flatMap((name) => every(patternOf(name, config), () => jobRunner.tick(name))),
    ...every(heartbeatPattern, jobRunner.beat),
  ]
  return {
    async stop() {
      for (const cron of crons) cron.stop()
      deps.stopChains()
      await begun
      await Promise.all([jobRunner.stop(), deps.webhooks.stop(), deps.mails.stop(), deps.errands.idle()])
    },
  }
}
