/** Finds why a database file could not be opened, because SQLite hides the reason. */
import { accessSync, constants, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { engineErrorCode } from '../engine.ts'

/** SQLite codes that hide a system error. */
const vague = /^SQLITE_(CANTOPEN|READONLY|PERM|IOERR_(LOCK|ACCESS|READ|SHORT_READ|FSTAT|VNODE)|IOERR$)/

/**
 * Returns the system error with code and path if one can be found; otherwise the given error with the path.
 * @param file never opened here, because closing it would drop SQLite's locks
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

/** Adds a path unless there is one. */
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
