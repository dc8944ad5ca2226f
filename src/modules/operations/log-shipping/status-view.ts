/** The state of backups and log shipping for operators, as this process knows it. */
import { isoTimes } from '../../../lib/objects.ts'
import { type BackupDeps, isBackupLate } from '../backup/index.ts'
import type { LogShippingDeps } from './providers.ts'

type BackupsViewDeps = Pick<BackupDeps, 'backupState' | 'backupPlaces' | 'config' | 'clock' | 'db'> & LogShippingDeps

/** @param nextAt the next run of the job */
export function backupsView(deps: BackupsViewDeps, nextAt: string | null) {
  const { backupState: state, backupPlaces, config, clock, db, logShipping } = deps
  const now = clock.now()
  const ageOf = (at: number | undefined) => (at === undefined ? null : Math.max(0, Math.floor((now - at) / 1_000)))
  const isOn = db.file !== undefined && config.backupEnabled
  const { last } = state
  const sizes = db.file?.sizes()
  const { shippedAt, snapshotAt } = logShipping
  return {
    ...isoTimes({ asOf: now }),
    state: db.file === undefined ? ('server' as const) : config.backupEnabled ? ('on' as const) : ('off' as const),
    isLate: isBackupLate(deps),
    lateAfterHours: config.backupLateHours,
    nextAt: isOn ? nextAt : null,
    last:
      isOn && last
        ? { ...isoTimes({ at: last.at }), ageSeconds: ageOf(last.at) ?? 0, bytes: last.bytes, durationMs: roundMs(last.durationMs) }
        : null,
    failures: state.failures,
    places: isOn
      ? backupPlaces.map((place) => {
          const lastAt = state.lastIn.get(place)
          return {
            place: place.store.place,
            isNamed: place.isNamed,
            ...isoTimes({ lastAt: lastAt ?? null }),
            ageSeconds: ageOf(lastAt),
            isLate: isBackupLate({ ...deps, backupPlaces: [place] }),
            isRunning: state.running.has(place),
          }
        })
      : [],
    database: sizes ? { ...sizes, isDamaged: state.problems === undefined ? null : state.problems > 0 } : null,
    logShipping: {
      isOn: logShipping.isOn,
      everySeconds: config.shipLogSeconds ?? null,
      ...isoTimes({ shippedAt: shippedAt ?? null }),
      ageSeconds: ageOf(shippedAt),
      ...isoTimes({ snapshotAt: snapshotAt ?? null }),
      snapshots: logShipping.generations,
      failures: logShipping.failures,
    },
  }
}

const roundMs = (ms: number | undefined): number | null => (ms === undefined ? null : Math.round(ms))
