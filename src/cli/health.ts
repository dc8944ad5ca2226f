/** `souk health`: checks the running server for containers and scripts. */
import { createSafeFetch } from '../clients/safe-fetch.ts'
import type { Config } from '../config.ts'
import { OutgoingError, type OutgoingFailure, type SafeResponse } from '../core/outgoing.ts'
import type { Input } from './command.ts'
import { UsageError } from './failure.ts'

/** The server answers readiness within about two seconds. */
const timeoutMs = 5_000
const bytesMax = 64 * 1024
const unhealthyStatus = 1

/** The address of a server and the host name to send. */
export type ServerAddress = { readonly url: string; readonly host?: string | undefined }
export type Health = {
  readonly url: string
  readonly ready: boolean
  /** Null if the server did not report it. */
  readonly version: string | null
  /** Why it is not ready, for people. */
  readonly problems: readonly string[]
  /** Failing checks that do not affect readiness. */
  readonly notes: readonly string[]
}

/**
 * `souk health [--url URL] [--json]`.
 * @returns 0 if the server is ready, otherwise 1
 */
export async function health({ config, values, switches }: Input): Promise<number> {
  const url = values.get('url')
  const result = await checkHealth(url === undefined ? serverAddressOf(config()) : { url: urlOf(url) })
  if (switches.has('json')) process.stdout.write(`${JSON.stringify(result)}\n`)
  else printHealth(result)
  return result.ready ? 0 : unhealthyStatus
}

function printHealth({ url, ready, version, problems, notes }: Health): void {
  if (ready) process.stdout.write(`ok    souk ${version} at ${url} is ready\n`)
  else process.stderr.write(`WRONG ${url} is not ready\n${problems.map((problem) => `      ${problem}\n`).join('')}`)
  for (const note of notes) process.stdout.write(`note  ${note}\n`)
}

/** @throws UsageError */
function urlOf(text: string): string {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash)
    throw new UsageError('--url must be an http or https URL without credentials and query, as http://127.0.0.1:3000')
  return url.origin + url.pathname.replace(/\/$/, '')
}

const anyAddress: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/**
 * Returns the configured address of the server with a host name that it serves.
 * @throws UsageError if the port is 0
 */
export function serverAddressOf({ host, port, allowedHosts }: Pick<Config, 'host' | 'port' | 'allowedHosts'>): ServerAddress {
  if (port === 0) throw new UsageError('PORT is 0, so that nobody can know where the server listens: name it by --url')
  const address = anyAddress[host] ?? host
  const authority = address.includes(':') ? `[${address}]` : address
  const [named] = allowedHosts
  return { url: `http://${authority}:${port}`, host: named === undefined || allowedHosts.includes(address) ? undefined : named }
}

/** Checks readiness within five seconds. Never throws. */
export async function checkHealth({ url, host }: ServerAddress, forMs = timeoutMs): Promise<Health> {
  const ask = createSafeFetch({ allowedNetworks: [] })
  const headers = host === undefined ? {} : { headers: { host } }
  try {
    return interpretResponse(url, await ask(`${url}/health/ready`, { trusted: true, timeoutMs: forMs, bytesMax, ...headers }))
  } catch (error) {
    const problem = error instanceof OutgoingError ? (unreachable[error.kind] ?? error.message) : undefined
    return { url, ready: false, version: null, problems: [problem ?? 'it could not be asked'], notes: [] }
  }
}

const unreachable: Readonly<Partial<Record<OutgoingFailure, string>>> = {
  timeout: `it did not answer within ${timeoutMs / 1000} seconds: its process stands still, or the network loses what is sent`,
  'connection failed': 'nothing answers there: souk does not run, or listens on another HOST or PORT',
  redirect: 'something answers there, and it is not souk: it leads elsewhere',
  'answer too large': 'something answers there, and it is not souk: it tells too much',
}

/** The meaning and advice of each failing check. */
const meanings: Readonly<Record<string, string>> = {
  databaseReadable: 'the database cannot be read: see that its disk, or the Postgres server, is there',
  databaseWritable:
    'the database cannot be written to: see whether its disk is full or somebody holds its lock, or the Postgres server is there',
  migrationsCurrent: 'the database is behind this version, or ahead of it: restart the server',
  diskSpace: 'less is free on the disk than DISK_FREE_MIN_MB: make room',
  databaseInPlace: "the database's file was removed or replaced: put it back, or stop and restore a backup",
  keysAtHand: 'keys.json is missing or holds other keys: put it back before the next start',
  documentsAtHand: 'the documents of lending applications are not in their place: mount the disk, or see to the bucket',
  stopping: 'it was told to stop, and finishes what is in flight',
}
const noteMeanings: Readonly<Record<string, string>> = {
  clockSteady: 'the clock jumped: jobs that go by age wait until it has been steady for 15 minutes',
  backupRecent: 'the last backup is late: `souk backup` makes one and says what is wrong',
  redisReachable: 'Redis does not answer: limits and breakers are counted by each process',
}
const explainCheck = (name: string, of: Readonly<Record<string, string>>) => `${name}: ${of[name] ?? 'this check fails'}`

type ReadinessResponse = { status?: unknown; version?: unknown; message?: unknown; checks?: unknown }

function interpretResponse(url: string, { status, bytes }: SafeResponse): Health {
  const response = parseResponse(bytes)
  const version = typeof response?.version === 'string' ? response.version : null
  if (status === 200 && response?.status === 'ok' && version !== null)
    return {
      url,
      ready: true,
      version,
      problems: [],
      notes: failingChecks(response.checks).map((name) => explainCheck(name, noteMeanings)),
    }
  const message = typeof response?.message === 'string' ? response.message : undefined
  const [, names] = /^Not ready: ([\w, ]+)$/.exec(message ?? '') ?? []
  const problems = names?.split(', ').map((name) => explainCheck(name, meanings)) ?? [unexpectedAnswer(status, message)]
  return { url, ready: false, version, problems, notes: [] }
}

function unexpectedAnswer(status: number, message: string | undefined): string {
  if (message === 'host (header): not served here') return 'ALLOWED_HOSTS does not name the host of this URL: ask by one that it names'
  if (status === 503) return 'it answers 503: it is stopping, or overloaded'
  return `something answers there with status ${status}, and it is not the readiness of souk`
}

const failingChecks = (checks: unknown): string[] =>
  Array.isArray(checks) ? checks.flatMap(({ name, ok }) => (ok === false && typeof name === 'string' ? [name] : [])) : []

function parseResponse(bytes: Uint8Array): ReadinessResponse | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
