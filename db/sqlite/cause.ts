/** Why a database file could not be opened: SQLite says only that it could not. */
import { accessSync, constants, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { engineErrorCode } from '../engine.ts'

/** What SQLite answers where the system has refused something of which it keeps the reason to itself. */
const vague = /^SQLITE_(CANTOPEN|READONLY|PERM|IOERR_(LOCK|ACCESS))/

/**
 * The system's own error, with its code and path, where one can be found; else the given one with the path of the file.
 * @param file never opened here: closing it would drop SQLite's locks
 */
export function causeOf(error: unknown, file: string): unknown {
  if (!vague.test(engineErrorCode(error) ?? '')) return error
  const { R_OK, W_OK, X_OK } = constants
  const found =
    refusal(() => accessSync(dirname(file), R_OK | W_OK | X_OK)) ?? refusal(() => standing(file) && accessSync(file, R_OK | W_OK))
  if (found) return found
  return error instanceof Error && !('path' in error) ? Object.assign(error, { path: file }) : error
}

function refusal(look: () => unknown): unknown {
  try {
    look()
    return undefined
  } catch (error) {
    return error
  }
}

const standing = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined
