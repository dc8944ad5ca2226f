/** What closes a breaker again: a probe in the background, over real HTTP. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { probeProcessors } from '../../../../jobs/probe-processors.ts'
import { failuresMax } from '../../../../src/lib/breaker.ts'
import type { BreakerOf } from '../../../../src/modules/payments/payment-method/breakers.ts'
import { type ProcessorName, processorNames } from '../../../../src/modules/payments/payment-method/domain.ts'
import { type ApiAnswer, type ApiRequest, standIn } from '../../../clients/processors/stand-in.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { everySetting } from '../../../support/processor-settings.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

/** What each processor is asked by a probe, and answers when it is well. */
const well: Record<ProcessorName, [asked: string, told: unknown]> = {
  stripe: ['GET /v1/balance', { object: 'balance' }],
  tap: ['POST /charges/list', { object: 'list', charges: [] }],
  qpay: ['POST /v2/auth/token', { access_token: 'token', expires_in: 3_600, refresh_token: 'other', refresh_expires_in: 7_200 }],
  checkout: ['GET /payments', { total_count: 0, data: [] }],
  paypal: ['POST /v1/oauth2/token', { access_token: 'token', token_type: 'Bearer', expires_in: 3_600 }],
  btcpay: ['GET /api/v1/health', { synchronized: true }],
}
const answer = ({ method, path }: ApiRequest): ApiAnswer => {
  const known = Object.values(well).find(([asked]) => `${method} ${path}` === asked)
  return known ? { status: 200, json: known[1] } : { status: 200, json: [] }
}

async function world(answers: (asked: ApiRequest) => ApiAnswer | Promise<ApiAnswer> = answer) {
  const server = await standIn(answers)
  const urls = Object.fromEntries(processorNames.map((name) => [`${name.toUpperCase()}_API_URL`, server.url]))
  const app = await testApp({ ...everySetting, ...urls })
  const host = new URL(server.url).host
  const of = (processor: ProcessorName): BreakerOf => ({ processor, host })
  return {
    app,
    server,
    of,
    state: (processor: ProcessorName) => app.deps.breakers.of(of(processor)).state,
    async [Symbol.asyncDispose]() {
      await app.close()
      await server.close()
    },
  }
}

function open(app: TestApp, ...all: BreakerOf[]): void {
  for (const at of all) for (let nth = 0; nth < failuresMax; nth++) app.deps.breakers.failed(at)
}
const figures = async (app: TestApp, start: string) =>
  (await app.call('GET', '/metrics')).text.split('\n').filter((line) => line.startsWith(start))

describe('a probe', () => {
  test('is sent half a minute after a breaker opened, asks as the account of the settings, and closes it once it is answered', async () => {
    await using it = await world()
    const { app, server, of, state } = it
    open(app, ...processorNames.map(of))
    app.clock.advance(29_999)
    await probeProcessors(app.deps)
    expect(server.requests).toEqual([])
    app.clock.advance(1)
    await probeProcessors(app.deps)
    expect(processorNames.map(state)).toEqual(processorNames.map(() => 'CLOSED'))
    const asked = new Set(server.requests.map(({ method, path }) => `${method} ${path}`))
    for (const [one] of Object.values(well)) expect(asked).toContain(one)
    const authorization = server.requests.map(({ headers }) => headers.get('authorization') ?? '')
    expect(authorization.every((text) => text !== '')).toBe(true)
    const count = server.requests.length
    await probeProcessors(app.deps)
    expect(server.requests.length).toBe(count)
  })

  test('that fails doubles the pause, up to ten minutes and a tenth of chance; operators see since when, and when the next one comes', async () => {
    await using it = await world(() => ({ status: 503, json: {} }))
    const { app, of, state } = it
    const operator = await app.superAdmin()
    const since = app.clock.now()
    open(app, of('stripe'))
    const pauses: number[] = []
    for (let nth = 0; nth < 7; nth++) {
      const breaker = app.deps.breakers.of(of('stripe'))
      if (breaker.state !== 'OPEN') throw new Error(breaker.state)
      pauses.push((breaker.probeAt - app.clock.now()) / 1000)
      app.clock.advance(breaker.probeAt - app.clock.now())
      await probeProcessors(app.deps)
    }
    expect(pauses[0]).toBe(30)
    for (const [nth, least] of [30, 60, 120, 240, 480, 600, 600].entries()) {
      expect(pauses[nth]).toBeGreaterThanOrEqual(least)
      expect(pauses[nth]).toBeLessThanOrEqual(least * 1.1)
    }
    const { token } = (await app.call('POST', '/merchant/login', { body: operator })).body.data ?? { token: operator.token }
    const seen = await app.call('GET', '/admin/operations/breakers', { token: token ?? operator.token })
    const [host] = seen.body.data[0].hosts
    expect([host.state, host.openSince]).toEqual(['OPEN', new Date(since).toISOString()])
    expect(Date.parse(host.probeAt)).toBeGreaterThan(app.clock.now())
    expect(state('stripe')).toBe('OPEN')
    expect(await figures(app, 'souk_processor_probes_total')).toEqual(['souk_processor_probes_total{processor="stripe",result="failed"} 7'])
    expect(await figures(app, 'souk_processor_breaker_opened_total')).toEqual(['souk_processor_breaker_opened_total{processor="stripe"} 1'])
    const events = app.logged.map(({ event }) => event).filter((event) => event.startsWith('breaker.'))
    expect(events).toEqual(['breaker.opened', ...Array(7).fill('breaker.probe_failed')])
  })

  test('is answered by whoever refuses: a wrong key and a key that is being worked on are no dead processor', async () => {
    let status = 0
    await using it = await world(() => ({ status, json: { error: { message: 'no' } } }))
    const { app, of, state } = it
    for (status of [401, 403, 429]) {
      open(app, of('stripe'), of('checkout'))
      app.clock.advance(30_000)
      await probeProcessors(app.deps)
      expect([status, state('stripe'), state('checkout')]).toEqual([status, 'CLOSED', 'CLOSED'])
    }
    expect(app.logged.filter(({ event }) => event === 'breaker.closed')).toHaveLength(6)
  })

  test('waits for its own processor alone: one that hangs holds up nobody else’s, and is not asked twice', async () => {
    const hung = Promise.withResolvers<ApiAnswer>()
    await using it = await world((asked) => (asked.path === '/charges/list' ? hung.promise : answer(asked)))
    const { app, server, of, state } = it
    open(app, of('tap'), of('stripe'), of('paypal'))
    app.clock.advance(30_000)
    const probing = probeProcessors(app.deps)
    while (state('stripe') !== 'CLOSED' || state('paypal') !== 'CLOSED') await new Promise((resume) => setImmediate(resume))
    expect(state('tap')).toBe('HALF_OPEN')
    await probeProcessors(app.deps)
    expect(server.requests.filter(({ path }) => path === '/charges/list').length).toBeLessThanOrEqual(1)
    hung.resolve({ status: 200, json: { charges: [] } })
    await probing
    expect(state('tap')).toBe('CLOSED')
  })

  test('of a merchant’s own host asks whether anybody is there: whatever is said below 500 is an answer', async () => {
    let told: ApiAnswer = { status: 404, json: {} }
    await using server = await standIn(() => told)
    await using app = await testApp({ ...everySetting, OUTGOING_ALLOWED_NETWORKS: '127.0.0.0/8' })
    const at: BreakerOf = { processor: 'btcpay', host: new URL(server.url).host }
    const after = async (next: ApiAnswer) => {
      told = next
      open(app, at)
      app.clock.advance(30_000)
      await probeProcessors(app.deps)
      return app.deps.breakers.of(at).state
    }
    expect(await after({ status: 404, json: {} })).toBe('CLOSED')
    expect(await after({ status: 302, headers: { location: 'https://elsewhere.example' } })).toBe('CLOSED')
    expect(await after({ status: 502, json: {} })).toBe('OPEN')
    // Addresses that are not public are not called.
    await using guarded = await testApp(everySetting)
    open(guarded, at)
    guarded.clock.advance(30_000)
    const asked = server.requests.length
    await probeProcessors(guarded.deps)
    expect([guarded.deps.breakers.of(at).state, server.requests.length]).toEqual(['OPEN', asked])
  })
})
