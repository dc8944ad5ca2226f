/** Tests the metrics, the alerts and the dashboard that use them. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { eq } from 'drizzle-orm'
import { engine } from '../../../../db/columns.ts'
import { paymentMessages, refunds } from '../../../../db/schema/payments.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { promtool, runPromtool } from '../../../support/promtool.ts'
import { ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

let app: TestApp
let shop: Selling
beforeAll(async () => {
  app = await testApp()
  shop = await sellingIn(app, { onHand: 100 })
})
afterAll(() => app.close())

/** Reads the metrics, and their samples by series. */
async function scrape(): Promise<{ text: string; samples: Map<string, number> }> {
  const { text } = ok(await app.call('GET', '/metrics'))
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return { text, samples: new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))])) }
}
/** Returns the sum of a metric's series with these labels. */
const sumOf = (samples: ReadonlyMap<string, number>, name: string, ...labels: readonly string[]) =>
  [...samples]
    .filter(([series]) => series.startsWith(`${name}{`) && labels.every((label) => series.includes(label)))
    .reduce((sum, [, value]) => sum + value, 0)
const pay = async (paymentToken: string) => ok(await shop.checkout(await shop.cart(), { paymentToken }), 201).body.order

describe('figures', () => {
  test('all possible series exist from the start with 0, so that a first increase is visible', async () => {
    await using fresh = await testApp()
    const { text } = ok(await fresh.call('GET', '/metrics'))
    for (const series of [
      'souk_payments_total{processor="sandbox",method="card",mode="LIVE",result="declined"}',
      'souk_refunds_total{processor="sandbox",result="manual"}',
      'souk_refunds_total{processor="gift_card",result="failed"}',
    ])
      expect(text).toContain(`${series} 0\n`)
  })

  test('declined cards show in the series of the alert', async () => {
    for (let nth = 0; nth < 5; nth++) await pay('tok_decline')
    const { samples } = await scrape()
    const of = (result: string) => samples.get(`souk_payments_total{processor="sandbox",method="card",mode="TEST",result="${result}"}`)
    expect(['begun', 'declined', 'unanswered', 'captured', 'voided'].map(of)).toEqual([5, 5, 0, 0, 0])
    expect(samples.get('souk_order_moves_total{status="PENDING_PAYMENT"}')).toBe(5)
    expect(samples.get('souk_orders{status="PENDING_PAYMENT"}')).toBe(5)
  })

  test('payments, orders and refunds are counted by result once committed', async () => {
    const order = await pay('tok_success')
    await pay('tok_success')
    ok(await shop.refund(order.id))
    // The figure is counted on request and cached.
    const before = (await scrape()).samples
    expect(before.get('souk_orders{status="CONFIRMED"}')).toBe(0)
    app.clock.advance(15_000)
    const { samples } = await scrape()
    const sampleOf = (series: string) => samples.get(series)
    expect([
      sampleOf('souk_payments_total{processor="sandbox",method="card",mode="TEST",result="captured"}'),
      sampleOf('souk_refunds_total{processor="sandbox",result="begun"}'),
      sampleOf('souk_refunds_total{processor="sandbox",result="succeeded"}'),
      sampleOf('souk_refunds_total{processor="sandbox",result="failed"}'),
      sampleOf('souk_order_moves_total{status="CONFIRMED"}'),
      sampleOf('souk_orders{status="CONFIRMED"}'),
      sampleOf('souk_orders{status="PENDING_PAYMENT"}'),
      sampleOf('souk_webhook_messages_waiting'),
    ]).toEqual([2, 1, 1, 0, 2, 1, 5, 4])
    expect(sumOf(samples, 'souk_http_requests_total', 'route="/cart/:id/checkout"', 'status="201"')).toBe(7)
  })

  test('an interrupted sale is shown with its age and waiting time', async () => {
    const { orderStore, db, clock } = app.deps
    const order = await pay('tok_decline')
    await db.write((tx) => orderStore.change(tx, order.id, ['PENDING_PAYMENT'], { resumeAt: clock.now() }))
    app.clock.advance(120_000)
    const { samples } = await scrape()
    expect(samples.get('souk_sagas_unfinished{status="PENDING_PAYMENT"}')).toBe(1)
    expect(samples.get('souk_saga_oldest_age_seconds{status="PENDING_PAYMENT"}')).toBeGreaterThanOrEqual(120)
    expect(samples.get('souk_saga_overdue_seconds')).toBe(120)
  })

  test('unfinished refunds are shown by status with their age and delay', async () => {
    const order = await pay('tok_success')
    const refund = ok(await shop.refund(order.id)).body
    const { db, clock } = app.deps
    await db.write(
      async (tx) =>
        void (await tx
          .update(refunds)
          .set({ status: 'PENDING', createdAt: clock.now() - 60_000, resumeAt: clock.now() + 30_000 })
          .where(eq(refunds.id, refund.id))),
    )
    app.clock.advance(15_000)
    const waiting = (await scrape()).samples
    const of = (samples: typeof waiting) => [
      samples.get('souk_refunds_unfinished{status="PENDING"}'),
      samples.get('souk_refund_oldest_age_seconds{status="PENDING"}'),
      samples.get('souk_refund_overdue_seconds'),
    ]
    expect(of(waiting)).toEqual([1, 75, 0])
    app.clock.advance(45_000)
    expect(of((await scrape()).samples)).toEqual([1, 120, 30])
    await db.write(
      async (tx) => void (await tx.update(refunds).set({ status: 'SUCCEEDED', resumeAt: null }).where(eq(refunds.id, refund.id))),
    )
    app.clock.advance(15_000)
    expect(of((await scrape()).samples)).toEqual([undefined, undefined, 0])
  })

  test('processor messages that wait to be processed are counted', async () => {
    const { db, clock, newId } = app.deps
    const row = { processor: 'sandbox', accountId: 'instance', shopId: null, attempts: 0, receivedAt: clock.now(), resumeAt: clock.now() }
    await db.write(async (tx) => {
      for (const messageId of ['one', 'two']) await tx.insert(paymentMessages).values({ id: newId('paymentMessage'), messageId, ...row })
    })
    app.clock.advance(15_000)
    expect((await scrape()).samples.get('souk_payment_messages_waiting')).toBe(2)
    await db.write(async (tx) => void (await tx.delete(paymentMessages)))
    app.clock.advance(15_000)
    expect((await scrape()).samples.get('souk_payment_messages_waiting')).toBe(0)
  })

  test('log lines at level error are counted by event, and free disk space is shown with its minimum', async () => {
    await using other = await testApp({ DISK_FREE_MIN_MB: '100' }, { diskFree: () => 123_456_789 })
    other.deps.log.error('webhook.claim_failed')
    other.deps.log.error('webhook.claim_failed')
    other.deps.log.warn('webhook.given_up')
    const { text } = ok(await other.call('GET', '/metrics'))
    expect(text).toContain('souk_errors_total{event="webhook.claim_failed"} 2\n')
    expect(text).not.toContain('souk_errors_total{event="webhook.given_up"}')
    if (engine === 'sqlite') expect(text).toContain('souk_disk_free_bytes 123456789\n')
    expect(text).toContain(`souk_disk_free_min_bytes ${100 * 1024 * 1024}\n`)
  })

  test('commits are counted by duration and by the writes that shared them', async () => {
    const { samples } = await scrape()
    const commits = samples.get('souk_database_commits_total') ?? 0
    expect(commits).toBeGreaterThan(0)
    expect(samples.get('souk_database_commit_writes_sum')).toBe(samples.get('souk_database_writes_total') ?? -1)
    expect(samples.get('souk_database_commit_writes_count')).toBe(commits)
    expect(samples.get('souk_database_commit_duration_seconds_count')).toBeGreaterThanOrEqual(commits)
    expect(samples.get('souk_database_bytes')).toBeGreaterThan(0)
    expect(samples.get('process_cpu_seconds_total')).toBeGreaterThan(0)
    const pools = ['write', 'read'].map((pool) => samples.get(`souk_database_connections_max{pool="${pool}"}`))
    if (engine === 'postgres') for (const max of pools) expect(max).toBeGreaterThan(0)
    else expect(pools).toEqual([undefined, undefined])
  })

  test('dashboard and alerts use existing metrics, and the dashboard uses all', async () => {
    const { text } = await scrape()
    const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]))
    const read = (name: string) => readFileSync(new URL(`../../../../docs/${name}`, import.meta.url), 'utf8')
    const namedIn = (page: string) => {
      const named = [...read(page).matchAll(/(?<![\w-])(?:souk|process)_[a-z_]+/g)].map(([name]) => name)
      const base = (name: string) => name.replace(/_(?:bucket|sum|count)$/, '')
      return new Set(named.map((name) => (types.get(base(name)) === 'histogram' ? base(name) : name)))
    }
    for (const page of ['alerts.yaml', 'grafana-dashboard.json'])
      expect([page, [...namedIn(page)].filter((name) => !types.has(name))]).toEqual([page, []])
    const onDashboard = namedIn('grafana-dashboard.json')
    expect([...types.keys()].filter((name) => !onDashboard.has(name))).toEqual([])
  })

  test.skipIf(promtool === undefined)(
    'promtool finds nothing wrong with the metrics of an instance at work (PROMTOOL, or on the PATH)',
    async () => {
      const { text } = await scrape()
      expect(await runPromtool(['check', 'metrics'], text)).toEqual({ status: 0, output: '' })
    },
  )
})
