import { startJobs } from '../../jobs/index.ts'
import type { Processor } from '../clients/processors/processor.ts'
import type { Config } from '../config.ts'
import { flushLog, type Instance, openInstance } from '../instance.ts'
import { resumeOrders } from '../modules/order/service.ts'
import { listen, type Serving } from '../server.ts'

const jobsStopMaxMs = 10_000

export type ServeOptions = {
  /** Runs before anybody is let in; what it throws ends the start. */
  prepare?: (instance: Instance) => Promise<void>
  /** What to print when the instance is ready. */
  announce?: (instance: Instance, url: string) => Promise<string>
  /** Besides those that the instance has by itself. */
  processors?: readonly Processor[]
}

/** Serves an instance until it is told to stop. Prints the address on standard output when it is ready. */
export async function serve(config: Config, { prepare, announce = readyText, processors }: ServeOptions = {}): Promise<void> {
  let opened: Instance | undefined
  const instance = await openInstance({
    config,
    as: 'server',
    ...(processors ? { processors } : {}),
    sqlite: {
      onFatal: (error) => {
        // Before that, the start fails with it.
        if (!opened) return
        opened.deps.log.error('database.io_error', { error, advice: 'the disk failed: check it, then start again' })
        flushLog()
        process.exit(74)
      },
    },
  })
  opened = instance
  const { log } = instance.deps
  if (instance.migrated.length > 0)
    log.info('database.migrated', { migrations: instance.migrated, ...(instance.backup ? { backup: instance.backup } : {}) })
  let takingUp = Promise.resolve()
  const serving = await startOrClose(instance, async () => {
    await prepare?.(instance)
    // What the last process left is looked for before anybody is let in, and done while they come.
    takingUp = takeUpOrders(instance).catch((error: unknown) => log.error('orders.not_resumed', { error }))
    return listen(instance, config)
  })
  instance.deps.sandbox.tell(`${serving.url}/webhooks/payments/sandbox`)
  const jobs = startJobs(instance.deps)
  log.info('server.started', {
    url: serving.url,
    version: instance.deps.build.version,
    engine: config.databaseUrl.startsWith('file:') ? 'sqlite' : 'postgres',
  })

  const end = async () => {
    instance.edge.drain()
    // A job that hangs must not use up the time that a service manager gives us.
    await Promise.race([Promise.all([jobs.stop(), takingUp]), Bun.sleep(jobsStopMaxMs)])
    await serving.stop()
  }
  let stopping = false
  const stop = async (signal: string) => {
    if (stopping) return
    stopping = true
    log.info('server.stopping', { signal })
    await end()
    log.info('server.stopped')
    flushLog()
    process.exit(0)
  }
  process.on('SIGTERM', () => void stop('SIGTERM'))
  process.on('SIGINT', () => void stop('SIGINT'))

  // Last: whoever reads it may send a signal at once.
  try {
    process.stdout.write(await announce(instance, serving.url))
  } catch (error) {
    await end()
    throw error
  }
}

/**
 * Goes on at once with the orders that a crash left half-done. On a file nobody else can have been at them; of many processes on
 * a database server another may be, and the job takes them up when their time has come.
 */
async function takeUpOrders({ deps }: Instance): Promise<void> {
  const alone = deps.config.databaseUrl.startsWith('file:')
  const resumed = await resumeOrders(deps, alone ? Number.MAX_SAFE_INTEGER : deps.clock.now())
  if (resumed > 0) deps.log.info('orders.resumed', { count: resumed })
}

/** A start that fails, as on a port that is taken, ends the process: nothing may keep it alive. */
async function startOrClose(instance: Instance, start: () => Promise<Serving>): Promise<Serving> {
  try {
    return await start()
  } catch (error) {
    await instance.close()
    throw error
  }
}

async function readyText({ deps }: Instance, url: string): Promise<string> {
  const advice = (await deps.userStore.anySuperAdmin())
    ? ''
    : 'There is no super admin yet: run `souk setup --email you@example.com` to make one.\n'
  return `souk is ready at ${url} (documentation: ${url}/docs)\n${advice}`
}
