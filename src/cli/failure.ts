import { DatabaseRefused, engineErrorCode } from '../../db/engine.ts'
import { ConfigError, settings } from '../config.ts'
import { AppError, OperatorError } from '../core/errors.ts'
import { isDay } from '../lib/day.ts'
import { redact } from '../lib/log.ts'
import { Interrupted, interruptedStatus } from './interruption.ts'

/** The command line is invalid; the message says what to write instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

const usageStatus = 2
const failureStatus = 1

type Sentence = string | ((path: string) => string)

/** What an operator can do, by the error code of the system or the database. */
const errorTexts: readonly (readonly [RegExp, Sentence])[] = [
  [
    /^(EACCES|EPERM|SQLITE_PERM)$/,
    (path) =>
      `Permission denied: ${path}. See to its owner and mode, and to those of the directories above: souk runs here as user ${userId()}`,
  ],
  [/^ENOENT$/, (path) => `Not there: ${path}`],
  [/^(ENOTDIR|EEXIST)$/, (path) => `A file stands where a directory is meant: ${path}`],
  [/^EISDIR$/, (path) => `A directory stands where a file is meant: ${path}`],
  [/^ELOOP$/, (path) => `Links that lead in a circle: ${path}`],
  [/^ENAMETOOLONG$/, (path) => `The name is too long: ${path}`],
  [/^EROFS$/, (path) => `The disk is mounted read-only: ${path}. Mount it writable, or choose another place`],
  [/^(ENOSPC|EDQUOT|SQLITE_FULL|SQLITE_IOERR_SHMSIZE|53100)$/, (path) => `The disk is full: ${path}. Make room, then run it again`],
  [/^(EMFILE|ENFILE)$/, 'Too many files are open: raise the limit (ulimit -n, LimitNOFILE)'],
  [/^EIO$/, (path) => `The disk failed: ${path}. Check the disk`],
  [
    /^SQLITE_READONLY.*$/,
    (path) => `The database cannot be written to: ${path}. See to its owner and mode: souk runs here as user ${userId()}`,
  ],
  [/^SQLITE_CANTOPEN.*$/, (path) => `The file cannot be opened: ${path}`],
  [
    /^SQLITE_(CORRUPT.*|NOTADB)$/,
    (path) => `The file is damaged, or not a database: ${path}. \`souk check\` tells more, \`souk restore\` brings a backup back`,
  ],
  [/^SQLITE_IOERR.*$/, (path) => `The disk failed while the database was read or written: ${path}. Check the disk`],
  [/^SQLITE_BUSY.*$/, 'Another process holds the database: try again'],
  [
    /^(ECONNREFUSED|ECONNRESET|ENOTFOUND|ETIMEDOUT|EAI_AGAIN|57P03)$/,
    'The database server does not answer: see that it runs, and check DATABASE_URL',
  ],
  [
    /^25006$/,
    'The database server takes no writes, as it is a standby: name the one that does in DATABASE_URL, or all of them (HOST:PORT,HOST:PORT)',
  ],
  [/^(28P01|28000|3D000)$/, 'The database server refused the login: check user, password and database in DATABASE_URL'],
]

const userId = () => process.getuid?.() ?? 'unknown'

/** Returns the text and the exit status for an error. Never contains a stack trace or a secret. */
export function explain(error: unknown, env: Readonly<Record<string, string | undefined>>): { text: string; status: number } {
  return { text: withoutSecrets(errorTextOf(error), env), status: statusOf(error) }
}

function statusOf(error: unknown): number {
  if (error instanceof Interrupted) return interruptedStatus.SIGINT
  return error instanceof UsageError ? usageStatus : failureStatus
}

function errorTextOf(error: unknown): string {
  const isOperatorFault = [UsageError, ConfigError, OperatorError, DatabaseRefused, AppError, Interrupted].some(
    (kind) => error instanceof kind,
  )
  if (isOperatorFault) return (error as Error).message
  const code = engineErrorCode(error) ?? ''
  const errorText = errorTexts.find(([pattern]) => pattern.test(code))?.[1]
  if (errorText === undefined) return `Something unexpected went wrong. Details: ${detailsOf(error)}`
  return typeof errorText === 'string' ? errorText : errorText(pathOf(error) ?? 'a file of souk')
}

/** Returns the file or directory of an error, if known. */
function pathOf(error: unknown): string | undefined {
  for (let cause = error, depth = 0; cause instanceof Error && depth < causesMax; cause = cause.cause, depth++)
    if ('path' in cause && typeof cause.path === 'string') return cause.path
  return undefined
}

const causesMax = 5

function detailsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(redact(String(error)))
  const cause = error.cause instanceof Error ? `; ${detailsOf(error.cause)}` : ''
  return `${error.name}: ${String(redact(error.message))}${cause}`
}

/** Shorter values are refused as secrets; masking them would garble the message. */
const secretMinLength = 8

/** Masks secrets of the settings in messages of others. */
function withoutSecrets(text: string, env: Readonly<Record<string, string | undefined>>): string {
  const secrets = Object.entries(settings)
    .flatMap(([name, setting]) => ('secret' in setting ? (env[name] ?? '').split(',') : []))
    .map((item) => item.trim())
    .filter((item) => item.length >= secretMinLength)
  return secrets.reduce((struck, secret) => struck.replaceAll(secret, '***'), text)
}

/** Returns an option that is a day. @throws UsageError */
export function dayOption(values: ReadonlyMap<string, string>, name: string): string | undefined {
  const day = values.get(name)
  if (day !== undefined && !isDay(day)) throw new UsageError(`--${name} must be a day, as 2026-01-31`)
  return day
}
