import { engineErrorCode } from '../../db/engine.ts'
import { startJobs } from '../../jobs/index.ts'
import type { Processor } from '../clients/processors/processor.ts'
import { openServiceManager } from '../clients/service-manager.ts'
import type { Config } from '../config.ts'
import { publicUrlOf } from '../core/public-url.ts'
import { type Instance, openInstance } from '../instance.ts'
import { createLineWriter, holdLines, type LineWriter } from '../lib/line-writer.ts'
import { replayErasures } from '../modules/customers/erasure/index.ts'
import { issueSetupToken } from '../modules/identity/console-session/index.ts'
import { assignMissingOwners } from '../modules/identity/member/index.ts'
import { hasSuperAdmin } from '../modules/identity/merchant/index.ts'
import { confirmDocumentStores } from '../modules/lending/lending-document/index.ts'
import { logMailStatus } from '../modules/messaging/mail/index.ts'
import { warnOfSameDisk } from '../modules/operations/backup/index.ts'
import { recordStart, recordStop } from '../modules/operations/deploy-status/index.ts'
import { backfillKpis } from '../modules/operations/kpi/index.ts'
import { shipLog } from '../modules/operations/log-shipping/index.ts'
import { resumeOrders, workMessages } from '../modules/selling/order/index.ts'
import { listen, type RunningServer } from '../server.ts'
import { interruptedStatus, onInterruption, type Signal } from './interruption.ts'
import { refuseMoved } from './moved-instance.ts'
import { notesOf } from './start-notes.ts'

const jobsStopMaxMs = 10_000
/** Longer than a write takes; does not wait for an unavailable database. */
const endNotedMaxMs = 2_000
/** After an upgrade, serving starts even if the figures are not counted by then. */
const countedMaxMs = 2_000
/** EX_IOERR of sysexits(3): a service manager must not restart after a disk failure. */
const faultStatus = 74
const faults = {
  disk: ['database.io_error', 'Disk error. Check the disk, then start souk again'],
  file: [
    'database.damaged',
    'The database is damaged or unreadable. Check the disk. Run `souk check` for details, or `souk restore` to restore a backup',
  ],
} as const

const notReadyDefault = 'Stopped before it was ready. No data was lost. Start it again'

type ServeOptions = {
  /** Runs before requests are accepted; an error ends the start. */
  prepare?: (instance: Instance) => Promise<void>
  /** Printed if the start is interrupted. */
  notReadyText?: string
  /** Returns what to print when ready. */
  announce?: (instance: Instance, url: string) => Promise<string>
  /** Further processors. */
  processors?: readonly Processor[]
  /** Writes the lines of the log. */
  lines?: LineWriter
  /** Contains the address of a service manager that expects notifications. */
  env?: Readonly<Record<string, string | undefined>>
}

function createReserve({ deps: { db, log } }: Instance): void {
  try {
    db.file?.createReserve()
  } catch (error) {
    log.warn('database.no_reserve', { error })
  }
}

/** `souk serve`. On a terminal the log starts after the text that a person reads first. */
export async function serveInstance(config: Config, env: ServeOptions['env'] = {}): Promise<void> {
  const lines = process.stderr.isTTY ? holdLines(createLineWriter(process.stderr)) : undefined
  if (!lines) return serve(config, { env })
  try {
    await serve(config, {
      env,
      lines,
      announce: async (instance, url) => {
        const text = await readyText(instance, url)
        return [text, ...notesOf(lines.release()).map((note) => `${note}\n`), 'Press Ctrl-C to stop.\n'].map((part) => `\n${part}`).join('')
      },
    })
  } catch (error) {
    lines.flush()
    throw error
  }
}

/** Serves an instance until it is stopped. Prints the address on standard output when ready. */
export async function serve(
  config: Config,
  { prepare, notReadyText = notReadyDefault, announce = readyText, processors, lines, env = {} }: ServeOptions = {},
): Promise<void> {
  refuseMoved(config)
  let opened: Instance | undefined
  const starting = onInterruption(() => notReadyText)
  const instance = await openInstance({
    config,
    as: 'server',
    ...(processors ? { processors } : {}),
    ...(lines ? { lines } : {}),
    sqlite: {
      onFatal: (error) => {
        // Errors before then fail the start.
        if (!opened) return
        const [event, advice] = /^SQLITE_IOERR/.test(engineErrorCode(error) ?? '') ? faults.disk : faults.file
        opened.deps.log.error(event, { error, advice })
        opened.flush()
        process.exit(faultStatus)
      },
    },
  })
  opened = instance
  const { log } = instance.deps
  if (instance.migrated.length > 0)
    log.info('database.migrated', { migrations: instance.migrated, ...(instance.backup ? { backup: instance.backup } : {}) })
  let resumingOrders = Promise.resolve()
  let counting = Promise.resolve()
  let recordingStart = Promise.resolve()
  const serving = await startOrClose(instance, async () => {
    await confirmDocumentStores(instance.deps)
    const adopted = await assignMissingOwners(instance.deps)
    if (adopted > 0) log.info('shops.adopted', { shops: adopted, reason: 'created by a process of an older version, which has no staff' })
    counting = backfillKpis(instance.deps).catch((error: unknown) => log.error('kpis.not_counted', { error }))
    await Promise.race([counting, Bun.sleep(countedMaxMs)])
    // A restored database may be older than recent erasures.
    await replayErasures(instance.deps)
    await prepare?.(instance)
    // Looks for interrupted work before requests are accepted, and resumes it afterwards.
    resumingOrders = resumeOrdersAtStart(instance).catch((error: unknown) => log.error('orders.not_resumed', { error }))
    return listen(instance, config)
  })
  instance.deps.life.url = serving.url
  instance.deps.sandbox.tell(`${serving.url}/webhooks/payments/sandbox`)
  void logMailStatus(instance.deps)
  const jobs = startJobs(instance.deps)
  warnOfSameDisk(instance.deps)
  const shipping = await shipLog(instance.deps)
  createReserve(instance)
  log.info('server.started', {
    url: serving.url,
    version: instance.deps.build.version,
    engine: config.databaseUrl.startsWith('file:') ? 'sqlite' : 'postgres',
  })

  const manager = openServiceManager(env, log)
  const end = async () => {
    // A hanging job must not use up the time that the service manager grants.
    const jobsDone = Promise.race([Promise.all([jobs.stop(), resumingOrders, counting]), Bun.sleep(jobsStopMaxMs)])
    await serving.stop()
    await jobsDone
    const endNote = recordingStart
      .then(() => recordStop(instance.deps))
      .catch((error: unknown) => log.warn('server.end_not_noted', { error }))
    await Promise.race([endNote, Bun.sleep(endNotedMaxMs)])
    await shipping?.stop()
    await instance.close()
    manager?.end()
  }
  let stopping = false
  const stop = async (signal: Signal) => {
    if (stopping) {
      log.warn('server.stopped_at_once', { signal, advice: 'Requests in flight were aborted. Acknowledged changes are saved' })
      instance.flush()
      process.exit(interruptedStatus[signal])
    }
    stopping = true
    instance.deps.life.stopping = true
    manager?.stopping('finishing requests in flight')
    log.info('server.stopping', { signal, drainSeconds: config.drainSeconds })
    await Bun.sleep(config.drainSeconds * 1_000)
    await end()
    log.info('server.stopped')
    instance.flush()
    process.exit(0)
  }
  starting.end()
  process.on('SIGTERM', () => void stop('SIGTERM'))
  process.on('SIGINT', () => void stop('SIGINT'))
  manager?.ready(`serving at ${serving.url}`)

  // Last, since a reader may send a signal at once.
  try {
    process.stdout.write(await announce(instance, serving.url))
  } catch (error) {
    await end()
    throw error
  }
  // Recorded after the server is ready, because the write waits for the disk.
  recordingStart = recordStart(instance.deps).catch((error: unknown) => log.warn('server.start_not_noted', { error }))
}

/**
 * Resumes orders that a crash interrupted. An embedded database has no other users; on a server the job resumes them in
 * time.
 */
async function resumeOrdersAtStart({ deps }: Instance): Promise<void> {
  const alone = deps.config.databaseUrl.startsWith('file:')
  const dueBy = alone ? Number.MAX_SAFE_INTEGER : deps.clock.now()
  const [resumed] = await Promise.all([resumeOrders(deps, dueBy), workMessages(deps, dueBy)])
  if (resumed > 0) deps.log.info('orders.resumed', { count: resumed })
}

/** A failed start, as on a port in use, must end the process. */
async function startOrClose(instance: Instance, start: () => Promise<RunningServer>): Promise<RunningServer> {
  try {
    return await start()
  } catch (error) {
    instance.deps.life.stopping = true
    await instance.close()
    throw error
  }
}

async function readyText({ deps }: Instance, url: string): Promise<string> {
  const advice = (await hasSuperAdmin(deps)) ? '' : await setupText(deps)
  return `souk is ready at ${url} (documentation: ${url}/docs)\n${advice}`
}

/** Explains how to create the first administrator. A browser needs the token in this link. */
async function setupText(deps: Instance['deps']): Promise<string> {
  const token = deps.config.consoleEnabled ? await issueSetupToken(deps) : undefined
  const inBrowser =
    token === undefined ? '' : `Set up your shop: ${consoleUrl(deps)}/setup#${token}\nThe link is valid once, for 24 hours.\n`
  return `${inBrowser}${inBrowser === '' ? 'Create the first administrator' : 'Or in a terminal'}: souk setup --email you@example.com\n`
}

/** Returns an address that a local browser can open even if the server listens on all of them. */
const consoleUrl = (deps: Instance['deps']): string =>
  `${publicUrlOf(deps).replace(/^http:\/\/(0\.0\.0\.0|\[::\])(?=:|$)/, 'http://localhost')}/console`
