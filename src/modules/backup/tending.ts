/** What a server does by itself: a backup a night, an alarm when there is none, and what it says of both in its metrics. */
import { OperatorError } from '../../core/errors.ts'
import { counter, gauge } from '../../lib/prometheus.ts'
import { isLate } from './domain.ts'
import type { BackupDeps } from './parts.ts'
import { listBackups, makeBackup, targetOf } from './service.ts'

/**
 * Makes a backup, and says so; with one at work it waits for that. Does nothing on a database server, or where it is switched off.
 * @returns how many places have it
 * @throws OperatorError when one has not
 */
export async function backUp(deps: BackupDeps): Promise<{ made: number }> {
  const { backupState: state, config } = deps
  if (!deps.db.file || !config.backupEnabled) return { made: 0 }
  if (state.running) {
    await state.running.catch(() => undefined)
    return { made: 0 }
  }
  const running = attempt(deps)
  state.running = running
  try {
    return await running
  } finally {
    delete state.running
  }
}

async function attempt(deps: BackupDeps): Promise<{ made: number }> {
  const { backupState: state, clock, log, db } = deps
  if (!db.file) return { made: 0 }
  const startedAt = clock.monotonic()
  try {
    const all = await makeBackup(deps, { file: db.file, isPaced: true })
    const failed: string[] = []
    for (const one of all) {
      const place = one.place.store.place
      if ('error' in one) {
        failed.push(place)
        log.error('backup.failed', {
          place,
          error: one.error,
          advice: 'the backups from before are as they were; it is tried again within the hour',
        })
        continue
      }
      const { name, at, database, documents, missing } = one.manifest
      const durationMs = clock.monotonic() - startedAt
      state.last = { at, bytes: database.bytes, durationMs }
      state.lastIn.set(one.place, at)
      log.info('backup.made', { place, name, bytes: database.bytes, documents: documents.length, durationMs })
      if (missing.length > 0)
        log.error('backup.documents_missing', { place, name, documents: missing.length, advice: '`souk check` says which' })
    }
    if (failed.length > 0) throw new OperatorError(`There is no new backup in ${failed.join(' and ')}`)
    state.isLate = false
    return { made: all.length }
  } catch (error) {
    state.failures++
    throw error
  }
}

/** Looks how old the last backup is. One that is late is made now, whatever the hour: the machine may sleep at night. */
export async function watchBackups(deps: BackupDeps): Promise<{ isLate: boolean }> {
  const { backupState: state, config, clock, log } = deps
  if (!deps.db.file || !config.backupEnabled) return { isLate: false }
  const lastAt = await lastOfAll(deps)
  const wasKnown = lastAt !== undefined
  state.isLate = isLate(lastAt, state.since, clock.now(), config.backupLateHours)
  if (state.isLate)
    log.error('backup.late', {
      ...(lastAt === undefined ? {} : { last: new Date(lastAt).toISOString() }),
      advice: 'see what backup.failed says; `souk backup` makes one now',
    })
  // A new instance has its first one within the hour.
  if (state.isLate || !wasKnown) await backUp(deps)
  return { isLate: state.isLate }
}

/** When the last backup was begun of the place that is behind the others; undefined where one has none, or nobody can tell. */
async function lastOfAll(deps: BackupDeps): Promise<number | undefined> {
  const { backupState: state, clock, log } = deps
  for (const place of deps.backupPlaces) {
    try {
      const { backups } = await listBackups(await targetOf(deps, place))
      // A clock that was ahead has made one that is from the future: no reason to go without.
      const last = backups.find(({ at }) => at <= clock.now())
      if (last) state.lastIn.set(place, last.at)
      else state.lastIn.delete(place)
      if (last && (state.last === undefined || last.at > state.last.at)) state.last = { at: last.at, bytes: last.bytes }
    } catch (error) {
      log.warn('backup.place_silent', { place: place.store.place, error })
    }
  }
  const times = deps.backupPlaces.map((place) => state.lastIn.get(place))
  return times.includes(undefined) ? undefined : Math.min(...times.filter((at) => at !== undefined))
}

/** Looks for damage of the database's file, without a look at what its indexes lack. What it finds is said as an error, and kept. */
export async function checkQuickly({
  db,
  log,
  backupState,
}: Pick<BackupDeps, 'db' | 'log' | 'backupState'>): Promise<{ problems: number }> {
  const problems = (await db.file?.quickCheck()) ?? []
  backupState.problems = problems.length
  if (problems.length > 0)
    log.error('database.damaged', {
      problems: problems.slice(0, 5),
      advice: 'keep the last backups; `souk check` tells more, `souk restore` brings a backup back',
    })
  return { problems: problems.length }
}

/** Lines in Prometheus' text format; none on a database server. */
export function backupMetrics({
  backupState: state,
  db,
  clock,
  config,
}: Pick<BackupDeps, 'backupState' | 'db' | 'clock' | 'config'>): string[] {
  if (!db.file) return []
  const { bytes, logBytes } = db.file.sizes()
  const { last } = state
  return [
    ...gauge('souk_database_bytes', "Length of the database's file.", bytes),
    ...gauge('souk_database_log_bytes', 'Length of the write-ahead log beside it.', logBytes),
    ...(state.problems === undefined
      ? []
      : gauge('souk_database_damaged', 'Whether the last quick check found damage.', Math.min(1, state.problems))),
    ...(config.backupEnabled
      ? [
          ...gauge('souk_backup_late', 'Whether the last backup is older than BACKUP_LATE_HOURS.', state.isLate ? 1 : 0),
          ...counter('souk_backup_failures_total', 'Backups that failed.', state.failures),
        ]
      : []),
    ...(last === undefined
      ? []
      : [
          ...gauge('souk_backup_last_success_timestamp_seconds', 'When the last backup was begun, in seconds since 1970.', last.at / 1000),
          ...gauge('souk_backup_age_seconds', 'How old the last backup is.', Math.max(0, (clock.now() - last.at) / 1000)),
          ...gauge('souk_backup_bytes', 'Bytes of the database in the last backup.', last.bytes),
          ...(last.durationMs === undefined
            ? []
            : gauge('souk_backup_duration_seconds', 'How long the last backup took.', last.durationMs / 1000)),
        ]),
  ]
}
