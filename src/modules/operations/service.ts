import type { Deps } from '../../core/deps.ts'
import { lets } from '../../lib/breaker.ts'
import { counter, gauge, labelled } from '../../lib/prometheus.ts'
import { type AttestationDeps, chainMetrics, chainStatuses } from '../attestation/index.ts'
import { type BackupDeps, backupMetrics, isBackupLate } from '../backup/index.ts'
import { type JobDeps, jobLines } from '../job/index.ts'
import type { LendingDocumentDeps } from '../lending-document/index.ts'
import { type LogShippingDeps, logShippingMetrics } from '../log-shipping/index.ts'
import { isolatedProcessors, type PaymentMethodDeps } from '../payment-method/index.ts'
import { operationsStore as store } from './store.ts'

export type Check = { name: string; ok: boolean }

/** Whether the instance can do its work: reads, writes, migrations, space. Told within two seconds or so, whatever the database does. */
export async function readiness(
  deps: Pick<Deps, 'db' | 'diskFree' | 'config' | 'keyring' | 'clock' | 'clockWatch' | 'shared'> &
    Pick<LendingDocumentDeps, 'storeVerdicts'> &
    Pick<BackupDeps, 'backupState' | 'backupPlaces'>,
): Promise<Check[]> {
  const { db, diskFree, config, keyring, clockWatch, shared, storeVerdicts } = deps
  const checks = {
    databaseReadable: () => store.answers(db.read),
    databaseWritable: () => db.write(store.touch, { isolation: 'locking' }),
    migrationsCurrent: () => store.isMigrated(db.read),
    diskSpace: async () => (diskFree() ?? Number.POSITIVE_INFINITY) >= config.diskFreeMinBytes,
    databaseInPlace: async () => db.isInPlace(),
    keysAtHand: async () => keyring.atHand(),
    clockSteady: async () => clockWatch.isSteady(),
    ...(config.lendingPlatformEnabled ? { documentsAtHand: async () => ![...storeVerdicts.values()].includes('OTHER') } : {}),
    ...(db.file && config.backupEnabled ? { backupRecent: async () => !isBackupLate(deps) } : {}),
    ...(shared.state() === 'off' ? {} : { redisReachable: async () => shared.state() === 'here' }),
  }
  return Promise.all(Object.entries(checks).map(async ([name, check]) => ({ name, ok: await store.holds(check) })))
}

type MetricsDeps = LogShippingDeps &
  Pick<Deps, 'db' | 'build' | 'diskFree' | 'shared'> &
  Pick<PaymentMethodDeps, 'breakers' | 'breakersOpened' | 'probeCounts' | 'paymentMethodStore'> &
  Pick<BackupDeps, 'backupState' | 'backupPlaces' | 'clock' | 'config'> &
  Pick<JobDeps, 'jobBoard'> &
  Pick<AttestationDeps, 'attestationStore' | 'chainNodes' | 'chainFailures' | 'chainLogs' | 'attestedCounts'>

/** The instance in figures, in Prometheus' text format. */
export async function metrics(deps: MetricsDeps, requests: { lines(): string[] }): Promise<string> {
  const { db, build, diskFree, shared, breakers } = deps
  const { rss, heapUsed } = process.memoryUsage()
  const free = diskFree()
  let isolated: readonly string[] = []
  let chains: Awaited<ReturnType<typeof chainStatuses>> = []
  // A database that is away leaves the figures of this process.
  await store.holds(async () => {
    isolated = await isolatedProcessors(deps)
    chains = await chainStatuses(deps)
    return true
  })
  const lines = [
    ...requests.lines(),
    ...counter('souk_database_writes_total', 'Writes acknowledged.', db.stats.writes),
    ...counter('souk_database_commits_total', 'Commits on disk; many writes share one.', db.stats.commits),
    ...counter('souk_database_retries_total', 'Attempts made again: a conflict, or a lock held elsewhere.', db.stats.retries),
    ...gauge('souk_database_writes_queued', 'Writes waiting for a commit.', db.stats.queued),
    ...gauge('process_resident_memory_bytes', 'Resident memory.', rss),
    ...gauge('souk_heap_used_bytes', 'Memory of JavaScript objects.', heapUsed),
    ...(free === undefined ? [] : gauge('souk_disk_free_bytes', 'Space left for the data directory.', free)),
    ...labelled('souk_processor_breaker_open', 'Payment processors to which no calls pass, by host; 0: failures are counted.', [
      ...breakers.all().map(({ processor, host, breaker }) => ({ labels: { processor, host }, value: lets(breaker) ? 0 : 1 })),
    ]),
    ...labelled(
      'souk_processor_breaker_opened_total',
      'How often a breaker of a payment processor opened.',
      deps.breakersOpened.all().map(([processor, value]) => ({ labels: { processor }, value })),
      'counter',
    ),
    ...labelled(
      'souk_processor_probes_total',
      'Probes of payment processors that did not answer.',
      deps.probeCounts.all().map(([words, value]) => {
        const [processor = '', result = ''] = words.split(' ')
        return { labels: { processor, result }, value }
      }),
      'counter',
    ),
    ...labelled('souk_processor_isolated', 'Payment processors that an operator has taken out.', [
      ...isolated.map((processor) => ({ labels: { processor }, value: 1 })),
    ]),
    ...(shared.state() === 'off'
      ? []
      : [
          ...gauge(
            'souk_redis_up',
            'Whether limits and breakers are shared with other processes just now.',
            shared.state() === 'here' ? 1 : 0,
          ),
          ...counter('souk_redis_failures_total', 'Commands that Redis did not answer in time.', shared.failures()),
        ]),
    ...backupMetrics(deps),
    ...logShippingMetrics(deps),
    ...chainMetrics(deps, chains),
    ...jobLines(deps),
    '# HELP souk_build_info What runs here.',
    '# TYPE souk_build_info gauge',
    `souk_build_info{version="${build.version}"} 1`,
  ]
  return `${lines.join('\n')}\n`
}
