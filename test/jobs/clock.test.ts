/** Tests the jobs that expire or delete data by age, when the clock jumps. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { jobs, runJob } from '../../jobs/index.ts'
import { startTime, testApp } from '../support/app.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const dayMs = 24 * 60 * 60_000
const quarterMs = 15 * 60_000

const findJob = (name: string) => {
  const job = jobs.find((one) => one.name === name)
  if (!job) throw new Error(`there is no job ${name}`)
  return job
}

test('after a clock jump of a month no cart and no session expires until the clock is steady again', async () => {
  await using app = await testApp()
  const { publishableKey, token } = await app.merchant()
  const { body: cart } = await app.call('POST', '/cart', { key: publishableKey, body: {} })
  const statusOf = async () => (await app.call('GET', `/cart/${cart.id}`, { key: publishableKey })).body.status
  const runJobsByAge = async () => {
    for (const job of jobs.filter(({ byAge }) => byAge)) await runJob(job, app.deps)
  }
  app.clock.set(startTime + 40 * dayMs)
  await runJobsByAge()
  app.clock.set(startTime)
  expect(await statusOf()).toBe('OPEN')
  expect((await app.call('GET', '/merchant/me', { token })).status).toBe(200)
  expect(app.logged.filter(({ event }) => event === 'clock.jumped').map(({ fields }) => fields['byMs'])).toEqual([40 * dayMs])
  // Old data expires once the clock has been steady.
  app.clock.advance(40 * dayMs)
  await runJobsByAge()
  app.clock.advance(quarterMs)
  await runJobsByAge()
  expect(app.logged.filter(({ event }) => event === 'job.failed')).toEqual([])
  expect(await statusOf()).toBe('EXPIRED')
})

test('readiness shows the clock jump and stays ready', async () => {
  await using app = await testApp()
  const readSteady = async () => {
    const { status, body } = await app.call('GET', '/health/ready')
    return [status, body.checks.find(({ name }: { name: string }) => name === 'clockSteady').ok]
  }
  expect(await readSteady()).toEqual([200, true])
  app.clock.set(startTime - dayMs)
  app.clock.advance(1_000)
  expect(await readSteady()).toEqual([200, false])
  app.clock.advance(quarterMs)
  expect(await readSteady()).toEqual([200, true])
})

test('the jobs with `byAge` are these', () => {
  expect(jobs.filter(({ byAge }) => byAge).map(({ name }) => name)).toEqual([
    'close-orders',
    'forget',
    'mail-abandoned-carts',
    'expire-carts',
    'approve-commissions',
    'recheck-hosts',
    'sweep-documents',
    'back-up',
    'watch-backups',
  ])
  expect(findJob('look-around').byAge).toBeUndefined()
})

test('the job look-around logs a clock jump once', async () => {
  await using app = await testApp()
  app.clock.set(startTime + dayMs)
  await runJob(findJob('look-around'), app.deps)
  await runJob(findJob('look-around'), app.deps)
  expect(app.logged.filter(({ event }) => event === 'clock.jumped').length).toBe(1)
})
