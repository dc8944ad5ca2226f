import { statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
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
/** The exit status of a command that ran and did not succeed. */
export const failureStatus = 1

type Sentence = string | ((path: string) => string)

/** What an operator can do, by the error code of the system or the database. */
const errorTexts: readonly (readonly [RegExp, Sentence])[] = [
  [
    /^(EACCES|EPERM|SQLITE_PERM)$/,
    (path) => `Permission denied: ${path}. souk runs as user ${userId()}: check the owner and mode of the file and its directories`,
  ],
  [/^ENOENT$/, (path) => `File not found: ${path}`],
  [/^(ENOTDIR|EEXIST)$/, (path) => `Not a directory: ${path}`],
  [/^EISDIR$/, (path) => `Not a file, but a directory: ${path}`],
  [/^ELOOP$/, (path) => `Too many levels of symbolic links: ${path}`],
  [/^ENAMETOOLONG$/, (path) => `File name too long: ${path}`],
  [/^EROFS$/, (path) => `Read-only file system: ${path}. Mount it writable, or choose another directory`],
  [/^(ENOSPC|EDQUOT|SQLITE_FULL|SQLITE_IOERR_SHMSIZE|53100)$/, (path) => `Disk full: ${path}. Free some space, then run it again`],
  [/^(EMFILE|ENFILE)$/, 'Too many open files: raise the limit (ulimit -n, LimitNOFILE)'],
  [/^EIO$/, (path) => `Disk error: ${path}. Check the disk`],
  [
    /^SQLITE_READONLY.*$/,
    (path) => `The database is not writable: ${path}. souk runs as user ${userId()}: check the owner and mode of the file`,
  ],
  [/^SQLITE_CANTOPEN.*$/, (path) => `Can't open the file: ${path}`],
  [
    /^SQLITE_(CORRUPT.*|NOTADB)$/,
    (path) => `The file is damaged, or not a database: ${path}. Run \`souk check\` for details, or \`souk restore\` to restore a backup`,
  ],
  [/^SQLITE_IOERR.*$/, (path) => `Disk error while accessing the database: ${path}. Check the disk`],
  [/^SQLITE_BUSY.*$/, 'Another process is using the database. Try again'],
  [
    /^(ECONNREFUSED|ECONNRESET|ENOTFOUND|ETIMEDOUT|EAI_AGAIN|57P03)$/,
    "The database server doesn't answer: check that it is running, and check DATABASE_URL",
  ],
  [/^25006$/, 'The database server is a read-only standby: set DATABASE_URL to the primary, or to all servers (HOST:PORT,HOST:PORT)'],
  [/^(28P01|28000|3D000)$/, 'The database server rejected the login: check user, password and database in DATABASE_URL'],
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
  if (errorText === undefined) return `Unexpected error: ${detailsOf(error)}`
  return typeof errorText === 'string' ? errorText : errorText(pathOf(error) ?? 'a file of the data directory')
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

/** Returns the days of --from and --to. @throws UsageError */
export function dayOptions(values: ReadonlyMap<string, string>): Record<'from' | 'to', string | undefined> {
  const days = { from: values.get('from'), to: values.get('to') }
  for (const [name, day] of Object.entries(days))
    if (day !== undefined && !isDay(day)) throw new UsageError(`--${name} must be a day such as 2026-01-31`)
  if (days.from !== undefined && days.to !== undefined && days.from > days.to) throw new UsageError('--to must not be before --from')
  return days
}

/**
 * Returns the whole number of a flag; undefined if absent.
 * @throws UsageError
 */
export function integerFlag(values: ReadonlyMap<string, string>, flag: string, min = 0, max?: number): number | undefined {
  const text = values.get(flag)
  if (text === undefined) return undefined
  const value = Number(text)
  if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(value) || value < min || (max !== undefined && value > max))
    throw new UsageError(`--${flag} must be a whole number from ${min}${max === undefined ? '' : ` to ${max}`}`)
  return value
}

/** Checks that the directory of a new file exists. @throws OperatorError if it does not */
export function assertDirectoryOf(file: string): void {
  const directory = dirname(resolve(file))
  if (!statSync(directory, { throwIfNoEntry: false })) throw new OperatorError(`Directory not found: ${directory}`)
}
