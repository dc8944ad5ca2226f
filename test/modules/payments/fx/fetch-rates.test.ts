import { expect, setDefaultTimeout, test } from 'bun:test'
import { asc } from 'drizzle-orm'
import { fxRates } from '../../../../db/schema/ledger.ts'
import { fetchRates as runJob } from '../../../../jobs/fetch-rates.ts'
import { createSafeFetch } from '../../../../src/clients/safe-fetch.ts'
import { dayMs } from '../../../../src/lib/day.ts'
import { fetchRatesOfDay as fetchRates } from '../../../../src/modules/payments/fx/index.ts'
import { rateFor, rateNear } from '../../../../src/modules/payments/fx/service.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const ratesText = (rates: object, more: object = {}) => JSON.stringify({ base: 'USD', ...more, rates })

/** Starts a rate service with a configurable response. `requestedPaths` has the path and query of each request. */
function rateService(firstResponse: string | (() => Response | Promise<Response>)) {
  const requestedPaths: string[] = []
  let response = firstResponse
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => {
      requestedPaths.push(new URL(request.url).pathname + new URL(request.url).search)
      return typeof response === 'string' ? new Response(response, { headers: { 'content-type': 'application/json' } }) : response()
    },
  })
  return {
    requestedPaths,
    url: `http://127.0.0.1:${server.port}/latest?app_id=zq9secret`,
    host: `127.0.0.1:${server.port}`,
    respondWith(newResponse: typeof firstResponse) {
      response = newResponse
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

const stored = (app: TestApp) => app.deps.db.read.select().from(fxRates).orderBy(asc(fxRates.day), asc(fxRates.currency))
const warnings = (app: TestApp) => app.logged.filter(({ level }) => level === 'warn')

test('without FX_RATES_URL no service is called, and pegged currencies still have a rate', async () => {
  await using app = await testApp({}, { safeFetch: () => Promise.reject(new Error('nobody may be asked')) })
  expect(await fetchRates(app.deps)).toEqual({ outcome: 'off' })
  expect(await stored(app)).toEqual([])
  const { read } = app.deps.db
  expect(await rateFor(read, 'AED', '1999-01-01')).toEqual({ usdPerUnit: '0.272294077604', day: '1999-01-01' })
  expect(await rateFor(read, 'EUR', '2026-01-06')).toBeUndefined()
})

test('the rates of the dollar and of currencies pegged to it need no query', async () => {
  const noReader = {
    select: () => {
      throw new Error('a query')
    },
  }
  expect(await rateFor(noReader as never, 'USD', '2026-01-06')).toEqual({ usdPerUnit: '1', day: '2026-01-06' })
  expect((await rateFor(noReader as never, 'SAR', '2026-01-06'))?.usdPerUnit).toBe('0.266666666667')
  await expect(rateFor(noReader as never, 'EUR', '2026-01-06')).rejects.toThrow('a query')
})

test('the rates of the day are stored with the host of their source, without the key in its URL', async () => {
  await using service = rateService(ratesText({ EUR: 0.8, KWD: 0.25, XXX: 4, AED: 3.6 }))
  await using app = await testApp({ FX_RATES_URL: service.url })
  expect(await fetchRates(app.deps)).toEqual({ outcome: 'read', added: 2 })
  expect(await stored(app)).toEqual([
    { day: '2026-01-06', currency: 'EUR', usdPerUnit: '1.25', source: service.host },
    { day: '2026-01-06', currency: 'KWD', usdPerUnit: '4', source: service.host },
  ])
  expect(service.requestedPaths).toEqual(['/latest?app_id=zq9secret'])
  expect(warnings(app)).toEqual([])
})

test('the service is called until the rates of the day are stored, and again the next day', async () => {
  await using service = rateService(ratesText({ EUR: 0.8 }, { date: '2026-01-05' }))
  await using app = await testApp({ FX_RATES_URL: service.url })
  expect(await fetchRates(app.deps)).toEqual({ outcome: 'read', added: 1 })
  expect(await fetchRates(app.deps)).toEqual({ outcome: 'read', added: 0 })
  service.respondWith(ratesText({ EUR: 0.5 }, { date: '2026-01-06' }))
  expect(await fetchRates(app.deps)).toEqual({ outcome: 'read', added: 1 })
  expect(await fetchRates(app.deps)).toEqual({ outcome: 'known' })
  expect(service.requestedPaths).toHaveLength(3)
  app.clock.advance(dayMs)
  service.respondWith(ratesText({ EUR: 0.4 }))
  expect(await fetchRates(app.deps)).toEqual({ outcome: 'read', added: 1 })
  expect((await stored(app)).map(({ day, usdPerUnit }) => [day, usdPerUnit])).toEqual([
    ['2026-01-05', '1.25'],
    ['2026-01-06', '2'],
    ['2026-01-07', '2.5'],
  ])
})

test('a stored rate never changes, even if the service reports another one later', async () => {
  await using service = rateService(ratesText({ EUR: 0.8 }, { date: '2026-01-05' }))
  await using app = await testApp({ FX_RATES_URL: service.url })
  await fetchRates(app.deps)
  service.respondWith(ratesText({ EUR: 0.5, GBP: 0.5 }, { date: '2026-01-05' }))
  expect(await fetchRates(app.deps)).toEqual({ outcome: 'read', added: 1 })
  expect((await stored(app)).map(({ currency, usdPerUnit }) => [currency, usdPerUnit])).toEqual([
    ['EUR', '1.25'],
    ['GBP', '2'],
  ])
})

test('an implausible rate is left out and logged, and the others are stored', async () => {
  await using service = rateService('{"base":"USD","rates":{"EUR":0.8,"GBP":-0.8,"JPY":0,"CHF":1e999}}')
  await using app = await testApp({ FX_RATES_URL: service.url })
  expect(await fetchRates(app.deps)).toEqual({ outcome: 'read', added: 1 })
  expect((await stored(app)).map(({ currency }) => currency)).toEqual(['EUR'])
  expect(warnings(app)).toEqual([
    { level: 'warn', event: 'fx.rates_refused', fields: { source: service.host, currencies: ['GBP', 'JPY', 'CHF'] } },
  ])
})

test.each([
  ['malformed', () => new Response('{"base":"USD","rates":{"EUR":0.9'), 'not a JSON object'],
  ['a page', () => new Response('<html>zq9</html>', { headers: { 'content-type': 'text/html' } }), 'not a JSON object'],
  ['huge', () => new Response(ratesText({ EUR: 0.9 }, { padding: 'x'.repeat(300_000) })), 'answer too large'],
  ['a redirect', () => Response.redirect('http://127.0.0.1:1/elsewhere', 302), 'redirect'],
  ['an error', () => new Response(ratesText({ EUR: 0.9 }), { status: 500 }), 'status 500'],
  ['not found', () => new Response(ratesText({ EUR: 0.9 }), { status: 404 }), 'status 404'],
  ['without a positive rate', () => new Response(ratesText({ EUR: -0.9 })), '`rates` holds no usable rate'],
  ['dated in the future', () => new Response(ratesText({ EUR: 0.9 }, { date: '2026-01-08' })), '`date` is in the future or too long ago'],
])('a response that is %s keeps the old rates and logs one warning that does not quote it', async (_, response, problem) => {
  await using service = rateService(ratesText({ EUR: 0.8 }))
  await using app = await testApp({ FX_RATES_URL: service.url })
  await fetchRates(app.deps)
  const before = await stored(app)
  app.clock.advance(dayMs)
  service.respondWith(response)
  await expect(runJob(app.deps)).rejects.toThrow(`no rates were read from ${service.host}: ${problem}`)
  expect(await stored(app)).toEqual(before)
  expect(await rateFor(app.deps.db.read, 'EUR', '2026-01-07')).toEqual({ usdPerUnit: '1.25', day: '2026-01-06' })
  expect(warnings(app)).toEqual([{ level: 'warn', event: 'fx.no_rates', fields: { source: service.host, problem } }])
  service.respondWith(ratesText({ EUR: 0.5 }))
  expect(await fetchRates(app.deps)).toEqual({ outcome: 'read', added: 1 })
})

test('a request to the service ends after its timeout, and fails if no service listens', async () => {
  const hung = Promise.withResolvers<Response>()
  await using service = rateService(() => hung.promise)
  const safeFetch = createSafeFetch({ allowedNetworks: [] })
  const timeouts: number[] = []
  await using app = await testApp(
    { FX_RATES_URL: service.url },
    {
      safeFetch: (url, options) => {
        timeouts.push(options.timeoutMs)
        return safeFetch(url, { ...options, timeoutMs: timeouts.length === 1 ? 50 : 60_000 })
      },
    },
  )
  expect(await fetchRates(app.deps)).toMatchObject({ outcome: 'failed' })
  expect(warnings(app).at(-1)?.fields).toEqual({ source: service.host, problem: 'timeout' })
  expect(timeouts).toEqual([10_000])
  hung.resolve(new Response())
  await service[Symbol.asyncDispose]()
  expect(await fetchRates(app.deps)).toMatchObject({ outcome: 'failed' })
  expect(warnings(app).at(-1)?.fields).toEqual({ source: service.host, problem: 'connection failed' })
  expect(JSON.stringify(app.logged)).not.toContain('zq9secret')
})

test('an unexpected error counts as no answer, and its text, which may contain the URL, is not logged', async () => {
  await using app = await testApp(
    { FX_RATES_URL: 'https://rates.example/zq9secret' },
    { safeFetch: (url) => Promise.reject(new Error(`odd: ${url}`)) },
  )
  expect(await fetchRates(app.deps)).toMatchObject({ outcome: 'failed' })
  expect(warnings(app)).toEqual([{ level: 'warn', event: 'fx.no_rates', fields: { source: 'rates.example', problem: 'no answer' } }])
})

test('rateFor finds the latest rate of a day or the seven days before it; rateNear also uses the seven days after it', async () => {
  await using app = await testApp()
  const { db } = app.deps
  const row = (day: string, currency: string, usdPerUnit: string) => ({ day, currency, usdPerUnit, source: 'test' })
  await db.write((tx) =>
    tx
      .insert(fxRates)
      .values([
        row('2026-01-01', 'EUR', '1.1'),
        row('2026-01-03', 'EUR', '1.3'),
        row('2026-01-20', 'EUR', '1.2'),
        row('2026-01-02', 'GBP', '2'),
      ])
      .then(() => undefined),
  )
  const ratesOn = async (day: string) => [
    (await rateFor(db.read, 'EUR', day))?.usdPerUnit,
    (await rateNear(db.read, 'EUR', day))?.usdPerUnit,
  ]
  expect(await ratesOn('2025-12-24')).toEqual([undefined, undefined])
  expect(await ratesOn('2025-12-25')).toEqual([undefined, '1.1'])
  expect(await ratesOn('2026-01-01')).toEqual(['1.1', '1.1'])
  expect(await ratesOn('2026-01-02')).toEqual(['1.1', '1.1'])
  expect(await ratesOn('2026-01-03')).toEqual(['1.3', '1.3'])
  expect(await ratesOn('2026-01-10')).toEqual(['1.3', '1.3'])
  expect(await ratesOn('2026-01-11')).toEqual([undefined, undefined])
  expect(await ratesOn('2026-01-13')).toEqual([undefined, '1.2'])
  expect(await ratesOn('2026-01-27')).toEqual(['1.2', '1.2'])
  expect(await ratesOn('2026-01-28')).toEqual([undefined, undefined])
  expect(await rateFor(db.read, 'EUR', '2026-01-10')).toEqual({ usdPerUnit: '1.3', day: '2026-01-03' })
})
