/** Restores the database as it was at a moment from the shipped log. */
import { dirname } from 'node:path'
import { makeDirectory } from '../../db/sqlite/copy.ts'
import { newTemporary } from '../../db/temporary-files.ts'
import type { Config } from '../config.ts'
import { OperatorError } from '../core/errors.ts'
import { instantPattern, parseInstant } from '../lib/instant.ts'
import { SealBroken } from '../lib/sealed-stream.ts'
import { findBackup, readKeys, readText } from '../modules/operations/backup/index.ts'
import { shippedKeysName } from '../modules/operations/log-shipping/index.ts'
import { backupPlacesOf, openBackupTarget } from './backup-targets.ts'
import { UsageError } from './failure.ts'
import { createProgress } from './progress.ts'
import { buildFromLog } from './restore-log.ts'

export type RestoreMoment = {
  /** Milliseconds since the epoch; undefined for the latest state. */
  readonly at: number | undefined
  readonly untilDamage: boolean
  readonly instance: string | undefined
}

/**
 * Opens the target of the shipped log: the first configured one.
 * @throws OperatorError
 */
export async function openLogTarget(config: Config) {
  const place = backupPlacesOf(config).find(({ isNamed }) => isNamed)
  if (!place) throw new OperatorError('Set BACKUP_DIR, or BACKUP_S3_ENDPOINT and its bucket: the target of log shipping')
  return openBackupTarget(config, place)
}

/**
 * Returns milliseconds since the epoch; undefined for `latest`.
 * @throws UsageError
 */
export function parseMoment(to: string, now: number): number | undefined {
  if (to === 'latest') return undefined
  const at = new RegExp(instantPattern).test(to) ? parseInstant(to) : Number.NaN
  if (Number.isNaN(at)) throw new UsageError('--to must be a time with a time zone, such as 2026-01-31T12:00:00Z, or latest')
  if (at > now) throw new UsageError('--to is in the future. Use latest')
  return at
}

/**
 * Builds a file next to `databasePath` with all commits until the moment.
 * @returns its path and the instance it belongs to
 */
export async function buildDatabaseAsOf(
  target: Awaited<ReturnType<typeof openLogTarget>>,
  { at, untilDamage, instance }: RestoreMoment,
  databasePath: string,
): Promise<{ file: string; instance: string }> {
  makeDirectory(dirname(databasePath))
  const file = newTemporary(databasePath)
  const progress = createProgress({ total: 0, label: 'Downloading', stream: process.stderr, unit: 'bytes' })
  let bytes = 0
  const onBytes = (more: number) => {
    bytes += more
    progress.at(bytes)
  }
  const { upTo, notes, ...built } = await buildFromLog({ store: target.store, to: at, file, untilDamage, instance, onBytes }).finally(
    progress.end,
  )
  process.stdout.write(`Restored all commits up to ${new Date(upTo).toISOString()}, from the log in ${target.store.place}\n`)
  for (const note of notes) process.stderr.write(`${note}\n`)
  return { file, instance: built.instance }
}

/**
 * Returns the key file of an instance from a sealed target: the one shipped last, otherwise that of the last backup.
 */
export async function fetchLatestKeys(
  target: Awaited<ReturnType<typeof openLogTarget>>,
  instance: string,
  now: number,
): Promise<string | undefined> {
  try {
    return (await fetchShippedKeys(target, instance)) ?? (await readKeys(await findBackup(target, 'latest', now)))
  } catch (error) {
    // There is none. Missing keys are reported later.
    if (error instanceof OperatorError) return undefined
    throw error
  }
}

async function fetchShippedKeys({ store }: Awaited<ReturnType<typeof openLogTarget>>, instance: string): Promise<string | undefined> {
  try {
    return await readText(store, shippedKeysName(instance))
  } catch (error) {
    if (error instanceof SealBroken) return undefined
    throw error
  }
}
