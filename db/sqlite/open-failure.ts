/** Why a database file could not be opened: SQLite says only that it could not. */
import { accessSync, constants, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { engineErrorCode } from '../engine.ts'

/** What SQLite answers where the system has refused something of which it keeps the reason to itself. */
const vague = /^SQLITE_(CANTOPEN|READONLY|PERM|IOERR_(LOCK|ACCESS|READ|SHORT_READ|FSTAT|VNODE)|IOERR$)/

/**
 * The system's own error, with its code and path, where one can be found; else the given one with the path of the file.
 * @param file never opened here: closing it would drop SQLite's locks
 */
export function causeOf(error: unknown, file: string): unknown {
  const code = engineErrorCode(error) ?? ''
  if (!code.startsWith('SQLITE_')) return error
  if (!vague.test(code)) return withPath(error, file)
  const { R_OK, W_OK, X_OK } = constants
  const found = refusal(() => accessSync(dirname(file), R_OK | W_OK | X_OK)) ?? refusal(() => lookAt(file))
  if (found) return found
  return withPath(error, file)
}

/** The path, unless it has one. */
export const withPath = (error: unknown, path: string): unknown =>
  error instanceof Error && !('path' in error) ? Object.assign(error, { path }) : error

function refusal(look: () => unknown): unknown {
  try {
    look()
    return undefined
  } catch (error) {
    return error
  }
}

function lookAt(file: string): void {
  const stat = statSync(file, { throwIfNoEntry: false })
  if (!stat) return
  if (stat.isDirectory()) throw Object.assign(new Error('a directory'), { code: 'EISDIR', path: file })
  accessSync(file, constants.R_OK | constants.W_OK)
}
