/** An instance that was moved into PostgreSQL: served again, it would sell what is sold there, and charge twice for what is unfinished; changed, nobody would see it. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { isThere } from '../../db/open.ts'
import type { Config } from '../config.ts'
import { OperatorError } from '../core/errors.ts'
import { writePrivateFile } from '../keys.ts'

const movedFile = ({ dataDir }: Pick<Config, 'dataDir'>): string => join(dataDir, 'MOVED')

/** Notes beside the database that it was moved. @param now milliseconds since the epoch */
export function noteMoved(config: Pick<Config, 'dataDir'>, now: number): void {
  writePrivateFile(movedFile(config), `Moved into PostgreSQL at ${new Date(now).toISOString()}: serve that one, or remove this file.\n`)
}

/** Takes the note back: nobody was let in on the other side. */
export const forgetMoved = (config: Pick<Config, 'dataDir'>): void => rmSync(movedFile(config), { force: true })

/** Whether the note is there. */
export const isMoved = (config: Pick<Config, 'dataDir'>): boolean => isThere(movedFile(config))

/** @throws OperatorError where the embedded database was moved */
export function refuseMoved(config: Pick<Config, 'dataDir' | 'databaseUrl'>): void {
  const file = movedFile(config)
  if (!config.databaseUrl.startsWith('file:') || !isMoved(config)) return
  throw new OperatorError(
    `This instance was moved into PostgreSQL, or a move broke off at its very end (\`souk move\` again goes on with it): served here as well, it would sell the same goods and ask the same payments twice. Set DATABASE_URL to serve that one, or remove ${file} if this one is to go on and the other is not`,
  )
}
