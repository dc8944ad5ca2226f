/** Tests the schedules of jobs by croner and the machine's clock, also when the clock is set. */
import { afterEach, expect, setDefaultTimeout, setSystemTime, test } from 'bun:test'
import { Cron } from 'croner'
import { jobs, startJobs } from '../../jobs/index.ts'
import { openSchedule } from '../../src/core/schedule.ts'
import { isPattern } from '../../src/lib/cron-pattern.ts'
import { jobNames, jobTable } from '../../src/lib/job-table.ts'
import { testApp } from '../support/app.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

afterEach(() => void setSystemTime())

test('every job has a function and a pattern with a next time', async () => {
  expect(jobs.map(({ name }) => name)).toEqual(jobNames)
  for (const [name, { pattern }] of Object.entries(jobTable)) {
    const schedule = await openSchedule(pattern)
    expect([name, isPattern(pattern), (schedule.next(0) ?? 0) > 0, (schedule.last(0) ?? 0) < 0]).toEqual([name, true, true, true])
  }
})

test('a pattern without a next time is invalid, and any that croner can schedule is valid', async () => {
  const patterns = ['30 2', '29 2', '31 2,4', '31 2-3', '30-31 */2', '31 4,6,9,11', '*/31 2', '5,31 2', '31 2/1', '1 13'].map(
    (days) => `0 0 0 ${days} *`,
  )
  for (const pattern of [...patterns, '0 0 0 31 2 1'])
    expect([pattern, isPattern(pattern)]).toEqual([pattern, (await openSchedule(pattern).catch(() => undefined))?.next(0) !== undefined])
})

test('a clock that is set by hours neither stops a job that runs every second nor makes it catch up', async () => {
  // setSystemTime stops the clock, so the test advances it.
  const began = Date.now() - performance.now()
  let aheadMs = 0
  const ticking = setInterval(() => setSystemTime(new Date(began + performance.now() + aheadMs)), 10)
  let runs = 0
  let next = Promise.withResolvers<void>()
  const cron = new Cron('* * * * * *', { utcOffset: 0 }, () => {
    runs++
    next.resolve()
  })
  const nextRun = () => {
    next = Promise.withResolvers()
    return next.promise
  }
  await nextRun()
  for (const hours of [-5, 7]) {
    aheadMs = hours * 3_600_000
    const before = runs
    await nextRun()
    const since = performance.now()
    for (let more = 0; more < 3; more++) await nextRun()
    // Three more runs take at least two seconds, even if the first one was late.
    expect([hours, runs - before, performance.now() - since > 1_000]).toEqual([hours, 4, true])
  }
  cron.stop()
  clearInterval(ticking)
})

test('the start logs the jobs that JOB_SCHEDULES turns off as jobs.off', async () => {
  const offAt = async (settings: Record<string, string>) => {
    await using app = await testApp(settings)
    await startJobs(app.deps).stop()
    return app.logged.filter(({ event }) => event === 'jobs.off')
  }
  expect(await offAt({})).toEqual([])
  const schedules = 'forget=off; recheck-hosts=off; fold-listings=0 0 3 * * *'
  const [logged, ...more] = await offAt({ JOB_SCHEDULES: schedules })
  expect([logged?.level, new Set(logged?.fields['jobs'] as string[]), more]).toEqual(['warn', new Set(['forget', 'recheck-hosts']), []])
})
