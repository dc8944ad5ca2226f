/** Jobs: run once, last run kept, run when asked for, and seen when they hang. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { engine } from '../../../../db/columns.ts'
import { liveEvents } from '../../../../db/schema/live.ts'
import type { JobName } from '../../../../src/lib/job-table.ts'
import { listJobs } from '../../../../src/modules/operations/job/index.ts'
import { startOfTime, type TestApp, type TestAppOptions, testApp } from '../../../support/app.ts'
import { testDatabase } from '../../../support/database.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const path = '/admin/operations/jobs'
const minute = 60_000
const heartbeatMs = 10_000
const day = 24 * 60 * minute
type Outcome = Awaited<ReturnType<Parameters<TestApp['deps']['jobRunner']['start']>[0][number]['perform']>>
const fine = { result: 'OK' } as const

/** A process that has the job `forget` (every ten minutes) and, if told so, others; what they do is the test's. */
async function worker(
  given: {
    settings?: Record<string, string>
    options?: TestAppOptions
    names?: readonly JobName[]
    does?: (name: JobName) => Promise<Outcome>
  } = {},
) {
  const app = await testApp(given.settings, given.options)
  const ran: string[] = []
  const board = app.deps.jobRunner
  const start = () =>
    board.start(
      (given.names ?? ['forget']).map((name) => ({
        name,
        async perform() {
          ran.push(name)
          return (await given.does?.(name)) ?? fine
        },
      })),
    )
  await start()
  return {
    app,
    board,
    ran,
    /** Time passes, with a heartbeat every ten seconds. */
    async passes(ms: number) {
      for (let passed = 0; passed < ms; passed += heartbeatMs) {
        app.clock.advance(Math.min(heartbeatMs, ms - passed))
        await board.heartbeat()
      }
    },
    status: async (name: JobName = 'forget') => (await board.statuses()).find((one) => one.name === name),
    async [Symbol.asyncDispose]() {
      await board.stop()
      await app.close()
    },
  }
}

/** Waits for what goes on beside: a commit has its own turn of the loop. Bounded, so that what never comes is a failure. */
async function until(holds: () => Promise<boolean>, meanwhile: () => Promise<unknown> = async () => undefined): Promise<void> {
  for (let looks = 0; looks < 2_000; looks++) {
    if (await holds()) return
    await meanwhile()
    await new Promise((resume) => setImmediate(resume))
  }
  throw new Error('it never came')
}

/** Something that hangs until it is let go. */
function hanging() {
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  return { does: () => promise, end: () => resolve(fine) }
}

test('operators read the state, last run and next run of every job, without secrets in errors', async () => {
  let nth = 0
  await using one = await worker({
    settings: { JOB_SCHEDULES: 'expire-carts=off' },
    names: ['forget', 'fold-listings', 'look-around'],
    async does(name) {
      if (name !== 'forget' || nth++ === 0) return fine
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
  await one.board.runScheduled('forget')
  await one.passes(10 * minute)
  await one.board.runScheduled('forget')
  const { forget, ...others } = await read()
  expect(forget).toMatchObject({
    lastRun: { startedAt: '2026-01-06T12:10:00.000Z', durationMs: 0, result: 'FAILED', error: 'Error: could not, by ***' },
    lastSuccessAt: '2026-01-06T12:00:00.000Z',
    nextRun: '2026-01-06T12:20:00.000Z',
  })
  expect(others['fold-listings'].lastRun).toBeNull()
  const { text } = await one.app.call('GET', '/metrics')
  for (const line of [
    `souk_job_last_success_timestamp_seconds{job_name="forget"} ${startOfTime / 1000}`,
    'souk_job_runs_total{job_name="forget",result="ok"} 1',
    'souk_job_runs_total{job_name="forget",result="failed"} 1',
    'souk_job_running{job_name="forget"} 0',
    'souk_job_stuck{job_name="forget"} 0',
  ])
    expect(text).toContain(`${line}\n`)
})

test('the last runs of a job are stored, and a few older failed ones', async () => {
  let nth = 0
  await using one = await worker({
    async does() {
      nth += 1
      return nth % 10 === 1 ? { result: 'FAILED', error: new Error(`run ${nth} ${'x'.repeat(900)}`) } : fine
    },
  })
  const runs = async () => (await listJobs(one.app.deps)).find(({ name }) => name === 'forget')?.lastRuns ?? []
  for (let run = 0; run < 12; run++) {
    await one.board.runScheduled('forget')
    await one.passes(heartbeatMs)
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
    await one.board.runScheduled('forget')
    await one.passes(heartbeatMs)
  }
  const later = await runs()
  expect(later.map(({ error }) => error?.slice(7, 13).trim() ?? null)).toEqual([
    ...[null, 'run 91', ...Array(9).fill(null), 'run 81', ...Array(3).fill(null)],
    ...['run 71', 'run 61', 'run 51', 'run 41', 'run 31'],
  ])
  // What is in the database is the same, for another process.
  await one.board.stop()
  const row = await one.app.deps.jobStore.find(one.app.deps.db.read, 'forget')
  expect(row?.lastRuns).toHaveLength(20)
})

test.skipIf(engine !== 'postgres')(
  'of a job that each process runs the last runs are those of all of them, whichever is asked',
  async () => {
    const database = await testDatabase()
    const names = ['look-around'] as const
    {
      await using here = await worker({ options: { database }, names })
      await using there = await worker({ options: { database }, names })
      const runs = async (of: typeof here) => (await of.status('look-around'))?.lastRuns?.map(({ startedAt }) => startedAt - startOfTime)
      await here.board.runScheduled('look-around')
      await here.passes(minute)
      there.app.clock.advance(30_000)
      await there.board.runScheduled('look-around')
      await there.passes(minute)
      await here.board.runScheduled('look-around')
      await here.passes(minute)
      expect(await runs(here)).toEqual([minute, minute / 2, 0])
      expect(await runs(there)).toEqual([minute, minute / 2, 0])
      expect((await there.status('look-around'))?.startedAt).toBe(startOfTime + minute)
    }
    await database.drop()
  },
)

test('a job without work by the settings is off with the reason, does not run and cannot be requested', async () => {
  await using one = await worker({
    settings: { BACKUP_ENABLED: 'false', JOB_SCHEDULES: 'back-up=* * * * * *' },
    names: ['forget', 'back-up'],
  })
  const { token } = await one.app.superAdmin()
  const { body } = await one.app.call('GET', path, { token })
  const why: Record<string, unknown> = Object.fromEntries(
    body.data.flatMap(({ name, state, schedule, nextRun, idleBecause }: Record<string, string>) =>
      idleBecause === null ? [] : [[name, [state, schedule, nextRun, idleBecause]]],
    ),
  )
  const because = (reason: string) => ['off', null, null, reason]
  const backups = engine === 'postgres' ? "PostgreSQL is backed up by PostgreSQL's own tools" : 'BACKUP_ENABLED is false'
  expect(why).toEqual({
    'back-up': because(backups),
    'watch-backups': because(backups),
    ...(engine === 'postgres' ? { 'quick-check': because('PostgreSQL looks after its pages itself') } : {}),
    'fetch-rates': because('FX_RATES_URL is not set'),
    'mail-abandoned-carts': because('SMTP_URL is not set'),
    'send-mails': because('SMTP_URL is not set'),
    'sync-attestations': because('CHAINS is not set'),
    'rescan-chains': because('CHAINS is not set'),
    'record-attested-repayments': because('LENDING_REPAYMENTS_FROM_ATTESTATIONS is not set'),
  })
  const asked = await one.app.call('POST', `${path}/back-up/run`, { token })
  expect([asked.status, asked.body.message]).toEqual([409, `The job is idle: ${backups}`])
  expect(one.ran).toEqual([])
})

test('an operator requests a run once per key, also of a job that is off; a running job is 409, an unknown one 404', async () => {
  const hung = hanging()
  let hangs = false
  await using one = await worker({
    settings: { JOB_SCHEDULES: 'forget=off' },
    does: () => (hangs ? hung.does() : Promise.resolve(fine)),
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
    await using one = await worker({ options })
    await one.board.runScheduled('forget')
  }
  const hung = hanging()
  const second = await worker({ options, does: hung.does })
  expect(await second.status()).toMatchObject({ result: 'OK', startedAt: startOfTime, succeededAt: startOfTime })
  void second.board.runScheduled('forget')
  await second.passes(2 * minute)
  await second.app.abandon()
  {
    await using third = await worker({ options: { ...options, startAt: startOfTime + 3 * minute } })
    if (engine === 'postgres') await third.passes(minute)
    expect(await third.status()).toMatchObject({ state: 'idle', result: 'LOST', startedAt: startOfTime, succeededAt: startOfTime })
    expect(third.app.logged.map(({ event }) => event)).toContain('job.lost')
  }
  hung.end()
  await database.drop()
})

test('a requested run is reported as lost if its process ends at once, also to live clients', async () => {
  const database = await testDatabase()
  const hung = hanging()
  const first = await worker({ options: { database }, does: hung.does })
  const { token } = await first.app.superAdmin()
  expect((await first.app.call('POST', `${path}/forget/run`, { token })).status).toBe(202)
  await until(async () => (await first.status())?.state === 'running')
  await first.app.abandon()
  {
    await using next = await worker({ options: { database, startAt: startOfTime + minute } })
    if (engine === 'postgres') await next.passes(minute)
    expect(await next.status()).toMatchObject({ state: 'idle', result: 'LOST', requestedAt: null })
    await next.app.deps.liveNotes.idle()
    const told = await next.app.deps.db.read.select().from(liveEvents).where(eq(liveEvents.name, 'job.finished'))
    expect(told.map(({ data }) => data)).toEqual([{ job: 'forget', result: 'LOST', durationMs: null }])
  }
  hung.end()
  await database.drop()
})

test('a missed run is caught up at the start if the next is far away, but not after the clock stepped back', async () => {
  const database = await testDatabase()
  const ranFrom = async (startAt: number): Promise<string[]> => {
    await using one = await worker({ options: { database, startAt }, names: ['forget', 'fold-listings', 'approve-commissions'] })
    const { ran } = one
    const early = [...ran]
    for (const name of ['forget', 'fold-listings', 'approve-commissions'] as const) await one.board.runScheduled(name)
    return early
  }
  // The first start ever makes up for nothing.
  expect(await ranFrom(startOfTime)).toEqual([])
  expect(await ranFrom(startOfTime + 4 * minute)).toEqual([])
  // Every ten minutes, and at five past the hour; listings are folded within the minute anyway.
  expect((await ranFrom(startOfTime + 12 * minute)).sort()).toEqual(['approve-commissions', 'forget'])
  expect(await ranFrom(startOfTime - day)).toEqual([])
  await database.drop()
})

test('a job of every second costs one commit a minute, and one when its result changes', async () => {
  let fails = false
  await using one = await worker({
    names: ['deliver-webhooks', 'look-around', 'resume-orders'],
    does: async () => (fails ? { result: 'FAILED', error: new Error('no') } : fine),
  })
  const { stats } = one.app.deps.db
  const everySecond = async (seconds: number) => {
    const { commits } = stats
    for (let second = 1; second <= seconds; second++) {
      one.app.clock.advance(1_000)
      for (const name of ['deliver-webhooks', 'look-around', 'resume-orders'] as const) await one.board.runScheduled(name)
      // Where several share a database, they say each ten seconds that they live.
      if (engine === 'sqlite' && second % 10 === 0) await one.board.heartbeat()
    }
    return stats.commits - commits
  }
  // The first result of each is news.
  expect(await everySecond(1)).toBe(3)
  await everySecond(59)
  if (engine === 'sqlite') expect(await everySecond(180)).toBe(3)
  await one.board.heartbeat()
  fails = true
  const commits = await everySecond(5)
  expect(commits).toBeGreaterThanOrEqual(3)
  // Live clients get an event for each, in a separate write.
  expect(commits).toBeLessThanOrEqual(6)
})

test('a stuck job is noticed, not started again, and fine once it has ended', async () => {
  const hung = hanging()
  let hangs = true
  await using one = await worker({ names: ['fold-listings'], does: () => (hangs ? hung.does() : Promise.resolve(fine)) })
  const seen = () => one.app.logged.filter(({ event }) => event === 'job.stuck').length
  void one.board.runScheduled('fold-listings')
  await one.passes(5 * minute - heartbeatMs)
  expect([(await one.status('fold-listings'))?.state, seen()]).toEqual(['running', 0])
  await one.passes(2 * heartbeatMs)
  expect([(await one.status('fold-listings'))?.state, seen()]).toEqual(['stuck', 1])
  expect((await one.app.call('GET', '/metrics')).text).toContain('souk_job_stuck{job_name="fold-listings"} 1\n')
  await one.board.runScheduled('fold-listings')
  await one.passes(minute)
  expect([one.ran.length, seen()]).toEqual([1, 1])
  hangs = false
  const ended = () => one.app.logged.filter(({ event }) => event === 'job.ended_after_all')
  expect(ended()).toEqual([])
  hung.end()
  await until(
    async () => (await one.status('fold-listings'))?.state === 'idle',
    () => one.passes(heartbeatMs),
  )
  expect(ended()).toMatchObject([{ level: 'warn', fields: { job: 'fold-listings' } }])
  expect(ended()[0]?.fields['afterMs']).toBeGreaterThanOrEqual(6 * minute)
  await one.board.runScheduled('fold-listings')
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
  await jobRunner.start([{ name: 'forget', perform: async () => fine }])
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
  await using one = await worker()
  const { jobStore, db } = one.app.deps
  const { saveProgress, takeRequest } = jobStore
  const eventsOf = () => one.app.logged.filter(({ event }) => event.startsWith('jobs.'))
  const fail = async () => {
    throw new Error('no connection')
  }
  jobStore.saveProgress = fail
  await one.board.runScheduled('forget')
  // Its start, and its end.
  expect(eventsOf()).toMatchObject(Array(2).fill({ level: 'warn', event: 'jobs.not_kept', fields: { jobs: ['forget'] } }))
  jobStore.saveProgress = saveProgress
  await one.passes(minute)
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
  const hung = hanging()
  await using one = await worker({ names: ['fold-listings'], does: hung.does })
  void one.board.runScheduled('fold-listings')
  for (const to of [startOfTime + day, startOfTime - day]) {
    one.app.clock.set(to)
    await one.passes(minute)
    expect((await one.status('fold-listings'))?.state).toBe('running')
  }
  await one.passes(4 * minute)
  expect((await one.status('fold-listings'))?.state).toBe('stuck')
  hung.end()
})

/** Two processes on one database, of which the first has begun first. */
async function two(does: Parameters<typeof worker>[0] = {}, name: JobName = 'forget') {
  const database = await testDatabase()
  const first = await worker({ ...does, names: [name], options: { database } })
  // The machines' clocks are a day apart.
  const second = await worker({ names: [name], options: { database, startAt: startOfTime + day } })
  return {
    first,
    second,
    runScheduled: async () => void (await Promise.all([first.board.runScheduled('forget'), second.board.runScheduled('forget')])),
    /** Time passes for both, or for the second alone. */
    async passes(ms: number, which: 'both' | 'second' = 'both') {
      for (let passed = 0; passed < ms; passed += heartbeatMs) {
        if (which === 'both') await first.passes(heartbeatMs)
        await second.passes(heartbeatMs)
      }
    },
    counts: () => [first.ran.length, second.ran.length],
    async [Symbol.asyncDispose]() {
      await Promise.all([first.board.stop(), second.board.stop()])
      await Promise.all([first.app.close(), second.app.close()])
      await database.drop()
    },
  }
}

describe.skipIf(engine === 'sqlite')('of several processes on one database', () => {
  test('one process runs a job despite different clocks, and another takes over at once when it stops', async () => {
    await using both = await two()
    const { first, second } = both
    for (let nth = 1; nth <= 3; nth++) {
      await both.runScheduled()
      await both.passes(heartbeatMs)
    }
    expect(both.counts()).toEqual([3, 0])
    expect([(await second.status())?.holder, (await second.status())?.result]).toEqual([first.app.deps.processName, 'OK'])
    await first.board.stop()
    await both.passes(heartbeatMs, 'second')
    // By its clock, which is a day ahead, there were runs to make up for.
    await until(async () => (await second.status())?.state === 'idle')
    const made = second.ran.length
    await both.runScheduled()
    expect(both.counts()).toEqual([3, made + 1])
    expect((await second.status())?.holder).toBe(second.app.deps.processName)
  })

  test('a dead process is replaced once its lease has expired, and missed runs are caught up', async () => {
    await using both = await two()
    const { first, second } = both
    await both.runScheduled()
    await both.passes(heartbeatMs)
    // The first process stops its heartbeats.
    first.app.clock.advance(day)
    await both.passes(20_000, 'second')
    await both.runScheduled()
    expect(both.counts()).toEqual([1, 0])
    await both.passes(20_000, 'second')
    await both.runScheduled()
    // The run of the take-over makes up for those of the day by which the second is ahead.
    expect([both.counts()[0], (second.ran.length ?? 0) >= 1]).toEqual([1, true])
    // It returns and learns that its leases are gone.
    await first.board.heartbeat()
    await first.board.runScheduled('forget')
    expect(first.ran.length).toBe(1)
    expect(first.app.logged.map(({ event }) => event)).toContain('jobs.taken_over')
  })

  test('two processes never take over a job at once', async () => {
    const database = await testDatabase()
    const first = await worker({ options: { database } })
    const others = await Promise.all([1, 2, 3].map(() => worker({ options: { database } })))
    await first.app.abandon()
    // In step: whose clock has passed another's by a lease has seen it die.
    for (let passed = 0; passed < minute; passed += heartbeatMs) await Promise.all(others.map((other) => other.passes(heartbeatMs)))
    await Promise.all(others.map(({ board }) => board.runScheduled('forget')))
    expect(others.reduce((sum, { ran }) => sum + ran.length, 0)).toBe(1)
    for (const { board, app } of others) {
      await board.stop()
      await app.close()
    }
    await database.drop()
  })

  test('a requested run is run by the holder of the job, whichever process got the request', async () => {
    await using both = await two()
    const { first, second } = both
    const { token } = await second.app.superAdmin()
    expect((await second.app.call('POST', `${path}/forget/run`, { token })).status).toBe(202)
    expect(both.counts()).toEqual([0, 0])
    await both.passes(2 * heartbeatMs)
    await until(async () => first.ran.length > 0)
    expect(both.counts()).toEqual([1, 0])
  })

  test('another process takes over a stuck job', async () => {
    const hung = hanging()
    await using both = await two({ does: hung.does }, 'fold-listings')
    const { first, second } = both
    void first.board.runScheduled('fold-listings')
    await both.passes(2 * minute)
    // A minute old at most; by its clock, which is a day ahead, the run would be stuck.
    expect((await second.status('fold-listings'))?.runningSince).toBe(startOfTime)
    await both.passes(4 * minute)
    expect(first.app.logged.map(({ event }) => event)).toContain('job.stuck')
    await second.board.runScheduled('fold-listings')
    expect(second.ran.length).toBe(1)
    hung.end()
  })
})
