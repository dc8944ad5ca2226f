/** Background work for backups: nightly backups, the alarm for late ones, the quick check, and metrics. */
import { engineErrorCode } from '../../../../db/engine.ts'
import { OperatorError } from '../../../core/errors.ts'
import { optionalMetric } from '../../../lib/prometheus.ts'
import { findPictureOfFile } from '../../catalog/media/index.ts'
import { instanceIdentity } from '../../identity/master-key/index.ts'
import { findDocumentByFile } from '../../lending/lending-document/index.ts'
import { isLate, isOnSameDisk, isVerificationDay } from './domain.ts'
import type { BackupDeps } from './providers.ts'
import { type BackupResult, listBackups, makeBackup, openedTarget } from './service.ts'
import type { BackupPlace } from './targets.ts'

/**
 * Makes a backup in every place that has none running; if all have, waits for them. Does nothing on a database server
 * or if backups are off.
 * @returns how many places got a backup
 * @throws OperatorError if a place failed
 */
export async function backUp(deps: BackupDeps): Promise<{ made: number }> {
  const { backupState: state, config } = deps
  if (!deps.db.file || !config.backupEnabled) return { made: 0 }
  const targets = deps.backupPlaces.filter((place) => !state.running.has(place))
  if (targets.length === 0) {
    await Promise.all(deps.backupPlaces.map((place) => state.running.get(place)))
    return { made: 0 }
  }
  const ends = new Map(targets.map((place) => [place, Promise.withResolvers<void>()]))
  for (const [place, { promise }] of ends) {
    promise.catch(() => undefined)
    state.running.set(place, promise)
  }
  const end = (place: BackupPlace, error?: unknown) => {
    const running = ends.get(place)
    if (error === undefined) running?.resolve()
    else running?.reject(error)
    if (state.running.get(place) === running?.promise) state.running.delete(place)
  }
  try {
    return await makeBackups({ ...deps, backupPlaces: targets }, end)
  } catch (error) {
    for (const place of targets) end(place, error)
    throw error
  }
}

async function makeBackups(deps: BackupDeps, end: (place: BackupPlace, error?: unknown) => void): Promise<{ made: number }> {
  const { backupState: state, clock, log, db } = deps
  if (!db.file) return { made: 0 }
  const startedAt = clock.monotonic()
  const now = clock.now()
  const documentOf = async (name: string) => (await findDocumentByFile(deps, name)) ?? (await findPictureOfFile(deps, name))
  const verification = { isSelected: (name: string) => isVerificationDay(now, name), documentOf }
  const failed: string[] = []
  const onMade = (result: BackupResult): void => {
    const place = result.place.store.place
    if ('error' in result) {
      failed.push(place)
      const advice = 'Earlier backups are unchanged. The backup is retried within an hour'
      log.error('backup.failed', { place, error: result.error, advice })
      end(result.place, backupFailedError([place]))
      return
    }
    const { name, at, database, documents, missing } = result.manifest
    const durationMs = clock.monotonic() - startedAt
    state.last = { at, bytes: database.bytes, durationMs }
    state.lastIn.set(result.place, at)
    log.info('backup.made', { place, name, bytes: database.bytes, documents: documents.length, durationMs })
    if (missing.length > 0)
      log.error('backup.documents_missing', { place, name, documents: missing.length, advice: 'Run `souk check` for details' })
    end(result.place)
  }
  try {
    const results = await makeBackup(deps, { file: db.file, isPaced: true, verification, onMade })
    if (failed.length > 0) throw backupFailedError(failed)
    return { made: results.length }
  } catch (error) {
    state.failures++
    throw error
  }
}

const backupFailedError = (locations: readonly string[]) => new OperatorError(`No new backup in ${locations.join(' and ')}`)

/** Checks the age of the last backup and makes a late one now, since the machine may sleep at night. */
export async function watchBackups(deps: BackupDeps): Promise<{ isLate: boolean }> {
  const { backupState: state, config, log } = deps
  if (!deps.db.file || !config.backupEnabled) return { isLate: false }
  await refreshLastBackups(deps)
  const lastAt = state.last?.at
  if (isBackupLate(deps))
    log.error('backup.late', {
      ...(lastAt === undefined ? {} : { last: new Date(lastAt).toISOString() }),
      advice: 'See the event backup.failed. Run `souk backup` to create a backup now',
    })
  // A new place gets its first backup within the hour.
  const overdue = deps.backupPlaces.filter((place) => isBehind(deps, place) || !state.lastIn.has(place))
  if (overdue.length > 0) await backUp({ ...deps, backupPlaces: overdue })
  return { isLate: isBackupLate(deps) }
}

/** Warns at the start if backups are on the disk of the data: a mount may be missing. */
export function warnOfSameDisk({
  config: { backupDir, backupEnabled, dataDir },
  db,
  log,
  deviceOf,
}: Pick<BackupDeps, 'config' | 'db' | 'log' | 'deviceOf'>): void {
  if (!db.file || !backupEnabled || backupDir === undefined || !isOnSameDisk(backupDir, dataDir, deviceOf)) return
  log.warn('backup.same_disk', {
    place: backupDir,
    advice:
      'Backups are on the same disk as DATA_DIR and are lost with it. Mount another disk, or set BACKUP_DIR or BACKUP_S3_BUCKET to another place',
  })
}

type LateDeps = Pick<BackupDeps, 'backupState' | 'backupPlaces' | 'config' | 'clock' | 'db'>

/**
 * Returns whether a place has no recent backup. Uses known times only, so that it also works while the jobs hang or are
 * off.
 */
export const isBackupLate = (deps: LateDeps): boolean =>
  deps.db.file !== undefined && deps.config.backupEnabled && deps.backupPlaces.some((place) => isBehind(deps, place))

const isBehind = ({ backupState: { lastIn, since }, config, clock }: Omit<LateDeps, 'db'>, place: BackupPlace): boolean =>
  isLate(lastIn.get(place), since, clock.now(), config.backupLateHours)

/** Refreshes the time of the last backup of each place. A place that does not respond keeps its known time. */
async function refreshLastBackups(deps: BackupDeps): Promise<void> {
  const { backupState: state, clock, log } = deps
  // Other instances may use the same place.
  const instance = (await instanceIdentity(deps.db)) ?? noInstance
  const refresh = async (place: BackupPlace): Promise<void> => {
    try {
      const { backups } = await listBackups(await openedTarget(deps, place))
      // Ignores backups from the future, made with a wrong clock.
      const last = backups.find((backup) => backup.instance === instance && backup.at <= clock.now())
      if (last) state.lastIn.set(place, last.at)
      else state.lastIn.delete(place)
      if (last && (state.last === undefined || last.at > state.last.at)) state.last = { at: last.at, bytes: last.bytes }
    } catch (error) {
      log.warn('backup.place_silent', { place: place.store.place, error })
    }
  }
  await Promise.all(deps.backupPlaces.map(refresh))
}

/** The instance of a database without keys. */
const noInstance = 'none'

/** Runs SQLite's quick check, which skips indexes. Logs and stores what it finds. */
export async function quickCheck({ db, log, backupState }: Pick<BackupDeps, 'db' | 'log' | 'backupState'>): Promise<{ problems: number }> {
  // A database server checks its own pages.
  if (!db.file) return { problems: 0 }
  const problems = await db.file.quickCheck().catch(damageIn)
  backupState.problems = problems.length
  if (problems.length > 0)
    log.error('database.damaged', {
      problems: problems.slice(0, 5),
      advice: 'Keep the last backups. Run `souk check` for details, or `souk restore` to restore a backup',
    })
  return { problems: problems.length }
}

/** SQLite throws if it cannot even start the check. */
function damageIn(error: unknown): string[] {
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(engineErrorCode(error) ?? '')) return [String(error)]
  throw error
}

/** Builds Prometheus metrics; without values on a database server and for unknown figures. */
export function backupMetrics(deps: LateDeps): string[] {
  const { backupState: state, db, clock, config } = deps
  const sizes = db.file?.sizes()
  const { last } = state
  const isOn = sizes !== undefined && config.backupEnabled
  const ofLast = (value: number | undefined) => (isOn && last !== undefined ? value : undefined)
  const durationSeconds = last?.durationMs === undefined ? undefined : last.durationMs / 1000
  const damaged = state.problems === undefined ? undefined : Math.min(1, state.problems)
  return [
    // On a database server, the environment metrics report the size.
    ...(sizes ? optionalMetric('souk_database_bytes', "Length of the database's file.", sizes.bytes) : []),
    ...optionalMetric('souk_database_log_bytes', 'Length of the write-ahead log beside it.', sizes?.logBytes),
    ...optionalMetric('souk_database_damaged', 'Whether the last quick check found damage.', damaged),
    ...optionalMetric(
      'souk_backup_late',
      'Whether the last backup of a place is older than BACKUP_LATE_HOURS.',
      isOn ? Number(isBackupLate(deps)) : undefined,
    ),
    ...optionalMetric('souk_backup_failures_total', 'Backups that failed.', isOn ? state.failures : undefined, 'counter'),
    ...optionalMetric(
      'souk_backup_last_success_timestamp_seconds',
      'When the last backup was begun, in seconds since 1970.',
      ofLast((last?.at ?? 0) / 1000),
    ),
    ...optionalMetric('souk_backup_age_seconds', 'Age of the last backup.', ofLast(Math.max(0, (clock.now() - (last?.at ?? 0)) / 1000))),
    ...optionalMetric('souk_backup_bytes', 'Bytes of the database in the last backup.', ofLast(last?.bytes)),
    ...optionalMetric('souk_backup_duration_seconds', 'Duration of the last backup, if this process made it.', ofLast(durationSeconds)),
  ]
}
