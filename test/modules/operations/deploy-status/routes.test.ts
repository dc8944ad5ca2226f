/** Tests the operations pages with stand-ins for the external providers. */
import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { refreshOperations as runJob } from '../../../../jobs/refresh-operations.ts'
import { system } from '../../../../src/core/command-context.ts'
import { startSession } from '../../../../src/modules/identity/auth/service.ts'
import { recordHeartbeat, recordStart, recordStop, refreshOperations } from '../../../../src/modules/operations/deploy-status/index.ts'
import { type Json, type TestApp, testApp } from '../../../support/app.ts'
import { testDatabase } from '../../../support/database.ts'
import { type ProviderFixture, providerFixtures } from '../../../support/providers/worlds.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const second = 1_000
const paths = { services: 'services', errors: 'sentry-summary', deploys: 'deploys/latest' }
const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

/** Starts three external providers and returns the settings that name them. */
async function startProviders(deadlineMs = 60_000) {
  const start = async (name: string) => {
    const world = (await providerFixtures[name]?.(60_000)) as ProviderFixture
    closers.push(() => world.server.close())
    return world
  }
  const [services, errors, deploys] = [await start('ecs'), await start('sentry'), await start('github')]
  const all = [services, errors, deploys]
  const settings = {
    OPERATIONS_DEADLINE_MS: String(Math.min(deadlineMs, 20_000)),
    ...{
      OPERATIONS_SERVICES: 'ecs',
      ECS_REGION: 'eu-central-1',
      ECS_CLUSTERS: 'live',
      ECS_KEY_ID: 'AKIA1',
      ECS_SECRET: 'wJalr/secret+key',
    },
    ...{ OPERATIONS_ERRORS: 'sentry', ERRORS_ORGANIZATION: 'my-shop', ERRORS_TOKEN: 'token-1' },
    ...{ OPERATIONS_DEPLOYS: 'github', GITHUB_TOKEN: 'token-1', GITHUB_REPOSITORIES: 'shop/souk,shop/site,shop/new' },
    ...{ ECS_API_URL: services.server.url, SENTRY_API_URL: errors.server.url, GITHUB_API_URL: deploys.server.url },
  }
  return {
    settings,
    expected: { services: services.expected, errors: errors.expected, deploys: deploys.expected },
    requestCounts: () => all.map(({ server }) => server.requests.length),
    fail(kind: 'silent' | 'broken' | 'overloaded' | undefined) {
      for (const { server } of all) server.fault = kind && { kind, from: 1 }
    },
  }
}

/** Reads the three pages as an operator. */
async function readPages(app: TestApp, token: string): Promise<Record<keyof typeof paths, Json>> {
  const get = async (path: string) => {
    const { status, body } = await app.call('GET', `/admin/operations/${path}`, { token })
    return status === 200 ? body : { status, message: body.message }
  }
  const [services, errors, deploys] = await Promise.all([get(paths.services), get(paths.errors), get(paths.deploys)])
  return { services, errors, deploys }
}
const staleOf = (shown: Record<string, Json>) => Object.values(shown).map(({ stale, status }) => status ?? stale)

describe('the operations pages with external providers', () => {
  test('the pages show what providers return, ask once for concurrent readers, and not again for a minute', async () => {
    const providers = await startProviders()
    await using app = await testApp(providers.settings)
    const { token } = await app.superAdmin()
    const [shown] = await Promise.all([readPages(app, token), readPages(app, token), readPages(app, token)])
    const asOf = new Date(app.clock.now()).toISOString()
    expect(shown).toEqual({
      services: { asOf, stale: false, services: providers.expected.services },
      errors: { asOf, stale: false, windowHours: 24, projects: providers.expected.errors },
      deploys: { asOf, stale: false, deploys: providers.expected.deploys },
    })
    const countsBefore = providers.requestCounts()
    app.clock.advance(59 * second)
    expect(await readPages(app, token)).toEqual(shown)
    expect(providers.requestCounts()).toEqual(countsBefore)
    app.clock.advance(second)
    expect((await readPages(app, token)).services.asOf).toBe(new Date(app.clock.now()).toISOString())
    expect(providers.requestCounts().every((count, at) => count > (countsBefore[at] ?? 0))).toBe(true)
  })

  test('the pages respond in time with silent providers: 503 without data, then the last responses marked stale', async () => {
    const providers = await startProviders(100)
    await using app = await testApp(providers.settings)
    const { token } = await app.superAdmin()
    providers.fail('silent')
    const nothing = await readPages(app, token)
    expect(staleOf(nothing)).toEqual([503, 503, 503])
    expect(nothing.services.message).toMatch(/services \(ecs\) has not responded yet/)
    providers.fail(undefined)
    // Requests to silent providers continue in the background, while a second program asks the same providers.
    await using other = await testApp({ ...providers.settings, OPERATIONS_DEADLINE_MS: '20000' })
    const admin = await other.superAdmin()
    const good = await readPages(other, admin.token)
    expect(staleOf(good)).toEqual([false, false, false])
    providers.fail('broken')
    other.clock.advance(60 * second)
    const stale = await readPages(other, admin.token)
    expect(stale).toEqual(Object.fromEntries(Object.entries(good).map(([name, page]) => [name, { ...page, stale: true }])) as typeof stale)
  })

  test('a failing provider is paused for longer each time or as it asks, and is shown as good after a response', async () => {
    const providers = await startProviders()
    await using app = await testApp(providers.settings)
    const { token } = await app.superAdmin()
    await readPages(app, token)
    app.clock.advance(60 * second)
    providers.fail('overloaded')
    expect(staleOf(await readPages(app, token))).toEqual([true, true, true])
    const requests = providers.requestCounts()
    // The provider asked for seven seconds; the default would be five.
    app.clock.advance(6 * second)
    expect(staleOf(await readPages(app, token))).toEqual([true, true, true])
    expect(providers.requestCounts()).toEqual(requests)
    app.clock.advance(second)
    expect(staleOf(await readPages(app, token))).toEqual([true, true, true])
    expect(providers.requestCounts()).not.toEqual(requests)
    providers.fail(undefined)
    app.clock.advance(10 * second)
    expect(staleOf(await readPages(app, token))).toEqual([false, false, false])
    const events = app.logged.filter(({ event }) => event.startsWith('operations.'))
    expect(events.map(({ event }) => event)).toEqual([
      ...Array(6).fill('operations.not_answered'),
      ...Array(3).fill('operations.answers_again'),
    ])
    expect(JSON.stringify(events)).not.toMatch(/token-1|wJalr/)
  })

  test('the last responses survive a restart, but not those of other providers', async () => {
    const providers = await startProviders()
    const database = await testDatabase()
    closers.push(() => database.drop())
    const first = await testApp(providers.settings, { database })
    const { token } = await first.superAdmin()
    const good = await readPages(first, token)
    await first.close()
    const requests = providers.requestCounts()
    providers.fail('broken')
    const restarted = await testApp(providers.settings, { database })
    restarted.clock.advance(30 * second)
    expect(await readPages(restarted, token)).toEqual(good)
    expect(providers.requestCounts()).toEqual(requests)
    restarted.clock.advance(30 * second)
    expect(staleOf(await readPages(restarted, token))).toEqual([true, true, true])
    await restarted.close()
    await using changed = await testApp({ ...providers.settings, ECS_CLUSTERS: 'other', GITHUB_REPOSITORIES: 'shop/souk' }, { database })
    expect(staleOf(await readPages(changed, token))).toEqual([503, expect.any(Boolean), 503])
  })

  test('a response from before a clock step is shown as stale until the next one, which is not delayed', async () => {
    const providers = await startProviders()
    const database = await testDatabase()
    closers.push(() => database.drop())
    const first = await testApp(providers.settings, { database })
    const { id } = await first.superAdmin()
    const shownIn = async (app: TestApp) =>
      readPages(app, (await startSession(app.deps, { id, role: 'SUPER_ADMIN' }, system)).data.accessToken)
    first.clock.advance(6 * 3_600 * second)
    const ahead = await shownIn(first)
    await first.close()
    providers.fail('broken')
    const restarted = await testApp(providers.settings, { database })
    expect(await shownIn(restarted)).toEqual(
      Object.fromEntries(Object.entries(ahead).map(([name, page]) => [name, { ...page, stale: true }])) as typeof ahead,
    )
    providers.fail(undefined)
    restarted.clock.advance(10 * second)
    const asOf = new Date(restarted.clock.now()).toISOString()
    expect(Object.values(await shownIn(restarted)).map((page) => [page.asOf, page.stale])).toEqual(Array(3).fill([asOf, false]))
    // The response is fresh for a minute, in this process and after a restart.
    const requests = providers.requestCounts()
    restarted.clock.advance(30 * second)
    expect(staleOf(await shownIn(restarted))).toEqual([false, false, false])
    await restarted.close()
    await using restartedAgain = await testApp(providers.settings, { database })
    restartedAgain.clock.advance(45 * second)
    expect(Object.values(await shownIn(restartedAgain)).map((page) => [page.asOf, page.stale])).toEqual(Array(3).fill([asOf, false]))
    expect(providers.requestCounts()).toEqual(requests)
  })

  test('the job refreshes before the minute is over, so that no request waits', async () => {
    const providers = await startProviders()
    await using app = await testApp(providers.settings)
    expect(await refreshOperations(app.deps)).toEqual({ services: 'renewed', errors: 'renewed', deploys: 'renewed' })
    const requests = providers.requestCounts()
    expect(await refreshOperations(app.deps)).toEqual({ services: 'known', errors: 'known', deploys: 'known' })
    app.clock.advance(30 * second)
    expect(await refreshOperations(app.deps)).toEqual({ services: 'renewed', errors: 'renewed', deploys: 'renewed' })
    providers.fail('broken')
    app.clock.advance(30 * second)
    await expect(runJob(app.deps)).rejects.toThrow('no answer for services, errors, deploys')
    expect(providers.requestCounts()[0]).toBeGreaterThan(requests[0] ?? 0)
    const { token } = await app.superAdmin()
    expect(staleOf(await readPages(app, token))).toEqual([false, false, false])
  })
})

describe('the operations pages without providers', () => {
  test('an unconfigured instance shows its own processes, errors by kind, and the start of its build', async () => {
    const database = await testDatabase()
    closers.push(() => database.drop())
    const settings = { BUILD_REVISION: '5f3a' }
    const first = await testApp(settings, { database })
    const { token } = await first.superAdmin()
    await recordStart(first.deps)
    const since = new Date(first.clock.now()).toISOString()
    const revision = `${first.deps.build.version}+5f3a`
    const secret = new TypeError('cannot read ana@example.com')
    first.deps.log.error('job.failed', { job: 'forget', error: secret })
    first.deps.log.error('job.failed', { job: 'forget', error: secret })
    first.deps.log.error('refund.manual', { order: 'order_1', processor: 'stripe' })
    first.deps.log.warn('fx.no_rates', {})
    await recordHeartbeat(first.deps)
    const shown = await readPages(first, token)
    const running = { desired: 1, running: 1, pending: 0, revision, state: 'steady' }
    expect(shown.services).toEqual({ asOf: since, stale: false, services: ['server', 'jobs'].map((service) => ({ service, ...running })) })
    const [project] = shown.errors.projects
    expect(project).toMatchObject({ project: 'souk', events: 3, unresolved: 2 })
    expect(project.top.map(({ title, count }: Json) => [title.replace(/ [\w/.-]+:\d+$/, ''), count])).toEqual([
      ['job.failed forget TypeError', 2],
      ['refund.manual stripe', 1],
    ])
    expect(shown.deploys.deploys).toEqual([{ service: 'souk', environment: 'production', revision, deployedAt: since, change: null }])
    expect(await refreshOperations(first.deps)).toEqual({ services: 'known', errors: 'known', deploys: 'known' })
    await recordStop(first.deps)
    await first.close()

    // The same build, a day later: its deploy is as old as its first start, and its errors are forgotten.
    const restarted = await testApp(settings, { database })
    restarted.clock.advance(25 * 3_600 * second)
    await recordStart(restarted.deps)
    const { services, errors, deploys } = restarted.deps.statusCaches
    expect((await deploys.show()).items[0]).toMatchObject({ deployedAt: since, revision })
    expect((await errors.show()).items).toEqual([{ project: 'souk', events: 0, unresolved: 0, top: [] }])
    expect((await services.show()).items[0]).toMatchObject({ desired: 1, running: 1, state: 'steady' })
    await restarted.close()
  })

  test('a process whose start was not recorded is recorded by the heartbeat job', async () => {
    await using app = await testApp()
    app.clock.advance(90 * second)
    await recordHeartbeat(app.deps)
    const { items } = await app.deps.statusCaches.services.show()
    expect(items).toMatchObject([
      { service: 'server', desired: 1, running: 1, state: 'steady' },
      { service: 'jobs', desired: 1, running: 1 },
    ])
    await recordHeartbeat(app.deps)
    app.clock.advance(90 * second)
    await recordHeartbeat(app.deps)
    expect((await app.deps.statusCaches.services.show()).items[0]?.desired).toBe(1)
  })

  test('errors that could not be stored are stored with the next ones', async () => {
    await using app = await testApp()
    app.deps.log.error('job.failed', { job: 'forget' })
    const failing = { ...app.deps, db: { ...app.deps.db, write: () => Promise.reject(new Error('away')) } }
    await expect(recordHeartbeat(failing)).rejects.toThrow('away')
    app.deps.log.error('job.failed', { job: 'forget' })
    await recordHeartbeat(app.deps)
    const { token } = await app.superAdmin()
    expect((await readPages(app, token)).errors.projects[0]).toMatchObject({ events: 2, unresolved: 1 })
  })
})
