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

/** A rate service that answers what it is told; `asked` are the URLs that were called. */
function rateService(first: string | (() => Response | Promise<Response>)) {
  const asked: string[] = []
  let answer = first
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => {
      asked.push(new URL(request.url).pathname + new URL(request.url).search)
      return typeof answer === 'string' ? new Response(answer, { headers: { 'content-type': 'application/json' } }) : answer()
    },
  })
  return {
    asked,
    url: `http://127.0.0.1:${server.port}/latest?app_id=zq9secret`,
    host: `127.0.0.1:${server.port}`,
    says(next: typeof first) {
      answer = next
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

const stored = (app: TestApp) => app.deps.db.read.select().from(fxRates).orderBy(asc(fxRates.day), asc(fxRates.currency))
const warnings = (app: TestApp) => app.logged.filter(({ level }) => level === 'warn')

test('without FX_RATES_URL nobody is asked, and what is pegged has its rate all the same', async () => {
  await using app = await testApp({}, { safeFetch: () => Promise.reject(new Error('nobody may be asked')) })
  expect(await fetchRates(app.deps)).toEqual({ outcome: 'off' })
  expect(await stored(app)).toEqual([])
  const { read } = app.deps.db
  expect(await rateFor(read, 'AED', '1999-01-01')).toEqual({ usdPerUnit: '0.272294077604', day: '1999-01-01' })
  expect(await rateFor(read, 'EUR', '2026-01-06')).toBeUndefined()
})

test('the dollar and what is pegged to it cost no query', async () => {
  const noReader = {
    select: () => {
      throw new Error('a query')
    },
  }
  expect(await rateFor(noReader as never, 'USD', '2026-01-06')).toEqual({ usdPerUnit: '1', day: '2026-01-06' })
  expect((await rateFor(noReader as never, 'SAR', '2026-01-06'))?.usdPerUnit).toBe('0.266666666667')
  await expect(rateFor(noReader as never, 'EUR', '2026-01-06')).rejects.toThrow('a query')
})

test('the rates of the day are stored with where they were read, and no key of the URL', async () => {
  await using service = rateService(ratesText({ EUR: 0.8, KWD: 0.25, XXX: 4, AED: 3.6 }))
  await using app = await testApp({ FX_RATES_URL: service.url })
  expect(await fetchRates(app.deps)).toEqual({ outcome: 'read', added: 2 })
  expect(await stored(app)).toEqual([
    { day: '2026-01-06', currency: 'EUR', usdPerUnit: '1.25', source: service.host },
    { day: '2026-01-06', currency: 'KWD', usdPerUnit: '4', source: service.host },
  ])
  expect(service.asked).toEqual(['/latest?app_id=zq9secret'])
  expect(warnings(app)).toEqual([])
})

test('the service is asked until the rates of the day are there, and again the next day', async () => {
  await using service = rateService(ratesText({ EUR: 0.8 }, { date: '2026-01-05' }))
  await using app = await testApp({ FX_RATES_URL: service.url })
  expect(await fetchRates(app.deps)).toEqual({ outcome: 'read', added: 1 })
  expect(await fetchRates(app.deps)).toEqual({ outcome: 'read', added: 0 })
  service.says(ratesText({ EUR: 0.5 }, { date: '2026-01-06' }))
  expect(await fetchRates(app.deps)).toEqual({ outcome: 'read', added: 1 })
  expect(await fetchRates(app.deps)).toEqual({ outcome: 'known' })
  expect(service.asked).toHaveLength(3)
  app.clock.advance(dayMs)
  service.says(ratesText({ EUR: 0.4 }))
  expect(await fetchRates(app.deps)).toEqual({ outcome: 'read', added: 1 })
  expect((await stored(app)).map(({ day, usdPerUnit }) => [day, usdPerUnit])).toEqual([
    ['2026-01-05', '1.25'],
    ['2026-01-06', '2'],
    ['2026-01-07', '2.5'],
  ])
})

test('a rate that is stored never changes, whatever the service says later', async () => {
  await using service = rateService(ratesText({ EUR: 0.8 }, { date: '2026-01-05' }))
  await using app = await testApp({ FX_RATES_URL: service.url })
  await fetchRates(app.deps)
  service.says(ratesText({ EUR: 0.5, GBP: 0.5 }, { date: '2026-01-05' }))
  expect(await fetchRates(app.deps)).toEqual({ outcome: 'read', added: 1 })
  expect((await stored(app)).map(({ currency, usdPerUnit }) => [currency, usdPerUnit])).toEqual([
    ['EUR', '1.25'],
    ['GBP', '2'],
  ])
})

test('a rate that is no plausible number is left out and named; the others are taken', async () => {
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
  ['not there', () => new Response(ratesText({ EUR: 0.9 }), { status: 404 }), 'status 404'],
  ['negative all through', () => new Response(ratesText({ EUR: -0.9 })), '`rates` has none that can be used'],
  ['of tomorrow', () => new Response(ratesText({ EUR: 0.9 }, { date: '2026-01-08' })), '`date` is to come, or too long ago'],
])('an answer that is %s leaves the old rates, and one warning without a word of it', async (_, answer, problem) => {
  await using service = rateService(ratesText({ EUR: 0.8 }))
  await using app = await testApp({ FX_RATES_URL: service.url })
  await fetchRates(app.deps)
  const before = await stored(app)
  app.clock.advance(dayMs)
  service.says(answer)
  await expect(runJob(app.deps)).rejects.toThrow(`no rates were read from ${service.host}: ${problem}`)
  expect(await stored(app)).toEqual(before)
  expect(await rateFor(app.deps.db.read, 'EUR', '2026-01-07')).toEqual({ usdPerUnit: '1.25', day: '2026-01-06' })
  expect(warnings(app)).toEqual([{ level: 'warn', event: 'fx.no_rates', fields: { source: service.host, problem } }])
  service.says(ratesText({ EUR: 0.5 }))
  expect(await fetchRates(app.deps)).toEqual({ outcome: 'read', added: 1 })
})

test('an answer that does not come is given up, and so is a service that is not there', async () => {
  const never = Promise.withResolvers<Response>()
  await using service = rateService(() => never.promise)
  const patient = createSafeFetch({ allowedNetworks: [] })
  const patience: number[] = []
  await using app = await testApp(
    { FX_RATES_URL: service.url },
    {
      safeFetch: (url, options) => {
        patience.push(options.timeoutMs)
        return patient(url, { ...options, timeoutMs: patience.length === 1 ? 50 : 60_000 })
      },
    },
  )
  expect(await fetchRates(app.deps)).toMatchObject({ outcome: 'failed' })
  expect(warnings(app).at(-1)?.fields).toEqual({ source: service.host, problem: 'timeout' })
  expect(patience).toEqual([10_000])
  never.resolve(new Response())
  await service[Symbol.asyncDispose]()
  expect(await fetchRates(app.deps)).toMatchObject({ outcome: 'failed' })
  expect(warnings(app).at(-1)?.fields).toEqual({ source: service.host, problem: 'connection failed' })
  expect(JSON.stringify(app.logged)).not.toContain('zq9secret')
})

test('a failure that nobody foresaw is no answer, and its text, which may quote the URL, is not logged', async () => {
  await using app = await testApp(
    { FX_RATES_URL: 'https://rates.example/zq9secret' },
    { safeFetch: (url) => Promise.reject(new Error(`odd: ${url}`)) },
  )
  expect(await fetchRates(app.deps)).toMatchObject({ outcome: 'failed' })
  expect(warnings(app)).toEqual([{ level: 'warn', event: 'fx.no_rates', fields: { source: 'rates.example', problem: 'no answer' } }])
})

test('the rate of a day is the latest of that day or the seven before it; of the days after it only for what waited', async () => {
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
  const both = async (day: string) => [(await rateFor(db.read, 'EUR', day))?.usdPerUnit, (await rateNear(db.read, 'EUR', day))?.usdPerUnit]
  expect(await both('2025-12-24')).toEqual([undefined, undefined])
  expect(await both('2025-12-25')).toEqual([undefined, '1.1'])
  expect(await both('2026-01-01')).toEqual(['1.1', '1.1'])
  expect(await both('2026-01-02')).toEqual(['1.1', '1.1'])
  expect(await both('2026-01-03')).toEqual(['1.3', '1.3'])
  expect(await both('2026-01-10')).toEqual(['1.3', '1.3'])
  expect(await both('2026-01-11')).toEqual([undefined, undefined])
  expect(await both('2026-01-13')).toEqual([undefined, '1.2'])
  expect(await both('2026-01-27')).toEqual(['1.2', '1.2'])
  expect(await both('2026-01-28')).toEqual([undefined, undefined])
  expect(await rateFor(db.read, 'EUR', '2026-01-10')).toEqual({ usdPerUnit: '1.3', day: '2026-01-03' })
})
