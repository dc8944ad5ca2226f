/**
 * Measures the resolver with its limit of sixty a minute: enough client addresses behind a trusted proxy that none is
 * limited.
 */
import { join } from 'node:path'
import type { Requests } from './load.ts'
import { type Child, figure, measureInTurn, print, report, reportSingle, residentMb, start, work } from './runs.ts'
import { seed } from './seed.ts'

/** Slightly fewer addresses than a process stores, and many more. */
const few = 9_000
const many = 1_000_000
const settings = {
  TRUSTED_PROXIES: '127.0.0.1',
  STRIPE_PUBLISHABLE_KEY: 'pk_test_bench',
  STRIPE_SECRET_KEY: 'sk_test_bench',
  PAYPAL_CLIENT_ID: 'bench',
  PAYPAL_SECRET: 'bench',
  PAYPAL_API_URL: 'https://api-m.sandbox.paypal.com',
}

export async function measureResolver(): Promise<void> {
  print('the resolver')
  const shop = await seed(join(work, 'resolver'), 10)
  const souk = await start('souk.ts', shop.dataDir, 'FULL', JSON.stringify(settings))
  const path = `/checkout/${shop.shopName}/payment-intent-resolver`
  const response = await fetch(souk.url + path)
  const etag = response.headers.get('etag') ?? ''
  const floor = await start('floor-resolver.ts', await response.text(), etag)
  const requestsFrom = (clients: number): Requests => ({ paths: [path], clients })
  const conditionalRequests = (at: string, clients: number): Requests => ({ paths: [at], etags: [etag], clients })
  const before = residentMb(souk.pid)

  const byFew = report(`resolver, ${figure(few)} addresses`, '≥ 0.80', await compare(souk, floor, requestsFrom(few), requestsFrom(few)))
  report(
    `resolver, 304, ${figure(few)} addresses`,
    '≥ 0.80',
    await compare(souk, floor, conditionalRequests(path, few), conditionalRequests(path, few)),
  )
  // For comparison only: a server that always returns 304 shows the cost of Bun itself.
  const alwaysNotModified = await compare(souk, floor, conditionalRequests(path, few), conditionalRequests('/smallest/1', few))
  report('resolver, 304, to a floor that ignores the request', '', alwaysNotModified)
  const warm = residentMb(souk.pid)
  const byMany = report(`resolver, ${figure(many)} addresses`, '≥ 0.80', await compare(souk, floor, requestsFrom(many), requestsFrom(many)))
  reportSingle(`resolver, ${figure(many)} to ${figure(few)} addresses`, (byMany / byFew).toFixed(2), '≥ 0.67')
  const memory = `${figure(before)} MB idle, ${figure(warm)} MB after ${figure(few)} addresses, ${figure(residentMb(souk.pid))} MB after ${figure(many)}`
  reportSingle('resident memory', memory, 'bounded: 10,000 addresses')
  await floor.stop()
  await souk.stop()
}

const compare = (souk: Child, floor: Child, ofSouk: Requests, ofFloor: Requests) =>
  measureInTurn(souk, floor, { souk: ofSouk, floor: ofFloor })
