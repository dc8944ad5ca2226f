import { randomBytes } from 'node:crypto'
import { statfsSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import type { Database } from '../db/engine.ts'
import { databaseFile, directoriesOf, openDatabase } from '../db/open.ts'
import type { PostgresOptions } from '../db/postgres/engine.ts'
import type { SqliteOptions } from '../db/sqlite/engine.ts'
import { createApp } from './app.ts'
import { createTxtLookup } from './clients/dns.ts'
import { openFiles } from './clients/open-files.ts'
import { createPasswords } from './clients/passwords.ts'
import type { Processor } from './clients/processors/processor.ts'
import { openRedis } from './clients/redis.ts'
import { createSafeFetch } from './clients/safe-fetch.ts'
import type { Config } from './config.ts'
import { type Clock, watchClock } from './core/clock.ts'
import type { Deps, Passwords } from './core/deps.ts'
import { countErrors } from './core/error-notes.ts'
import { AppError } from './core/errors.ts'
import type { SafeFetch, TxtLookup } from './core/outgoing.ts'
import { requestId, trackCommits } from './core/request-context.ts'
import { noSharedState } from './core/shared-state.ts'
import type { ClientConnections } from './http/client-connections.ts'
import { answerDeadline, createFastPath, type Deadline, type FastPath } from './http/fast-path.ts'
import { createFastReads, isCachedBy } from './http/fast-reads.ts'
import { auditLimits } from './http/limits.ts'
import { publicReads } from './http/public-reads.ts'
import { createKeyring, keyFile, refuseOpenKeyFile, refuseOrphanedKeys, rememberRegistration } from './keys.ts'
import { createNewId } from './lib/ids.ts'
import { createLineWriter, type LineWriter } from './lib/line-writer.ts'
import { createLog, type Log } from './lib/log.ts'
import { networkOf } from './lib/networks.ts'
import { randomFraction } from './lib/random.ts'
import { confirmMasterKeys, hasSealedSecrets } from './modules/identity/master-key/index.ts'
import { statsJsonSync } from './modules/trust/fabric/index.ts'
import { type AppDeps, compose } from './providers.ts'
import { version } from './version.ts'

export type InstanceOptions = {
  config: Config
  /** A `server` holds the data directory; a `command` may run beside a server. */
  as: 'server' | 'command'
  clock?: Clock
  log?: Log
  /** Writes the lines of the log; to standard error by default. */
  lines?: LineWriter
  sleep?: (ms: number) => Promise<void>
  passwords?: Passwords
  safeFetch?: SafeFetch
  lookUpTxt?: TxtLookup
  countryOf?: (address: string) => string | undefined
  /** Timeout of Redis responses. */
  redisTimeoutMs?: number
  diskFree?: () => number | undefined
  deadline?: () => Deadline
  sqlite?: SqliteOptions
  postgres?: PostgresOptions
  /** Processors in addition to those of the instance. */
  processors?: readonly Processor[]
  /** Creates the routes; tests share them between apps. */
  routes?: (deps: AppDeps) => { fetch(request: Request): Response | Promise<Response> }
}

export type Instance = {
  deps: AppDeps
  /** The request handler. Created on demand, because most commands do not need it. */
  readonly edge: FastPath
  migrated: string[]
  backup: string | undefined
  close(): Promise<void>
  /** Writes buffered log lines; call it before the process ends. */
  flush(): void
}

const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() }
/** Advice in the log after a clock jump. */
const advice = 'Jobs that depend on ages wait until the clock is steady. Check the clock'

/** Creates an instance from its settings: database, keys, stores, services and app. */
export async function openInstance({
  config,
  as,
  clock = systemClock,
  sleep = Bun.sleep,
  sqlite,
  ...given
}: InstanceOptions): Promise<Instance> {
  const lines = given.lines ?? createLineWriter(process.stderr)
  const { log, notes: errorNotes } = countErrors(given.log ?? createLog(config.logLevel, clock.now, lines.write, requestId), clock.now)
  refuseOpenKeyFile(config)
  // Before the file is created, because it would look like a new shop's.
  const embedded = config.databaseUrl.startsWith('file:') ? databaseFile(config.databaseUrl) : undefined
  if (embedded !== undefined && isMissing(embedded)) refuseOrphanedKeys(config, embedded)
  const opened = await openDatabase({
    url: config.databaseUrl,
    dataDir: config.dataDir,
    as,
    now: clock.now(),
    random: () => randomFraction(randomBytes),
    ...(sqlite ? { sqlite } : {}),
    postgres: { connections: config.databaseConnections, ...given.postgres },
  })
  const { migrated, backup, warnings } = opened
  if (opened.folded)
    log.warn('database.disk_full', {
      advice: 'The disk was full. The log was merged into the database file. Free some disk space',
    })
  // Before the first write, which could overwrite log frames that were not shipped before a crash.
  if (as === 'server' && config.shipLogSeconds !== undefined) opened.db.file?.holdLog()
  const db = reportMissingFile(trackCommits(opened.db), (isInPlace) => tellOfDatabase(log, embedded, isInPlace))
  let shared = noSharedState
  if (as === 'server') for (const warning of warnings) log.warn('data.open_to_all', { advice: warning })
  try {
    const isNew = !(await hasSealedSecrets(db))
    if (isNew && embedded !== undefined) refuseOrphanedKeys(config, embedded)
    const keyring = createKeyring(config, isNew, (atHand) => tellOfKeys(log, keyFile(config), atHand))
    await confirmMasterKeys({ db, clock }, keyring)
    rememberRegistration(config)
    const { redisUrl } = config
    // Commands do not count limits.
    shared =
      as === 'server' && redisUrl !== undefined ? await openRedis({ url: redisUrl, log, timeoutMs: given.redisTimeoutMs }) : noSharedState
    if (as === 'server' && embedded === undefined && redisUrl === undefined)
      log.info('limits.by_process', {
        advice: 'Each process counts limits and breakers on its own. Set REDIS_URL if several processes serve one database',
      })
    if (as === 'server' && embedded === undefined && (config.backupDir ?? config.backupS3Endpoint) !== undefined)
      log.warn('backup.not_of_postgres', {
        advice: 'BACKUP_… settings work with the embedded database only. Nothing is backed up. Use the tools of PostgreSQL',
      })
    const deps: Deps = {
      config,
      db,
      clock,
      clockWatch: watchClock(clock, (byMs, waitMs) => log.warn('clock.jumped', { byMs, waitMs, advice })),
      randomBytes,
      newId: createNewId(() => Bun.randomUUIDv7('buffer', clock.now())),
      log,
      errorNotes,
      keyring,
      passwords:
        given.passwords ??
        createPasswords((retryAfterSeconds) => new AppError('UNAVAILABLE', 'Too many logins at once: try again', { retryAfterSeconds })),
      safeFetch: given.safeFetch ?? createSafeFetch({ allowedNetworks: config.outgoingAllowedNetworks }),
      lookUpTxt: given.lookUpTxt ?? createTxtLookup({ server: config.dnsServer }),
      countryOf: given.countryOf ?? (as === 'server' ? await countriesOf(config, log, clock) : () => undefined),
      shared,
      sleep,
      diskFree: given.diskFree ?? (() => freeBytes(config)),
      openFiles,
      life: { stopping: false },
      processName: `${hostname()}:${process.pid}:${randomBytes(4).toString('hex')}`,
      build: { version },
      host: hostname(),
    }
    const peers: ClientConnections = new WeakMap()
    const appDeps = compose(deps, { peers, processors: given.processors ?? [] })
    let edge: FastPath | undefined
    return {
      deps: appDeps,
      get edge() {
        edge ??= edgeOf(appDeps, peers, given)
        return edge
      },
      migrated,
      backup,
      close: async () => {
        appDeps.shared.close()
        appDeps.mailServer?.close()
        await appDeps.sandbox.close()
        await db.close()
      },
      flush: lines.flush,
    }
  } catch (error) {
    shared.close()
    await db.close()
    throw error
  }
}

/** Opens GEO_DATABASE, and warns about settings that need a country without a source. */
async function countriesOf({ geoDatabase, geoCountryHeader, operatorCountries, trustedProxies }: Config, log: Log, { monotonic }: Clock) {
  if (geoCountryHeader !== undefined && trustedProxies.length === 0)
    log.warn('operators.header_not_believed', {
      advice: 'GEO_COUNTRY_HEADER has no effect without TRUSTED_PROXIES',
    })
  if (geoDatabase !== undefined) return (await import('./clients/countries.ts')).openCountries(geoDatabase, log, monotonic)
  const isTold = geoCountryHeader !== undefined && trustedProxies.length > 0
  if (operatorCountries.length > 0 && !isTold)
    log.warn('operators.no_geography', {
      advice:
        'OPERATOR_COUNTRIES is set, but countries of addresses are unknown: administrators can log in from loopback and private addresses only. Set GEO_DATABASE, or GEO_COUNTRY_HEADER with TRUSTED_PROXIES',
    })
  return () => undefined
}

/** Creates the routes and the layers in front of them. */
function edgeOf(
  appDeps: AppDeps,
  peers: ClientConnections,
  { deadline = answerDeadline, routes = createApp }: Pick<InstanceOptions, 'deadline' | 'routes'>,
): FastPath {
  const app = routes(appDeps)
  return createFastPath({
    handle: auditLimits(
      appDeps,
      publicReads({
        handle: (request) => app.fetch(request),
        routeTable: appDeps.routeTable,
        isCached: isCachedBy(appDeps),
        turns: appDeps.readQueue,
        budget: appDeps.answerBudget,
        turnKey: appDeps.limitKey,
        senderOf: (request) => networkOf(appDeps.limitKey(request)),
        log: appDeps.log,
      }),
    ),
    reads: createFastReads({
      records: appDeps.documents,
      orders: { keyNow: appDeps.identity.keyNow, documentNow: appDeps.orderDocuments.documentNow },
      answers: appDeps.answers,
      statsNow: () => statsJsonSync(appDeps),
      resolver: { answers: appDeps.resolverAnswers, limit: appDeps.resolverLimit, limitKey: appDeps.limitKeyFrom },
      profiles: appDeps.profileAnswers,
      now: appDeps.clock.now,
      routeTable: appDeps.routeTable,
    }),
    log: appDeps.log,
    requestCounts: appDeps.requestCounts,
    routeTable: appDeps.routeTable,
    allowedHosts: appDeps.config.allowedHosts,
    monotonicMs: () => performance.now(),
    newRequestId: createRequestIds(),
    peers,
    deadline,
  })
}

/** Returns whether the database file is missing or empty. */
const isMissing = (file: string): boolean => !statSync(file, { throwIfNoEntry: false })?.size

/** Wraps the database to report once when its file is missing, and once when it is back. */
function reportMissingFile(db: Database, tell: (isInPlace: boolean) => void): Database {
  let wasInPlace = true
  return {
    ...db,
    isInPlace() {
      const isInPlace = db.isInPlace()
      if (isInPlace !== wasInPlace) tell(isInPlace)
      wasInPlace = isInPlace
      return isInPlace
    },
  }
}

function tellOfDatabase(log: Log, file: string | undefined, isInPlace: boolean): void {
  if (isInPlace) log.info('database.found', { file })
  else
    log.error('database.gone', {
      file,
      advice:
        'The database file was deleted or replaced. New writes are lost when this process ends. Move the file back, or stop the server and restore a backup',
    })
}

function tellOfKeys(log: Log, file: string, atHand: boolean): void {
  if (atHand) log.info('keys.found', { file })
  else log.error('keys.missing', { file, advice: 'Restore the file from your copy before the next start. The keys are in memory only' })
}

/** Free bytes of the fullest disk of the instance: DATABASE_URL may name another disk than DATA_DIR. */
function freeBytes({ databaseUrl, dataDir }: Config): number | undefined {
  if (!databaseUrl.startsWith('file:')) return undefined
  const free = directoriesOf(databaseUrl, dataDir).map((directory) => {
    const { bavail, bsize } = statfsSync(directory)
    return bavail * bsize
  })
  return Math.min(...free)
}

/**
 * Creates request ids: unique in the instance and easy to tell apart. A UUID would cost more than the rest of a cached
 * read.
 */
function createRequestIds(): () => string {
  const process = randomBytes(9).toString('base64url')
  let count = 0
  return () => `${process}-${(++count).toString(36)}`
}
