/** An instance that was moved to PostgreSQL. Serving it again would sell and charge twice; changes would be lost. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { isThere } from '../../db/open.ts'
import type { Config } from '../config.ts'
import { OperatorError } from '../core/errors.ts'
import { writePrivateFile } from '../keys.ts'

const movedFile = ({ dataDir }: Pick<Config, 'dataDir'>): string => join(dataDir, 'MOVED')

/**
 * Records next to the database that it was moved.
 * @param now milliseconds since the epoch
 */
export function writeMovedNote(config: Pick<Config, 'dataDir'>, now: number): void {
  writePrivateFile(
    movedFile(config),
    `Moved to PostgreSQL at ${new Date(now).toISOString()}. Serve that database, or delete this file to use this instance again.\n`,
  )
}

/** Removes the note, since the target was never opened. */
export const removeMovedNote = (config: Pick<Config, 'dataDir'>): void => rmSync(movedFile(config), { force: true })

/** Returns whether the note exists. */
export const isMoved = (config: Pick<Config, 'dataDir'>): boolean => isThere(movedFile(config))

/** @throws OperatorError if the embedded database was moved */
export function refuseMoved(config: Pick<Config, 'dataDir' | 'databaseUrl'>): void {
  const file = movedFile(config)
  if (!config.databaseUrl.startsWith('file:') || !isMoved(config)) return
  throw new OperatorError(
    `This instance was moved to PostgreSQL, or a move stopped at its end (run \`souk move\` again to finish it). Two running copies would sell the same stock and charge the same payments twice. Set DATABASE_URL to use PostgreSQL, or delete ${file} to use this instance instead`,
  )
}
