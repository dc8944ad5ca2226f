import type { AppDeps } from '../src/providers.ts'

/** A longer log means that a reader pins it or that the disk is slower than the writes. */
const logAlarmBytes = 256 * 1024 * 1024

/** Moves the write-ahead log into the database file as far as readers allow. Logs a warning if the log stays long. */
export async function checkpoint({ db, log }: Pick<AppDeps, 'db' | 'log'>): Promise<void> {
  const logBytes = await db.checkpoint()
  if (logBytes !== undefined && logBytes > logAlarmBytes) log.warn('database.log_is_long', { bytes: logBytes })
}
