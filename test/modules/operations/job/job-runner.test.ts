/** Tests the job runner: single runs, stored results, requested runs and stuck jobs. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { engine } from '../../../../db/columns.ts'
import { liveEvents } from '../../../../db/schema/live.ts'
import type { JobName } from '../../../../src/lib/job-table.ts'
import { listJobs } from '../../../../src/modules/operations/job/index.ts'
import { startTime, type TestApp, type TestAppOptions, testApp } from '../../../support/app.ts'
import { testDatabase } from '../../../support/database.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const path = '/admin/operations/jobs'
const minute = 60_000
const heartbeatMs = 10_000
const day = 24 * 60 * minute
type Outcome = Awaited<ReturnType<Parameters<TestApp['deps']['jobRunner']['start']>[0][number]['perform']>>
const okOutcome = { result: 'OK' } as const

/**
 * Opens a process with the job `forget`, which runs every ten minutes, or with other jobs. The test decides what they
 * do.
 */
async function openWorker(
  setup: {
    settings?: Record<string, string>
    options?: TestAppOptions
    names?: readonly JobName[]
    doWork?: (name: JobName) => Promise<Outcome>
  } = {},
) {
  const app = await testApp(setup.settings, setup.options)
  const ran: string[] = []
  const runner = app.deps.jobRunner
  const start = () =>
    runner.start(
      (setup.names ?? ['forget']).map((name) => ({
        name,
        async perform() {
          ran.push(name)
          return (await setup.doWork?.(name)) ?? okOutcome
        },
      })),
    )
  await start()
  return {
    app,
    runner,
    ran,
    /** Advances the clock with a heartbeat every ten seconds. */
    async advance(ms: number) {
      for (let passed = 0; passed < ms; passed += heartbeatMs) {
        app.clock.advance(Math.min(heartbeatMs, ms - passed))
        await runner.heartbeat()
      }
    },
    status: async (name: JobName = 'forget') => (await runner.statuses()).find((one) => one.name === name),
    async [Symbol.asyncDispose]() {
      await runner.stop()
      await app.close()
    },
  }
}

/**
 * Waits until a condition holds. Each round is a turn of the event loop, since a commit needs its own. Fails after a
 * limit.
 */
async function until(condition: () => Promise<boolean>, meanwhile: () => Promise<unknown> = async () => undefined): Promise<void> {
  for (let looks = 0; looks < 2_000; looks++) {
    if (await condition()) return
    await meanwhile()
    await new Promise((resume) => setImmediate(resume))
  }
  throw new Error('the condition never held')
}

/** Creates work that hangs until `end` is called. */
function createHangingWork() {
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  return { doWork: () => promise, end: () => resolve(okOutcome) }
}

test('operators read the state, last run and next run of every job, without secrets in errors', async () => {
  let nth = 0
  await using one = await openWorker({
    settings: { JOB_SCHEDULES: 'expire-carts=off' },
    names: ['forget', 'fold-listings', 'look-around'],
    async doWork(name) {
      if (name !== 'forget' || nth++ === 0) return okOutcome
      return {
        result: 'FAILED',
        error: new Error(`could not, by sk_live_${'a'.repeat(30)}\nparams: planted@example.com${'x'.repeat(900)}`),
      }
    },
  })
  const { token } = await one.app.superAdmin()
  const read = async () => {
    const { status, body } = await one.app.call('GET', path, { token })
    expect([status, body.chains]).toEqual([200, []])
    return Object.fromEntries(body.data.map((job: { name: string }) => [job.name, job]))
  }
  const before = await read()
  expect(before['forget']).toEqual({
    ...{ name: 'forget', state: 'idle', idleBecause: null, everyProcess: false, schedule: '0 */10 * * * *', lastRun: null, lastRuns: [] },
    ...{ lastSuccessAt: null, runningSince: null, nextRun: '2026-01-06T12:10:00.000Z', requestedAt: null },
    holder: one.app.deps.processName,
  })
  expect([before['expire-carts'].state, before['expire-carts'].schedule, before['expire-carts'].nextRun]).toEqual(['off', null, null])
  expect([before['look-around'].everyProcess, before['look-around'].holder]).toEqual([true, null])
  await one.runner.runScheduled('forget')
  await one.advance(10 * minute)
  await one.runner.runScheduled('forget')
  const { forget, ...others } = await read()
  expect(forget).toMatchObject({
    lastRun: { startedAt: '2026-01-06T12:10:00.000Z', durationMs: 0, result: 'FAILED', error: 'Error: could not, by ***' },
    lastSuccessAt: '2026-01-06T12:00:00.000Z',
    nextRun: '2026-01-06T12:20:00.000Z',
  })
  expect(others['fold-listings'].lastRun).toBeNull()
  const { text } = await one.app.call('GET', '/metrics')
  for (const line of [
    `souk_job_last_success_timestamp_seconds{job_name="forget"} ${startTime / 1000}`,
    'souk_job_runs_total{job_name="forget",result="ok"} 1',
    'souk_job_runs_total{job_name="forget",result="failed"} 1',
    'souk_job_running{job_name="forget"} 0',
    'souk_job_stuck{job_name="forget"} 0',
  ])
    expect(text).toContain(`${line}\n`)
})

test('the last runs of a job are stored, and a few older failed ones', async () => {
  let nth = 0
  await using one = await openWorker({
    async doWork() {
      nth += 1
      return nth % 10 === 1 ? { result: 'FAILED', error: new Error(`run ${nth} ${'x'.repeat(900)}`) } : okOutcome
    },
  })
  const runs = async () => (await listJobs(one.app.deps)).find(({ name }) => name === 'forget')?.lastRuns ?? []
  for (let run = 0; run < 12; run++) {
    await one.runner.runScheduled('forget')
    await one.advance(heartbeatMs)
  }
  const first = await runs()
  expect(first.map(({ result }) => result)).toEqual([...[...'OFOOOOOOOOOF'].map((one) => (one === 'O' ? 'OK' : 'FAILED'))])
  expect(first[0]).toEqual({
    startedAt: '2026-01-06T12:01:50.000Z',
    endedAt: '2026-01-06T12:01:50.000Z',
    durationMs: 0,
    result: 'OK',
    error: null,
  })
  expect(first[11]?.error).toBe(`Error: run 1 ${'x'.repeat(187)}`)
  for (let run = 0; run < 80; run++) {
    await one.runner.runScheduled('forget')
    await one.advance(heartbeatMs)
  }
  const later = await runs()
  expect(later.map(({ error }) => error?.slice(7, 13).trim() ?? null)).toEqual([
    ...[null, 'run 91', ...Array(9).fill(null), 'run 81', ...Array(3).fill(null)],
    ...['run 71', 'run 61', 'run 51', 'run 41', 'run 31'],
  ])
  // The database has the same runs, for other processes.
  await one.runner.stop()
  const row = await one.app.deps.jobStore.find(one.app.deps.db.read, 'forget')
  expect(row?.lastRuns).toHaveLength(20)
})

test.skipIf(engine !== 'postgres')('for a job that every process runs, each process shows the last runs of all processes', async () => {
  const database = await testDatabase()
  const names = ['look-around'] as const
  {
    await using here = await openWorker({ options: { database }, names })
    await using there = await openWorker({ options: { database }, names })
    const runs = async (of: typeof here) => (await of.status('look-around'))?.lastRuns?.map(({ startedAt }) => startedAt - startTime)
    await here.runner.runScheduled('look-around')
    await here.advance(minute)
    there.app.clock.advance(30_000)
    await there.runner.runScheduled('look-around')
    await there.advance(minute)
    await here.runner.runScheduled('look-around')
    await here.advance(minute)
    expect(await runs(here)).toEqual([minute, minute / 2, 0])
    expect(await runs(there)).toEqual([minute, minute / 2, 0])
    expect((await there.status('look-around'))?.startedAt).toBe(startTime + minute)
  }
  await database.drop()
})

test('a job without work by the settings is off with the reason, does not run and cannot be requested', async () => {
  await using one = await openWorker({
    settings: { BACKUP_ENABLED: 'false', JOB_SCHEDULES: 'back-up=* * * * * *' },
    names: ['forget', 'back-up'],
  })
  const { token } = await one.app.superAdmin()
  const { body } = await one.app.call('GET', path, { token })
  const reasons: Record<string, unknown> = Object.fromEntries(
    body.data.flatMap(({ name, state, schedule, nextRun, idleBecause }: Record<string, string>) =>
      idleBecause === null ? [] : [[name, [state, schedule, nextRun, idleBecause]]],
    ),
  )
  const offFor = (reason: string) => ['off', null, null, reason]
  const backups = engine === 'postgres' ? "PostgreSQL is backed up by PostgreSQL's own tools" : 'BACKUP_ENABLED is false'
  expect(reasons).toEqual({
    'back-up': offFor(backups),
    'watch-backups': offFor(backups),
    ...(engine === 'postgres' ? { 'quick-check': offFor('PostgreSQL looks after its pages itself') } : {}),
    'fetch-rates': offFor('FX_RATES_URL is not set'),
    'mail-abandoned-carts': offFor('SMTP_URL is not set'),
    'send-mails': offFor('SMTP_URL is not set'),
    'sync-attestations': offFor('CHAINS is not set'),
    'rescan-chains': offFor('CHAINS is not set'),
    'record-attested-repayments': offFor('LENDING_REPAYMENTS_FROM_ATTESTATIONS is not set'),
  })
  const response = await one.app.call('POST', `${path}/back-up/run`, { token })
  expect([response.status, response.body.message]).toEqual([409, `The job is idle: ${backups}`])
  expect(one.ran).toEqual([])
})

test('an operator requests a run once per key, also of a job that is off; a running job is 409, an unknown one 404', async () => {
  const hung = createHangingWork()
  let hangs = false
  await using one = await openWorker({
    settings: { JOB_SCHEDULES: 'forget=off' },
    doWork: () => (hangs ? hung.doWork() : Promise.resolve(okOutcome)),
  })
  const { token } = await one.app.superAdmin()
  const ask = (name = 'forget', key?: string) =>
    one.app.call('POST', `${path}/${name}/run`, { token, headers: key === undefined ? {} : { 'idempotency-key': key } })
  const first = await ask('forget', 'k')
  expect([first.status, first.body]).toEqual([202, { name: 'forget', requestedAt: '2026-01-06T12:00:00.000Z' }])
  await until(async () => (await one.status())?.result === 'OK')
  const again = await ask('forget', 'k')
  expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([202, first.text, 'true'])
  expect([one.ran.length, (await one.status())?.result]).toEqual([1, 'OK'])
  hangs = true
  expect((await ask()).status).toBe(202)
  await until(async () => (await one.status())?.state === 'running')
  const refused = await ask()
  expect([refused.status, refused.body.message]).toEqual([409, 'The job is already running'])
  hung.end()
  for (const name of ['nothing', 'toString', 'FORGET']) expect([name, (await ask(name)).status]).toEqual([name, 404])
})

test('progress survives the process, which stores it at the stop; an unfinished run is lost', async () => {
  const database = await testDatabase()
  const options = { database }
  {
    await using one = await openWorker({ options })
    await one.runner.runScheduled('forget')
  }
  const hung = createHangingWork()
  const second = await openWorker({ options, doWork: hung.doWork })
  expect(await second.status()).toMatchObject({ result: 'OK', startedAt: startTime, succeededAt: startTime })
  void second.runner.runScheduled('forget')
  await second.advance(2 * minute)
  await second.app.abandon()
  {
    await using third = await openWorker({ options: { ...options, startAt: startTime + 3 * minute } })
    if (engine === 'postgres') await third.advance(minute)
    expect(await third.status()).toMatchObject({ state: 'idle', result: 'LOST', startedAt: startTime, succeededAt: startTime })
    expect(third.app.logged.map(({ event }) => event)).toContain('job.lost')
  }
  hung.end()
  await database.drop()
})

test('a requested run is reported as lost if its process ends at once, also to live clients', async () => {
  const database = await testDatabase()
  const hung = createHangingWork()
  const first = await openWorker({ options: { database }, doWork: hung.doWork })
  const { token } = await first.app.superAdmin()
  expect((await first.app.call('POST', `${path}/forget/run`, { token })).status).toBe(202)
  await until(async () => (await first.status())?.state === 'running')
  await first.app.abandon()
  {
    await using next = await openWorker({ options: { database, startAt: startTime + minute } })
    if (engine === 'postgres') await next.advance(minute)
    expect(await next.status()).toMatchObject({ state: 'idle', result: 'LOST', requestedAt: null })
    await next.app.deps.liveNotes.idle()
    const events = await next.app.deps.db.read.select().from(liveEvents).where(eq(liveEvents.name, 'job.finished'))
    expect(events.map(({ data }) => data)).toEqual([{ job: 'forget', result: 'LOST', durationMs: null }])
  }
  hung.end()
  await database.drop()
})

test('a missed run is caught up at the start if the next one is far away, but not after the clock stepped back', async () => {
  const database = await testDatabase()
  const missedRunsAt = async (startAt: number): Promise<string[]> => {
    await using one = await openWorker({ options: { database, startAt }, names: ['forget', 'fold-listings', 'approve-commissions'] })
    const { ran } = one
    const early = [...ran]
    for (const name of ['forget', 'fold-listings', 'approve-commissions'] as const) await one.runner.runScheduled(name)
    return early
  }
  // An instance that never ran before has missed no runs.
  expect(await missedRunsAt(startTime)).toEqual([])
  expect(await missedRunsAt(startTime + 4 * minute)).toEqual([])
  // `forget` runs every ten minutes, and `approve-commissions` at five past the hour. `fold-listings` needs no
  // catch-up, because it runs within a minute.
  expect((await missedRunsAt(startTime + 12 * minute)).sort()).toEqual(['approve-commissions', 'forget'])
  expect(await missedRunsAt(startTime - day)).toEqual([])
  await database.drop()
})

test('a job of every second costs one commit a minute, and one when its result changes', async () => {
  let fails = false
  await using one = await openWorker({
    names: ['deliver-webhooks', 'look-around', 'resume-orders'],
    doWork: async () => (fails ? { result: 'FAILED', error: new Error('no') } : okOutcome),
  })
  const { stats } = one.app.deps.db
  const runEverySecond = async (seconds: number) => {
    const { commits } = stats
    for (let second = 1; second <= seconds; second++) {
      one.app.clock.advance(1_000)
      for (const name of ['deliver-webhooks', 'look-around', 'resume-orders'] as const) await one.runner.runScheduled(name)
      // With PostgreSQL, the heartbeat itself is a commit every ten seconds.
      if (engine === 'sqlite' && second % 10 === 0) await one.runner.heartbeat()
    }
    return stats.commits - commits
  }
  // The first result of each job is stored at once.
  expect(await runEverySecond(1)).toBe(3)
  await runEverySecond(59)
  if (engine === 'sqlite') expect(await runEverySecond(180)).toBe(3)
  await one.runner.heartbeat()
  fails = true
  const commits = await runEverySecond(5)
  expect(commits).toBeGreaterThanOrEqual(3)
  // Each changed result also sends an event to live clients, in a separate write.
  expect(commits).toBeLessThanOrEqual(6)
})

test('a stuck job is noticed, not started again, and fine once it has ended', async () => {
  const hung = createHangingWork()
  let hangs = true
  await using one = await openWorker({ names: ['fold-listings'], doWork: () => (hangs ? hung.doWork() : Promise.resolve(okOutcome)) })
  const stuckEvents = () => one.app.logged.filter(({ event }) => event === 'job.stuck').length
  void one.runner.runScheduled('fold-listings')
  await one.advance(5 * minute - heartbeatMs)
  expect([(await one.status('fold-listings'))?.state, stuckEvents()]).toEqual(['running', 0])
  await one.advance(2 * heartbeatMs)
  expect([(await one.status('fold-listings'))?.state, stuckEvents()]).toEqual(['stuck', 1])
  expect((await one.app.call('GET', '/metrics')).text).toContain('souk_job_stuck{job_name="fold-listings"} 1\n')
  await one.runner.runScheduled('fold-listings')
  await one.advance(minute)
  expect([one.ran.length, stuckEvents()]).toEqual([1, 1])
  hangs = false
  const endedEvents = () => one.app.logged.filter(({ event }) => event === 'job.ended_after_all')
  expect(endedEvents()).toEqual([])
  hung.end()
  await until(
    async () => (await one.status('fold-listings'))?.state === 'idle',
    () => one.advance(heartbeatMs),
  )
  expect(endedEvents()).toMatchObject([{ level: 'warn', fields: { job: 'fold-listings' } }])
  expect(endedEvents()[0]?.fields['afterMs']).toBeGreaterThanOrEqual(6 * minute)
  await one.runner.runScheduled('fold-listings')
  expect([one.ran.length, (await one.status('fold-listings'))?.result]).toEqual([2, 'OK'])
})

test('an unreachable database is logged as jobs.database_away once, and its return as jobs.database_back', async () => {
  const app = await testApp()
  const { jobStore, jobRunner } = app.deps
  const { all } = jobStore
  const eventsOf = () => app.logged.map(({ event }) => event).filter((event) => event.startsWith('jobs.'))
  jobStore.all = async () => {
    throw new Error('no connection')
  }
  await jobRunner.start([{ name: 'forget', perform: async () => okOutcome }])
  await jobRunner.heartbeat()
  expect(eventsOf()).toEqual(['jobs.database_away'])
  jobStore.all = all
  await jobRunner.heartbeat()
  await jobRunner.heartbeat()
  expect(eventsOf()).toEqual(['jobs.database_away', 'jobs.database_back'])
  await jobRunner.stop()
  await app.close()
})

test('a result or request that cannot be stored is logged, and stored later', async () => {
  await using one = await openWorker()
  const { jobStore, db } = one.app.deps
  const { saveProgress, takeRequest } = jobStore
  const eventsOf = () => one.app.logged.filter(({ event }) => event.startsWith('jobs.'))
  const fail = async () => {
    throw new Error('no connection')
  }
  jobStore.saveProgress = fail
  await one.runner.runScheduled('forget')
  // One event for its start and one for its end.
  expect(eventsOf()).toMatchObject(Array(2).fill({ level: 'warn', event: 'jobs.not_kept', fields: { jobs: ['forget'] } }))
  jobStore.saveProgress = saveProgress
  await one.advance(minute)
  expect((await jobStore.find(db.read, 'forget'))?.lastRuns).toHaveLength(1)
  jobStore.takeRequest = fail
  const { token } = await one.app.superAdmin()
  expect((await one.app.call('POST', `${path}/forget/run`, { token })).status).toBe(202)
  await until(
    async () => eventsOf().length > 2,
    () => Bun.sleep(1),
  )
  expect(eventsOf()[2]).toMatchObject({ level: 'warn', event: 'jobs.request_not_taken', fields: { job: 'forget' } })
  jobStore.takeRequest = takeRequest
  expect(one.ran).toHaveLength(1)
})

test('a clock change does not affect jobs: a stuck one is noticed by elapsed time', async () => {
  const hung = createHangingWork()
  await using one = await openWorker({ names: ['fold-listings'], doWork: hung.doWork })
  void one.runner.runScheduled('fold-listings')
  for (const to of [startTime + day, startTime - day]) {
    one.app.clock.set(to)
    await one.advance(minute)
    expect((await one.status('fold-listings'))?.state).toBe('running')
  }
  await one.advance(4 * minute)
  expect((await one.status('fold-listings'))?.state).toBe('stuck')
  hung.end()
})

/** Opens two processes on one database. The first starts first. */
async function openTwo(firstOptions: Parameters<typeof openWorker>[0] = {}, name: JobName = 'forget') {
  const database = await testDatabase()
  const first = await openWorker({ ...firstOptions, names: [name], options: { database } })
  // The machines' clocks are a day apart.
  const second = await openWorker({ names: [name], options: { database, startAt: startTime + day } })
  return {
    first,
    second,
    runScheduled: async () => void (await Promise.all([first.runner.runScheduled('forget'), second.runner.runScheduled('forget')])),
    /** Advances the clock of both processes, or of the second only. */
    async advance(ms: number, which: 'both' | 'second' = 'both') {
      for (let passed = 0; passed < ms; passed += heartbeatMs) {
        if (which === 'both') await first.advance(heartbeatMs)
        await second.advance(heartbeatMs)
      }
    },
    counts: () => [first.ran.length, second.ran.length],
    async [Symbol.asyncDispose]() {
      await Promise.all([first.runner.stop(), second.runner.stop()])
      await Promise.all([first.app.close(), second.app.close()])
      await database.drop()
    },
  }
}

describe.skipIf(engine === 'sqlite')('several processes on one database', () => {
  test('one process runs a job despite different clocks, and another takes over at once when it stops', async () => {
    await using both = await openTwo()
    const { first, second } = both
    for (let nth = 1; nth <= 3; nth++) {
      await both.runScheduled()
      await both.advance(heartbeatMs)
    }
    expect(both.counts()).toEqual([3, 0])
    expect([(await second.status())?.holder, (await second.status())?.result]).toEqual([first.app.deps.processName, 'OK'])
    await first.runner.stop()
    await both.advance(heartbeatMs, 'second')
    // Its clock is a day ahead, so it catches up on missed runs.
    await until(async () => (await second.status())?.state === 'idle')
    const caughtUp = second.ran.length
    await both.runScheduled()
    expect(both.counts()).toEqual([3, caughtUp + 1])
    expect((await second.status())?.holder).toBe(second.app.deps.processName)
  })

  test('a dead process is replaced once its lease has expired, and missed runs are caught up', async () => {
    await using both = await openTwo()
    const { first, second } = both
    await both.runScheduled()
    await both.advance(heartbeatMs)
    // The first process stops its heartbeats.
    first.app.clock.advance(day)
    await both.advance(20_000, 'second')
    await both.runScheduled()
    expect(both.counts()).toEqual([1, 0])
    await both.advance(20_000, 'second')
    await both.runScheduled()
    // At the take-over, the second process catches up on missed runs, because its clock is a day ahead.
    expect([both.counts()[0], (second.ran.length ?? 0) >= 1]).toEqual([1, true])
    // It returns and learns that its leases are gone.
    await first.runner.heartbeat()
    await first.runner.runScheduled('forget')
    expect(first.ran.length).toBe(1)
    expect(first.app.logged.map(({ event }) => event)).toContain('jobs.taken_over')
  })

  test('two processes never take over a job at once', async () => {
    const database = await testDatabase()
    const first = await openWorker({ options: { database } })
    const others = await Promise.all([1, 2, 3].map(() => openWorker({ options: { database } })))
    await first.app.abandon()
    // All advance equally: a process takes over once its clock has passed the lease.
    for (let passed = 0; passed < minute; passed += heartbeatMs) await Promise.all(others.map((other) => other.advance(heartbeatMs)))
    await Promise.all(others.map(({ runner }) => runner.runScheduled('forget')))
    expect(others.reduce((sum, { ran }) => sum + ran.length, 0)).toBe(1)
    for (const { runner, app } of others) {
      await runner.stop()
      await app.close()
    }
    await database.drop()
  })

  test('a requested run is run by the holder of the job, whichever process got the request', async () => {
    await using both = await openTwo()
    const { first, second } = both
    const { token } = await second.app.superAdmin()
    expect((await second.app.call('POST', `${path}/forget/run`, { token })).status).toBe(202)
    expect(both.counts()).toEqual([0, 0])
    await both.advance(2 * heartbeatMs)
    await until(async () => first.ran.length > 0)
    expect(both.counts()).toEqual([1, 0])
  })

  test('another process takes over a stuck job', async () => {
    const hung = createHangingWork()
    await using both = await openTwo({ doWork: hung.doWork }, 'fold-listings')
    const { first, second } = both
    void first.runner.runScheduled('fold-listings')
    await both.advance(2 * minute)
    // The status is at most a minute old. By the second clock, a day ahead, the run would be stuck.
    expect((await second.status('fold-listings'))?.runningSince).toBe(startTime)
    await both.advance(4 * minute)
    expect(first.app.logged.map(({ event }) => event)).toContain('job.stuck')
    await second.runner.runScheduled('fold-listings')
    expect(second.ran.length).toBe(1)
    hung.end()
  })
})
