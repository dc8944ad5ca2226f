/** Prometheus metrics of the database, the process and its environment. */
import type { DatabaseStats, Histogram } from '../../../../db/engine.ts'
import type { Deps } from '../../../core/deps.ts'
import { counter, gauge, histogram, labelledMetric, optionalMetric } from '../../../lib/prometheus.ts'

const histogramOf = (name: string, help: string, { bounds, buckets, sum }: Histogram): string[] =>
  histogram(name, help, bounds, [{ labels: {}, buckets, sum }])

/** Formats the statistics of the database. Durations are seconds. */
export function databaseLines({ writes, commits, retries, queued, commitSeconds, commitWorks, pools }: DatabaseStats): string[] {
  const poolStats = pools?.() ?? []
  return [
    ...counter('souk_database_writes_total', 'Writes acknowledged.', writes),
    ...counter('souk_database_commits_total', 'Commits on disk; many writes share one.', commits),
    ...counter('souk_database_retries_total', 'Writes that were retried after a conflict or a lock.', retries),
    ...gauge('souk_database_writes_queued', 'Writes waiting for a commit.', queued),
    ...histogramOf('souk_database_commit_duration_seconds', 'Time from the request of a commit until it is on disk.', commitSeconds),
    ...histogramOf('souk_database_commit_writes', 'Writes that shared a commit.', commitWorks),
    ...labelledMetric(
      'souk_database_connections',
      'Open connections to the database server, by what they are for and whether they are in use.',
      poolStats.flatMap(({ pool, open, idle }) => [
        { labels: { pool, state: 'busy' }, value: Math.max(0, open - idle) },
        { labels: { pool, state: 'idle' }, value: idle },
      ]),
    ),
    ...labelledMetric(
      'souk_database_connections_max',
      'Maximum number of these connections.',
      poolStats.map(({ pool, max }) => ({ labels: { pool }, value: max })),
    ),
    ...labelledMetric(
      'souk_database_connection_waiters',
      'Reads and writes that wait for a connection.',
      poolStats.map(({ pool, waiting }) => ({ labels: { pool }, value: waiting })),
    ),
  ]
}

/** Formats processor time, memory and open files of this process. */
export function processLines({ openFiles }: Pick<Deps, 'openFiles'>): string[] {
  const { rss, heapUsed } = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  const files = openFiles()
  return [
    ...counter('process_cpu_seconds_total', 'Processor time that was used, by all threads.', (user + system) / 1_000_000),
    ...gauge('process_resident_memory_bytes', 'Resident memory.', rss),
    ...gauge('souk_heap_used_bytes', 'Memory of JavaScript objects.', heapUsed),
    ...optionalMetric('process_open_fds', 'Open files and sockets.', files?.open),
    ...optionalMetric('process_max_fds', 'Maximum number of open files and sockets.', files?.max),
  ]
}

type EnvironmentDeps = Pick<Deps, 'db' | 'diskFree' | 'config' | 'clockWatch' | 'errorNotes' | 'shared' | 'build'>

/** @param databaseBytes the size on a database server; undefined if unknown */
export function environmentLines(
  { db, diskFree, config, clockWatch, errorNotes, shared, build }: EnvironmentDeps,
  databaseBytes: number | undefined,
): string[] {
  const free = diskFree()
  return [
    ...optionalMetric('souk_disk_free_bytes', 'Space left for the data directory.', free),
    ...optionalMetric(
      'souk_disk_free_min_bytes',
      'DISK_FREE_MIN_MB: with less the instance is not ready.',
      free === undefined ? undefined : config.diskFreeMinBytes,
    ),
    // For an embedded database, the backup metrics report the size.
    ...(db.file ? [] : optionalMetric('souk_database_bytes', 'Size of the database on its server.', databaseBytes)),
    ...gauge(
      'souk_clock_steady',
      'Whether the clock can be trusted: 0 for a quarter of an hour after it jumped.',
      Number(clockWatch.isSteady()),
    ),
    ...labelledMetric(
      'souk_errors_total',
      'Log entries of level error, by event.',
      errorNotes.counts().map(([event, value]) => ({ labels: { event }, value })),
      'counter',
    ),
    ...optionalMetric(
      'souk_redis_up',
      'Whether limits and breakers are shared with other processes just now.',
      shared.state() === 'off' ? undefined : Number(shared.state() === 'here'),
    ),
    ...optionalMetric(
      'souk_redis_failures_total',
      'Commands that Redis did not answer in time.',
      shared.state() === 'off' ? undefined : shared.failures(),
      'counter',
    ),
    ...labelledMetric('souk_build_info', 'Version of this process.', [{ labels: { version: build.version }, value: 1 }]),
  ]
}
