import { DatabaseRefused, engineErrorCode } from '../../db/engine.ts'
import { ConfigError, settings } from '../config.ts'
import { AppError, OperatorError } from '../core/errors.ts'
import { redact } from '../lib/log.ts'

/** The command line is not one that souk understands; the message says what to write instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

const usageStatus = 2
const failureStatus = 1

/** What an operator can act upon, by the code that the system or the database gave. */
const sentences: readonly (readonly [RegExp, string])[] = [
  [/^EADDRINUSE$/, 'The port is taken: stop what listens there, or set another PORT'],
  [/^EADDRNOTAVAIL$/, 'HOST is no address of this machine'],
  [
    /^(EACCES|EPERM|SQLITE_READONLY.*|SQLITE_PERM)$/,
    'Permission denied: see that the files and the data directory belong to who runs souk',
  ],
  [/^(ENOENT|ENOTDIR|SQLITE_CANTOPEN.*)$/, 'A file or directory is not there, or cannot be opened'],
  [/^EISDIR$/, 'A directory stands where a file is meant'],
  [/^EROFS$/, 'The disk is read-only'],
  [/^(ENOSPC|SQLITE_FULL|53100)$/, 'The disk is full: make room, then run it again'],
  [/^SQLITE_(CORRUPT.*|NOTADB)$/, 'The file is damaged, or not a database: `souk check` tells more, `souk restore` brings a backup back'],
  [/^SQLITE_IOERR.*$/, 'The disk failed while the database was read or written: check the disk'],
  [/^SQLITE_BUSY.*$/, 'Another process holds the database: try again'],
  [
    /^(ECONNREFUSED|ECONNRESET|ENOTFOUND|ETIMEDOUT|EAI_AGAIN|57P03)$/,
    'The database server does not answer: see that it runs, and check DATABASE_URL',
  ],
  [/^(28P01|28000|3D000)$/, 'The database server refused the login: check user, password and database in DATABASE_URL'],
]

/** What to tell whoever ran the command, and the exit status. Never a stack trace, never a secret. */
export function explain(error: unknown, env: Readonly<Record<string, string | undefined>>): { text: string; status: number } {
  return { text: withoutSecrets(sentenceOn(error), env), status: error instanceof UsageError ? usageStatus : failureStatus }
}

function sentenceOn(error: unknown): string {
  const ours = [UsageError, ConfigError, OperatorError, DatabaseRefused, AppError].some((kind) => error instanceof kind)
  if (ours) return (error as Error).message
  const code = engineErrorCode(error) ?? ''
  const known = sentences.find(([pattern]) => pattern.test(code))?.[1]
  const path = error instanceof Error && 'path' in error && typeof error.path === 'string' ? ` (${error.path})` : ''
  return known ? `${known}${path}` : `Something unexpected went wrong. Details: ${detailsOf(error)}`
}

function detailsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(redact(String(error)))
  const cause = error.cause instanceof Error ? `; ${detailsOf(error.cause)}` : ''
  return `${error.name}: ${String(redact(error.message))}${cause}`
}

/** Shorter ones are refused as secrets: to strike them out would only garble the sentence that says so. */
const secretMinLength = 8

/** Strikes out the secrets of the settings, should a message of somebody else's repeat one. */
function withoutSecrets(text: string, env: Readonly<Record<string, string | undefined>>): string {
  const secrets = Object.entries(settings)
    .flatMap(([name, setting]) => ('secret' in setting ? (env[name] ?? '').split(',') : []))
    .map((item) => item.trim())
    .filter((item) => item.length >= secretMinLength)
  return secrets.reduce((struck, secret) => struck.replaceAll(secret, '***'), text)
}
