import type { Deps } from '../../core/deps.ts'
import { counter, gauge } from '../../lib/prometheus.ts'
import { operationsStore as store } from './store.ts'

export type Check = { name: string; ok: boolean }

/** Whether the instance can do its work: reads, writes, migrations, space. */
export async function readiness({
  db,
  diskFree,
  config,
  keyring,
  clockWatch,
}: Pick<Deps, 'db' | 'diskFree' | 'config' | 'keyring' | 'clockWatch'>): Promise<Check[]> {
  return [
    { name: 'databaseReadable', ok: await holds(() => store.answers(db.read)) },
    { name: 'databaseWritable', ok: await holds(() => db.write(store.touch)) },
    { name: 'migrationsCurrent', ok: await holds(() => store.isMigrated(db.read)) },
    { name: 'diskSpace', ok: await holds(async () => (diskFree() ?? Number.POSITIVE_INFINITY) >= config.diskFreeMinBytes) },
    { name: 'keysAtHand', ok: keyring.atHand() },
    { name: 'clockSteady', ok: clockWatch.isSteady() },
  ]
}

async function holds(check: () => Promise<boolean>): Promise<boolean> {
  try {
    return await check()
  } catch {
    return false
  }
}

/** The instance in figures, in Prometheus' text format. */
export function metrics(
  { db, clock, build, diskFree }: Pick<Deps, 'db' | 'clock' | 'build' | 'diskFree'>,
  requests: { lines(): string[] },
): string {
  const { rss, heapUsed } = process.memoryUsage()
  const free = diskFree()
  const lines = [
    ...requests.lines(),
    ...counter('souk_database_writes_total', 'Writes acknowledged.', db.stats.writes),
    ...counter('souk_database_commits_total', 'Commits on disk; many writes share one.', db.stats.commits),
    ...counter('souk_database_retries_total', 'Attempts made again: a conflict, or a lock held elsewhere.', db.stats.retries),
    ...gauge('souk_database_writes_queued', 'Writes waiting for a commit.', db.stats.queued),
    ...gauge('souk_uptime_seconds', 'Since the start.', (clock.now() - build.startedAt) / 1000),
    ...gauge('process_resident_memory_bytes', 'Resident memory.', rss),
    ...gauge('souk_heap_used_bytes', 'Memory of JavaScript objects.', heapUsed),
    ...(free === undefined ? [] : gauge('souk_disk_free_bytes', 'Space left for the data directory.', free)),
    '# HELP souk_build_info What runs here.',
    '# TYPE souk_build_info gauge',
    `souk_build_info{version="${build.version}"} 1`,
  ]
  return `${lines.join('\n')}\n`
}
