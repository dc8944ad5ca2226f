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
type ServerAddress = { readonly url: string; readonly host?: string | undefined }
type Health = {
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
  else process.stderr.write(`FAIL  ${url} is not ready\n${problems.map((problem) => `      ${problem}\n`).join('')}`)
  for (const note of notes) process.stdout.write(`note  ${note}\n`)
}

/** @throws UsageError */
function urlOf(text: string): string {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash)
    throw new UsageError('--url must be an http or https URL without credentials and query, such as http://127.0.0.1:3000')
  return url.origin + url.pathname.replace(/\/$/, '')
}

const anyAddress: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/**
 * Returns the configured address of the server with a host name that it serves.
 * @throws UsageError if the port is 0
 */
export function serverAddressOf({ host, port, allowedHosts }: Pick<Config, 'host' | 'port' | 'allowedHosts'>): ServerAddress {
  if (port === 0) throw new UsageError("PORT is 0, so the server's port is unknown: use --url")
  const address = anyAddress[host] ?? host
  const authority = address.includes(':') ? `[${address}]` : address
  const [allowedHost] = allowedHosts
  return { url: `http://${authority}:${port}`, host: allowedHost === undefined || allowedHosts.includes(address) ? undefined : allowedHost }
}

/** Checks readiness within five seconds. Never throws. */
export async function checkHealth({ url, host }: ServerAddress, forMs = timeoutMs): Promise<Health> {
  const ask = createSafeFetch({ allowedNetworks: [] })
  const headers = host === undefined ? {} : { headers: { host } }
  try {
    return interpretResponse(url, await ask(`${url}/health/ready`, { trusted: true, timeoutMs: forMs, bytesMax, ...headers }))
  } catch (error) {
    const problem = error instanceof OutgoingError ? (unreachable[error.kind] ?? error.message) : undefined
    return { url, ready: false, version: null, problems: [problem ?? 'the request failed'], notes: [] }
  }
}

const unreachable: Readonly<Partial<Record<OutgoingFailure, string>>> = {
  timeout: `no answer within ${timeoutMs / 1000} seconds: the process hangs, or the network drops packets`,
  'connection failed': 'nothing is listening at this address: souk is not running, or uses another HOST or PORT',
  redirect: 'another program answers at this address (with a redirect)',
  'answer too large': 'another program answers at this address (with a large response)',
}

/** The meaning and advice of each failing check. */
const meanings: Readonly<Record<string, string>> = {
  databaseReadable: 'the database is not readable: check its disk or the PostgreSQL server',
  databaseWritable: 'the database is not writable: check for a full disk, a lock, or an unavailable PostgreSQL server',
  migrationsCurrent: 'the database is older or newer than this version: restart the server',
  diskSpace: 'less disk space is free than DISK_FREE_MIN_MB: free some space',
  databaseInPlace: 'the database file was removed or replaced: put it back, or stop the server and restore a backup',
  keysAtHand: 'keys.json is missing or holds other keys: put it back before the next start',
  documentsAtHand: 'the loan documents are missing: mount their disk, or check the bucket',
  stopping: 'the server is stopping and finishes requests in flight',
}
const noteMeanings: Readonly<Record<string, string>> = {
  clockSteady: 'the clock jumped: jobs that depend on ages wait until it is steady for 15 minutes',
  backupRecent: 'the last backup is late: run `souk backup` to create one and see the cause',
  redisReachable: "Redis doesn't answer: each process counts limits and breakers on its own",
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
  if (message === 'host: not served here') return "ALLOWED_HOSTS doesn't include the host of this URL: use a host that it includes"
  if (status === 503) return 'status 503: the server is stopping or overloaded'
  return `another program answers at this address (status ${status})`
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
