/** Probes in the background that close breakers, over real HTTP. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { failuresMax } from '../../../../src/lib/breaker.ts'
import type { BreakerOf } from '../../../../src/modules/payments/payment-method/breakers.ts'
import { type ProcessorName, processorNames } from '../../../../src/modules/payments/payment-method/domain.ts'
import { probeProcessors } from '../../../../src/modules/payments/payment-method/index.ts'
import { type ApiAnswer, type ApiRequest, standIn } from '../../../clients/processors/stand-in.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { processorSettings } from '../../../support/processor-settings.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

/** The request of each processor's probe, and the response of a healthy processor. */
const healthyResponses: Record<ProcessorName, [request: string, response: unknown]> = {
  stripe: ['GET /v1/balance', { object: 'balance' }],
  tap: ['POST /charges/list', { object: 'list', charges: [] }],
  qpay: ['POST /v2/auth/token', { access_token: 'token', expires_in: 3_600, refresh_token: 'other', refresh_expires_in: 7_200 }],
  checkout: ['GET /payments', { total_count: 0, data: [] }],
  paypal: ['POST /v1/oauth2/token', { access_token: 'token', token_type: 'Bearer', expires_in: 3_600 }],
  btcpay: ['GET /api/v1/health', { synchronized: true }],
}
const answerHealthily = ({ method, path }: ApiRequest): ApiAnswer => {
  const found = Object.values(healthyResponses).find(([request]) => `${method} ${path}` === request)
  return found ? { status: 200, json: found[1] } : { status: 200, json: [] }
}

async function startWorld(answers: (request: ApiRequest) => ApiAnswer | Promise<ApiAnswer> = answerHealthily) {
  const server = await standIn(answers)
  const urls = Object.fromEntries(processorNames.map((name) => [`${name.toUpperCase()}_API_URL`, server.url]))
  const app = await testApp({ ...processorSettings, ...urls })
  const host = new URL(server.url).host
  const breakerOf = (processor: ProcessorName): BreakerOf => ({ processor, host })
  return {
    app,
    server,
    breakerOf,
    state: (processor: ProcessorName) => app.deps.breakers.of(breakerOf(processor)).state,
    async [Symbol.asyncDispose]() {
      await app.close()
      await server.close()
    },
  }
}

function openBreakers(app: TestApp, ...breakers: BreakerOf[]): void {
  for (const breaker of breakers) for (let nth = 0; nth < failuresMax; nth++) app.deps.breakers.failed(breaker)
}
const metricLines = async (app: TestApp, start: string) =>
  (await app.call('GET', '/metrics')).text.split('\n').filter((line) => line.startsWith(start))

describe('a probe', () => {
  test('a probe is sent 30 seconds after a breaker opened, with the account of the settings, and closes it if it is answered', async () => {
    await using it = await startWorld()
    const { app, server, breakerOf, state } = it
    openBreakers(app, ...processorNames.map(breakerOf))
    app.clock.advance(29_999)
    await probeProcessors(app.deps)
    expect(server.requests).toEqual([])
    app.clock.advance(1)
    await probeProcessors(app.deps)
    expect(processorNames.map(state)).toEqual(processorNames.map(() => 'CLOSED'))
    const requests = new Set(server.requests.map(({ method, path }) => `${method} ${path}`))
    for (const [request] of Object.values(healthyResponses)) expect(requests).toContain(request)
    const authorization = server.requests.map(({ headers }) => headers.get('authorization') ?? '')
    expect(authorization.every((text) => text !== '')).toBe(true)
    const count = server.requests.length
    await probeProcessors(app.deps)
    expect(server.requests.length).toBe(count)
  })

  test('a failed probe doubles the pause up to ten minutes plus up to 10 % jitter, and operators see the times', async () => {
    await using it = await startWorld(() => ({ status: 503, json: {} }))
    const { app, breakerOf, state } = it
    const operator = await app.superAdmin()
    const since = app.clock.now()
    openBreakers(app, breakerOf('stripe'))
    const pauses: number[] = []
    for (let nth = 0; nth < 7; nth++) {
      const breaker = app.deps.breakers.of(breakerOf('stripe'))
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
    const response = await app.call('GET', '/admin/operations/breakers', { token: token ?? operator.token })
    const [host] = response.body.data[0].hosts
    expect([host.state, host.openSince]).toEqual(['OPEN', new Date(since).toISOString()])
    expect(Date.parse(host.probeAt)).toBeGreaterThan(app.clock.now())
    expect(state('stripe')).toBe('OPEN')
    expect(await metricLines(app, 'souk_processor_probes_total')).toEqual([
      'souk_processor_probes_total{processor="stripe",result="failed"} 7',
    ])
    expect(await metricLines(app, 'souk_processor_breaker_opened_total')).toEqual([
      'souk_processor_breaker_opened_total{processor="stripe"} 1',
    ])
    const events = app.logged.map(({ event }) => event).filter((event) => event.startsWith('breaker.'))
    expect(events).toEqual(['breaker.opened', ...Array(7).fill('breaker.probe_failed')])
  })

  test('a refusal such as 401, 403 or 429 answers a probe, so the breaker closes', async () => {
    let status = 0
    await using it = await startWorld(() => ({ status, json: { error: { message: 'no' } } }))
    const { app, breakerOf, state } = it
    for (status of [401, 403, 429]) {
      openBreakers(app, breakerOf('stripe'), breakerOf('checkout'))
      app.clock.advance(30_000)
      await probeProcessors(app.deps)
      expect([status, state('stripe'), state('checkout')]).toEqual([status, 'CLOSED', 'CLOSED'])
    }
    expect(app.logged.filter(({ event }) => event === 'breaker.closed')).toHaveLength(6)
  })

  test('a hanging probe delays no probe of another processor, and is not sent twice', async () => {
    const hung = Promise.withResolvers<ApiAnswer>()
    await using it = await startWorld((request) => (request.path === '/charges/list' ? hung.promise : answerHealthily(request)))
    const { app, server, breakerOf, state } = it
    openBreakers(app, breakerOf('tap'), breakerOf('stripe'), breakerOf('paypal'))
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

  test("a probe of a merchant's own host accepts every status below 500 as an answer", async () => {
    let response: ApiAnswer = { status: 404, json: {} }
    await using server = await standIn(() => response)
    await using app = await testApp({ ...processorSettings, OUTGOING_ALLOWED_NETWORKS: '127.0.0.0/8' })
    const breaker: BreakerOf = { processor: 'btcpay', host: new URL(server.url).host }
    const stateAfter = async (newResponse: ApiAnswer) => {
      response = newResponse
      openBreakers(app, breaker)
      app.clock.advance(30_000)
      await probeProcessors(app.deps)
      return app.deps.breakers.of(breaker).state
    }
    expect(await stateAfter({ status: 404, json: {} })).toBe('CLOSED')
    expect(await stateAfter({ status: 302, headers: { location: 'https://elsewhere.example' } })).toBe('CLOSED')
    expect(await stateAfter({ status: 502, json: {} })).toBe('OPEN')
    // Addresses that are not public are not called.
    await using guarded = await testApp(processorSettings)
    openBreakers(guarded, breaker)
    guarded.clock.advance(30_000)
    const requestsBefore = server.requests.length
    await probeProcessors(guarded.deps)
    expect([guarded.deps.breakers.of(breaker).state, server.requests.length]).toEqual(['OPEN', requestsBefore])
  })
})
