/** `souk support-bundle FILE`: writes one file for outside support, without secrets and personal data. */
import { constants, copyFileSync, linkSync, lstatSync, readdirSync, statfsSync } from 'node:fs'
import { arch, cpus, freemem, loadavg, platform, release, totalmem, uptime } from 'node:os'
import { join, resolve } from 'node:path'
import { sql } from 'drizzle-orm'
import { type Database, isDatabaseAway, type Reader } from '../../db/engine.ts'
import { serversOf } from '../../db/hosts.ts'
import { postgresMigrations, sqliteMigrations } from '../../db/migrations/index.ts'
import { databaseFile, isThere } from '../../db/open.ts'
import { createSafeFetch } from '../clients/safe-fetch.ts'
import { type Config, ConfigError, settings as known, parseConfig } from '../config.ts'
import { OperatorError } from '../core/errors.ts'
import { keyFile, readKeyFile, writePrivateFile } from '../keys.ts'
import { decodePercent } from '../lib/percent-encoding.ts'
import { ownHistory } from '../modules/operations/deploy-status/index.ts'
import { storedJobs } from '../modules/operations/job/index.ts'
import { stuckOrders } from '../modules/selling/order/index.ts'
import { version } from '../version.ts'
import { listFindings } from './check.ts'
import type { Input } from './command.ts'
import { openReadOnly, readOnlyDeps } from './database-command.ts'
import { noInstance } from './database-file.ts'
import { assertDirectoryOf, explain } from './failure.ts'
import { checkHealth, serverAddressOf } from './health.ts'
import { onInterruption } from './interruption.ts'

/** Returns the content of a section. A failure is reported in its place and does not affect the others. */
type Section = () => unknown

/** @throws OperatorError if FILE exists, or its directory does not */
export async function supportBundle(input: Input): Promise<number> {
  const {
    env,
    positionals: [file = ''],
    switches,
  } = input
  const path = resolve(file)
  assertDirectoryOf(path)
  if (isThere(path)) throw new OperatorError(`${path} already exists. Choose another name`)
  const interruption = onInterruption(() => `Stopped. ${path} was not written. Run it again`)
  const { config, problems } = loadReadableConfig(input)
  const header = { madeAt: new Date(readOnlyDeps.clock.now()).toISOString(), ...programOf(), machine: machine() }
  const notValid = Object.fromEntries(namesIn(problems).map((name) => [name, 'set, invalid']))
  const settings = { ...(problems.length > 0 ? { problems } : {}), ...(config ? { ...settingsOf(config), ...notValid } : {}) }
  const bundle = { ...header, settings, ...(config ? await sectionsOf(config, env, !switches.has('no-check')) : {}) }
  const secrets = secretsOf(config, env)
  writePrivateFile(path, `${JSON.stringify(redact(bundle, secrets), undefined, 2)}\n`, publishNew)
  interruption.end()
  const what = config ? 'settings without secrets, versions, sizes, jobs, errors and stuck orders' : 'only the problems of the settings'
  process.stdout.write(`${path} created: ${what}. Review it before you send it.\n`)
  return 0
}

/** Publishes a file under a new name, also on file systems without links (FAT, some network file systems). */
export function publishNew(temporary: string, file: string, link: typeof linkSync = linkSync): void {
  try {
    link(temporary, file)
  } catch (error) {
    if (!/^(EPERM|ENOTSUP|EOPNOTSUPP|ENOSYS)$/.test((error as { code?: string }).code ?? '')) throw error
    copyFileSync(temporary, file, constants.COPYFILE_EXCL)
  }
}

/**
 * Reads the settings without invalid ones, which are reported and may be the cause. No `config` if nothing can be read
 * without them.
 */
function loadReadableConfig({ config, env, values }: Input): { config: Config | undefined; problems: readonly string[] } {
  try {
    return { config: config(), problems: [] }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const { problems } = error
    const wrong = new Set(namesIn(problems))
    const sound = Object.fromEntries(
      Object.entries({ ...env, DATA_DIR: values.get('data-dir') ?? env['DATA_DIR'] }).filter(([name]) => !wrong.has(name)),
    )
    try {
      // An unreadable setting may name another database.
      return { config: wrong.has('DATABASE_URL') || wrong.has('DATA_DIR') ? undefined : parseConfig(sound), problems }
    } catch (retried) {
      if (retried instanceof ConfigError) return { config: undefined, problems }
      throw retried
    }
  }
}

/** Returns the names of the settings with problems. */
const namesIn = (problems: readonly string[]): string[] => problems.flatMap((problem) => /^[A-Z][A-Z0-9_]+/.exec(problem)?.[0] ?? [])

const programOf = () => ({ souk: version, bun: Bun.version, isBinary: Bun.main.startsWith('/$bunfs/') })

const machine = () => ({
  system: `${platform()} ${release()} ${arch()}`,
  processors: cpus().length,
  load: loadavg(),
  memory: { totalBytes: totalmem(), freeBytes: freemem() },
  uptimeSeconds: uptime(),
  user: process.getuid?.() ?? null,
  timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
})

/** Parts of credentials that are not secret themselves. */
const accountName = /_(KEY_ID|USERNAME|CLIENT_ID|PUBLISHABLE_KEY)$/
const setButHidden = 'set, not shown'

/** Returns every setting; of secrets, only whether they are set. */
export function settingsOf(config: Config): Record<string, unknown> {
  const entries = Object.entries(known).map(([name, setting]) => {
    const value: unknown = config[setting.field]
    const isSet = value !== undefined && !(Array.isArray(value) && value.length === 0)
    if ('secret' in setting || accountName.test(name)) return [name, isSet ? setButHidden : null]
    if (name === 'DATABASE_URL') return [name, withoutLogin(config.databaseUrl)]
    return [name, value ?? null]
  })
  return Object.fromEntries(entries)
}

/** Keeps host, port and database name of a database server. */
function withoutLogin(databaseUrl: string): string {
  if (databaseUrl.startsWith('file:')) return databaseUrl
  const servers = serversOf(databaseUrl).map((url) => new URL(url))
  return `${servers[0]?.protocol}//${servers.map(({ host }) => host).join(',')}${servers[0]?.pathname}`
}

/** Sections that need no database. */
const offlineSections: ReadonlySet<string> = new Set(['server', 'metrics', 'files'])

async function sectionsOf(config: Config, env: Input['env'], withCheck: boolean): Promise<Record<string, unknown>> {
  let database: Database | undefined
  const db = () => {
    database ??= open(config)
    return database
  }
  const deps = () => ({ ...readOnlyDeps, db: db(), config, processName: 'support-bundle' })
  const sections: Record<string, Section> = {
    server: async () => checkHealth(serverAddressOf(config)),
    metrics: async () => metricsOf(config),
    files: () => files(config),
    database: async () => (config.databaseUrl.startsWith('file:') ? sqliteFacts(db().read) : postgresFacts(db().read)),
    migrations: async () => migrations(db().read, config),
    rows: async () => rowsOf(db().read, config),
    queues: async () => queues(db().read),
    processors: async () => processors(db().read),
    jobs: async () => (await storedJobs(deps())).map(withoutMessage),
    processes: async () => (await ownHistory(deps())).starts,
    errors: async () => (await ownHistory(deps())).errors,
    stuckOrders: async () => stuckOrders(deps(), { olderThanMs: 5 * 60_000, limit: 20 }),
    check: async () => (withCheck ? checkOf(config) : 'skipped: --no-check'),
  }
  const contents: Record<string, unknown> = {}
  let unavailableError: unknown
  for (const [name, section] of Object.entries(sections)) {
    try {
      // Waits for an unavailable server once, not for each section.
      if (unavailableError !== undefined && !offlineSections.has(name)) throw unavailableError
      contents[name] = await section()
    } catch (error) {
      if (isDatabaseAway(error)) unavailableError = error
      contents[name] = { failed: explain(error, env).text }
    }
  }
  await database?.close().catch(() => undefined)
  return contents
}

function open({ databaseUrl }: Config): Database {
  if (databaseUrl.startsWith('file:') && !isThere(databaseFile(databaseUrl))) throw noInstance(databaseFile(databaseUrl))
  return openReadOnly({ databaseUrl })
}

const metricsMaxBytes = 4 * 1024 * 1024

async function metricsOf(config: Config): Promise<string[]> {
  const { url, host } = serverAddressOf(config)
  const { metricsToken: token } = config
  const headers = { host: host ?? 'localhost', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) }
  const ask = createSafeFetch({ allowedNetworks: [] })
  const { status, bytes } = await ask(`${url}/metrics`, { trusted: true, timeoutMs: 5_000, bytesMax: metricsMaxBytes, headers }).catch(
    () => {
      throw new OperatorError(`No answer from ${url}`)
    },
  )
  if (status !== 200) throw new OperatorError(`/metrics answered ${status}`)
  return new TextDecoder()
    .decode(bytes)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
}

const filesMax = 200

/** Lists the data directory and the free space. */
function files({ dataDir, databaseUrl }: Config) {
  const { bavail, blocks, bsize, type } = statfsSync(dataDir)
  const listDirectory = (directory: string) =>
    readdirSync(directory)
      .slice(0, filesMax)
      .map((name) => {
        const { size, mode, mtime, uid } = lstatSync(join(directory, name))
        return { name, bytes: size, mode: (mode & 0o7777).toString(8), owner: uid, changedAt: mtime.toISOString() }
      })
  const backups = join(dataDir, 'backups')
  return {
    disk: { freeBytes: bavail * bsize, totalBytes: blocks * bsize, fileSystem: `0x${(type >>> 0).toString(16)}` },
    dataDir: listDirectory(dataDir),
    backups: isThere(backups) ? listDirectory(backups) : [],
    ...(databaseUrl.startsWith('file:') ? { database: databaseFile(databaseUrl) } : {}),
  }
}

async function sqliteFacts(read: Reader) {
  const pragma = async (name: string) => Object.values((await read.rows<Record<string, unknown>>(sql.raw(`PRAGMA ${name}`)))[0] ?? {})[0]
  const names = ['page_size', 'page_count', 'freelist_count', 'journal_mode', 'user_version', 'application_id'] as const
  const [engine] = await read.rows<{ version: string }>(sql`select sqlite_version() as version`)
  return {
    engine: `SQLite ${engine?.version}`,
    ...Object.fromEntries(await Promise.all(names.map(async (name) => [name, await pragma(name)]))),
  }
}

async function postgresFacts(read: Reader) {
  const [facts] = await read.rows<Record<string, unknown>>(sql`
    select current_setting('server_version') as version, pg_database_size(current_database())::text as bytes, pg_is_in_recovery() as "isInRecovery",
      current_setting('max_connections') as "maxConnections", current_setting('synchronous_commit') as "synchronousCommit",
      (select count(*)::int from pg_stat_activity) as connections`)
  const activity = await read.rows(sql`
    select state, wait_event_type as "waitsFor", count(*)::int as connections, max(extract(epoch from now() - xact_start))::int as "longestSeconds"
    from pg_stat_activity where datname = current_database() group by 1, 2 order by 3 desc`)
  return { engine: `PostgreSQL ${facts?.['version']}`, ...facts, activity }
}

async function migrations(read: Reader, { databaseUrl }: Config) {
  const applied = await read.rows<{ tag: string }>(sql`select tag from souk_migrations where tag <> 'lock' order by tag`)
  const knownTags = (databaseUrl.startsWith('file:') ? sqliteMigrations : postgresMigrations).map(({ tag }) => tag)
  const tags = applied.map(({ tag }) => tag)
  return {
    applied: tags,
    pending: knownTags.filter((tag) => !tags.includes(tag)),
    unknown: tags.filter((tag) => !knownTags.includes(tag)),
  }
}

const countedMax = 100_000

/** Counts the rows of each table, up to a limit. */
async function rowsOf(read: Reader, { databaseUrl }: Config): Promise<Record<string, number | string>> {
  const tables = databaseUrl.startsWith('file:')
    ? sql`select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by name`
    : sql`select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by relname`
  const counts: Record<string, number | string> = {}
  for (const { name } of await read.rows<{ name: string }>(tables)) {
    const [row] = await read.rows<{ n: number | string }>(
      sql`select count(*) as n from (select 1 from ${sql.identifier(name)} limit ${countedMax + 1}) as counted`,
    )
    const n = Number(row?.n ?? 0)
    counts[name] = n > countedMax ? `over ${countedMax}` : n
  }
  return counts
}

/** Counts pending work. */
async function queues(read: Reader) {
  const [row] = await read.rows<Record<string, number | string | null>>(sql`select
    (select count(*) from orders where resume_at is not null and resume_at > 0) as "ordersToTakeUp", (select min(resume_at) from orders where resume_at is not null) as "firstOrderAt",
    (select count(*) from orders where status = 'PENDING_PAYMENT') as "ordersUnpaid",
    (select count(*) from refunds where resume_at is not null and resume_at > 0) as "refundsToTakeUp",
    (select count(*) from shops s cross join refunds r where r.shop_id = s.id and r.status = 'MANUAL') as "refundsByHand",
    (select count(*) from payment_messages where resume_at is not null and resume_at > 0) as "messagesToWork",
    (select count(*) from outbox where status = 'PENDING') as "outboxPending",
    (select count(*) from webhook_deliveries where status = 'PENDING') as "deliveriesPending",
    (select min(next_at) from webhook_deliveries where status = 'PENDING') as "firstDeliveryAt"`)
  const times = (name: string, value: number | string | null | undefined) =>
    name.endsWith('At') && value !== null ? new Date(Number(value)).toISOString() : value === null ? null : Number(value)
  return Object.fromEntries(Object.entries(row ?? {}).map(([name, value]) => [name, times(name, value)]))
}

/** Lists disabled processors and shops' own accounts; the metrics have the circuit breakers. */
async function processors(read: Reader) {
  const [isolated, accounts] = await Promise.all([
    read.rows<{ processor: string; at: number | string }>(
      sql`select processor, isolated_at as at from processor_isolations order by processor`,
    ),
    read.rows(
      sql`select processor, mode, cast(count(*) as integer) as accounts from processor_accounts group by processor, mode order by processor, mode`,
    ),
  ])
  return {
    isolated: isolated.map(({ processor, at }) => ({ processor, since: new Date(Number(at)).toISOString() })),
    shopsAccounts: accounts,
  }
}

/** The error of a run may quote a row, so only its kind is kept. */
function withoutMessage({ lastRun, ...job }: Awaited<ReturnType<typeof storedJobs>>[number]) {
  return {
    ...job,
    lastRun: lastRun && { ...lastRun, error: lastRun.error === null ? null : (/^[\w.]+/.exec(lastRun.error)?.[0] ?? 'an error') },
  }
}

async function checkOf(config: Config) {
  const results: { subject: string; result: 'ok' | 'wrong' | 'to do'; problems: readonly string[] }[] = []
  for await (const { subject, problems, isWork } of listFindings(config))
    results.push({ subject, result: problems.length === 0 ? 'ok' : isWork ? 'to do' : 'wrong', problems })
  return results
}

/** Shorter values would garble the bundle; settings refuse them as secrets. */
const secretMinLength = 6

/** Returns every known secret of the settings and the key file, whole and in parts. */
export function secretsOf(config: Config | undefined, env: Input['env']): string[] {
  const ofEnvironment = Object.entries(known).flatMap(([name, setting]) => ('secret' in setting ? [env[name] ?? ''] : []))
  const ofSettings = Object.values(known).flatMap((setting) => ('secret' in setting && config ? textsIn(config[setting.field]) : []))
  const secrets = [...ofEnvironment, ...ofSettings, ...(config ? ofKeyFile(config) : [])]
  const parts = [...secrets, ...serversOf(env['DATABASE_URL'] ?? '')].flatMap(loginOf)
  const lists = ofEnvironment.flatMap((text) => text.split(',').map((item) => item.trim()))
  // The longest first, so that no part of one that contains another remains.
  return [...new Set([...secrets, ...parts, ...lists])].filter((text) => text.length >= secretMinLength).sort((a, b) => b.length - a.length)
}

function ofKeyFile(config: Config): string[] {
  try {
    return config.databaseUrl.startsWith('file:') ? textsIn(readKeyFile(keyFile(config))) : []
  } catch {
    // What cannot be read cannot appear elsewhere either.
    return []
  }
}

const textsIn = (value: unknown): string[] => {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/** Returns the password of a URL, encoded and decoded, and the values of its query. */
function loginOf(text: string): string[] {
  const url = URL.parse(text)
  if (!url) return []
  const { password, searchParams } = url
  return [password, ...[...searchParams.values()], decodePercent(password)]
}

const email = /[\p{L}\p{M}\p{N}_.+-]+@[\p{L}\p{M}\p{N}_-]+(?:\.[\p{L}\p{M}\p{N}_-]+)+/gu

const wallet = /\b0x[0-9a-f]{40}\b/gi

/** Returns a copy without secrets, e-mail addresses and wallets. */
export function redact(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string')
    return secrets
      .reduce((text, secret) => text.replaceAll(secret, '***'), value)
      .replace(email, '[e-mail]')
      .replace(wallet, '[wallet]')
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return value.map((item) => redact(item, secrets))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, redact(item, secrets)]))
}
