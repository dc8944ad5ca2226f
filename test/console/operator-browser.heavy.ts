/** Tests an operator's screens in a browser: figures, rankings, shops, jobs, processors, chains and backups. */
import { expect, setDefaultTimeout } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { consoleTests } from '../support/console-tests.ts'
import { temporaryDir } from '../support/database.ts'
import { ok, sellingIn } from '../support/selling.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const evil = '\u202eA "><img src=x onerror=alert(1)> <b>bold</b> ='
const long = (length: number) => (evil.slice(1) + 'W'.repeat(length)).slice(0, length)

/** The result of the next run of the tests' job. */
let outcome: { result: 'OK' } | { result: 'FAILED'; error: Error } = { result: 'OK' }

const { test } = consoleTests({
  settings: { CHAINS: JSON.stringify([{ chainId: 8453, rpc: ['http://127.0.0.1:9/key'] }]) },
  fill: async ({ app }) => {
    const selling = await sellingIn(app, { onHand: 1_000 })
    ok(await selling.post('/affiliates', { name: 'Partner', code: 'partner', rateBps: 1_000 }))
    const order = await selling.placeOrder({ quantity: 3, affiliateCode: 'partner' })
    await selling.placeOrder({ quantity: 1 })
    ok(await selling.refund(order.id, { amount: selling.money(1_000) }))
    ok(await selling.patch(`/product-v2/${selling.productId}`, { title: long(255) }))
    await app.deps.jobRunner.start([{ name: 'forget', perform: async () => outcome }])
    return { selling, operator: await app.superAdmin() }
  },
})

test('six figures link to their pages, and the links keep the period', async ({ open, data: { operator } }) => {
  const visitor = await open({ as: operator, at: 'net' })
  await visitor.heading('Analytics')
  for (const name of ['Gross sales (USD)', 'Orders', 'Sign-ups', 'Verified shops', 'Products created', 'Refund rate'])
    await visitor.there(name, { role: 'link' })
  await visitor.text('$40.00')
  await visitor.text('25%')
  expect(await visitor.axe()).toEqual([])
  await visitor.keyPress('Last 90 days', { role: 'link' })
  await visitor.keyPress('Refund rate', { role: 'link' })
  await visitor.heading('Refund rate')
  expect(await visitor.path()).toBe('/console/net/figures/refund-rate?days=90')
  await visitor.there('Test payments (sandbox)', { role: 'rowheader' })
  await visitor.keyPress('Show as table')
  await visitor.there('Date', { role: 'columnheader' })
  expect(await visitor.axe()).toEqual([])
  await visitor.back()
  await visitor.heading('Analytics')
  expect(await visitor.path()).toBe('/console/net?days=90')
})

test('a custom period is in the URL, and one that is too long shows souk’s error', async ({ open, data: { operator } }) => {
  const visitor = await open({ as: operator, at: 'net/figures/gmv', width: 'phone', scheme: 'dark' })
  await visitor.heading('Gross sales (USD)')
  await visitor.press('Custom', { role: 'link' })
  await visitor.fill('From', '2026-01-01')
  await visitor.fill('To', '2026-02-01')
  await visitor.text('Jan 1, 2026 – Feb 1, 2026')
  expect(await visitor.path()).toBe('/console/net/figures/gmv?from=2026-01-01&to=2026-02-01')
  expect(await visitor.axe()).toEqual([])
  visitor.expects('GET /admin/dashboard/gmv?startDate=2020-01-01&endDate=2026-02-01&mode=TEST 400')
  await visitor.fill('From', '2020-01-01')
  await visitor.text('must be within 365 days of startDate')
  await visitor.text('Request ')
})

test('shown data is downloaded as CSV, from souk and from the page', async ({ open, data: { operator } }) => {
  const folder = temporaryDir()
  const visitor = await open({ as: operator, at: 'net/figures/refund-rate' })
  await visitor.heading('Refund rate')
  await visitor.downloadsTo(folder)
  const downloaded = async (start: string) => {
    for (let looks = 0; looks < 200; looks++) {
      const name = readdirSync(folder).find((one) => one.startsWith(start) && one.endsWith('.csv'))
      if (name) return readFileSync(join(folder, name), 'utf8')
      await Bun.sleep(25)
    }
    throw new Error(`no ${start}: ${readdirSync(folder)}`)
  }
  await visitor.keyPress('Export breakdown CSV')
  expect(await downloaded('refund-rate-parts')).toBe('part,refundedUsd,confirmedUsd,rate\r\nsandbox,10,40,0.25\r\n')
  await visitor.keyPress('Export daily CSV', { back: true })
  expect(await downloaded('refund-rate-2')).toMatch(/^date,value\r?\n2/)
})

test('an unknown figure shows a message and a link back', async ({ open, data: { operator } }) => {
  const visitor = await open({ as: operator, at: 'net/figures/constructor' })
  await visitor.heading('Page not found')
  await visitor.keyPress('Analytics', { role: 'link' })
  await visitor.heading('Analytics')
})

test('affiliates are ranked by shop and by product, whatever their names', async ({ open, data: { operator, selling } }) => {
  const visitor = await open({ as: operator, at: 'net/rankings', width: 'phone' })
  await visitor.heading('Affiliate sales')
  await visitor.there(selling.shop.name, { role: 'link' })
  await visitor.text('$30.00')
  expect(await visitor.axe()).toEqual([])
  await visitor.press('Products', { role: 'link', within: 'Rank by' })
  await visitor.text('bold')
  expect(await visitor.axe()).toEqual([])
  await visitor.fill('Rows', '100')
  expect(await visitor.path()).toBe('/console/net/rankings?top=products&limit=100')
  await visitor.press(selling.shop.name, { role: 'link' })
  await visitor.heading('Shops')
  expect(await visitor.path()).toBe(`/console/net/shops?q=${selling.shop.name}`)
})

test('a shop is found, suspended and restored by keyboard, and a concurrent change is shown', async ({ open, app, data: { operator } }) => {
  const merchant = await app.merchant()
  const title = long(200)
  ok(await app.call('PATCH', '/shops/v2', { token: merchant.token, body: { title, description: `${'x'.repeat(2_000)}\n${evil}` } }))
  const path = `/admin/shops/${merchant.shop.id}`
  const status = async () => ok(await app.call('GET', path, { token: operator.token })).body.status
  const visitor = await open({ as: operator, at: 'net/shops' })
  await visitor.keyFill('Search by name, handle or ID', merchant.shop.id, { role: 'searchbox' })
  await visitor.text('1 result')
  expect(await visitor.axe()).toEqual([])
  await visitor.tabTo(/bold/, { role: 'link' })
  await visitor.key('Enter')
  await visitor.heading(/bold/)
  expect(await visitor.path()).toBe(`/console/net/shops/${merchant.shop.id}`)
  await visitor.width('phone')
  expect(await visitor.axe()).toEqual([])
  await visitor.keyPress('Suspend', { role: 'button' })
  await visitor.text('No new orders or payments.')
  await visitor.text('Payments in progress, refunds and fulfilment.')
  expect(await visitor.axe()).toEqual([])
  await visitor.key('Escape')
  expect(await status()).toBe('ACTIVE')
  await visitor.keyPress('Suspend', { role: 'button' })
  await visitor.there(/^Suspend /, { role: 'dialog' })
  await visitor.keyPress('Suspend', { role: 'button' })
  await visitor.text('This shop is suspended')
  expect(await status()).toBe('SUSPENDED')
  await visitor.there('Undo', { role: 'button' })
  // On a phone, toasts are at the top, and elements beside them can be pressed.
  expect(await visitor.page.evaluate(`document.querySelector('.toast').getBoundingClientRect().bottom < innerHeight / 2`)).toBe(true)
  expect(await visitor.page.evaluate(`getComputedStyle(document.querySelector('.toasts')).pointerEvents`)).toBe('none')
  // Another user restores and changes it; this page does not know.
  ok(await app.call('PATCH', '/shops/v2', { token: merchant.token, body: { title: 'Other' } }))
  visitor.expects(`PATCH ${path} 412`)
  await visitor.keyPress('Reactivate', { role: 'button' })
  await visitor.there(/^Reactivate /, { role: 'dialog' })
  await visitor.keyPress('Reactivate', { role: 'button' })
  await visitor.there('Someone else changed this', { role: 'dialog' })
  await visitor.keyPress('Overwrite with mine', { role: 'button' })
  await visitor.text('reactivated')
  expect(await status()).toBe('ACTIVE')
  // Undo would now revert another suspension, so it is no longer offered.
  expect(await visitor.all('button')).not.toContain('Undo')
})

test('a job is run, its progress is shown until it ends, and a failure shows the reason', async ({ open, data: { operator } }) => {
  outcome = { result: 'FAILED', error: new Error(`the disk is full ${evil}${'W'.repeat(400)}`) }
  const visitor = await open({ as: operator, at: 'net/jobs' })
  await visitor.heading('Background jobs')
  await visitor.keyPress('Run now: forget', { role: 'button' })
  // The button is disabled while the job runs, and keeps the focus.
  await visitor.keyboardAt('Run now: forget', { role: 'button' })
  await visitor.text('the disk is full')
  await visitor.text('1 job failed on its last run:')
  expect(await visitor.axe()).toEqual([])
  await visitor.width('phone')
  await visitor.scheme('dark')
  expect(await visitor.axe()).toEqual([])
  outcome = { result: 'OK' }
  await visitor.press('Run now: forget', { role: 'button' })
  await visitor.gone('the disk is full')
  await visitor.text('Succeeded')
  await visitor.press(/^1 earlier run\s+forget$/)
  await visitor.text('the disk is full')
  expect(await visitor.axe()).toEqual([])
})

test('a processor is isolated after a confirmation, and restored without one', async ({ open, app, data: { operator } }) => {
  const visitor = await open({ as: operator, at: 'net/breakers', width: 'phone' })
  await visitor.heading('Processor health')
  const isolated = async () =>
    ok(await app.call('GET', '/admin/operations/breakers', { token: operator.token })).body.data.filter(
      ({ isolatedAt }: { isolatedAt: string | null }) => isolatedAt !== null,
    ).length
  const first = 'Pause Stripe'
  await visitor.keyPress(first, { role: 'button' })
  await visitor.there(first, { role: 'dialog' })
  await visitor.keyPress('Pause', { role: 'button' })
  await visitor.there(/^Paused since/)
  expect(await isolated()).toBe(1)
  expect(await visitor.axe()).toEqual([])
  await visitor.press('Undo', { role: 'button' })
  await visitor.gone('Paused since')
  expect(await isolated()).toBe(0)
})

test('an old response of a provider is shown as outdated, and titles from providers are text', async ({
  open,
  app,
  data: { operator },
}) => {
  const { statusCaches } = app.deps
  const before = { ...statusCaches }
  const asOf = '2026-01-06T12:00:00.000Z'
  const staleStatus = (...items: unknown[]) => ({ show: async () => ({ asOf, stale: true, items }) as never })
  Object.assign(statusCaches, {
    services: {
      ...statusCaches.services,
      ...staleStatus({ service: evil, desired: 2, running: 1, pending: 0, revision: 'W'.repeat(300), state: 'degraded' }),
    },
    errors: {
      ...statusCaches.errors,
      ...staleStatus({ project: evil, events: 3, unresolved: 1, top: [{ id: 'e1', title: long(3_000), count: 3, lastSeen: asOf }] }),
    },
    deploys: {
      ...statusCaches.deploys,
      ...staleStatus({
        ...{ service: 'souk', environment: 'production', revision: '1', deployedAt: asOf },
        change: { sha: 'abc', title: evil, author: evil, url: 'javascript:alert(1)' },
      }),
    },
  })
  try {
    const visitor = await open({ as: operator, at: 'net/operations' })
    await visitor.heading('System status')
    await visitor.text('Degraded')
    await visitor.text('Errors (last 24 hours)')
    // Each of the three loads separately.
    await visitor.settled()
    expect((await visitor.page.evaluate(`document.body.innerText.match(/Outdated: last update/g).length`)) as number).toBe(3)
    expect(await visitor.page.evaluate(`document.querySelectorAll('a[href^="javascript"]').length`)).toBe(0)
    expect(await visitor.axe()).toEqual([])
    await visitor.width('phone')
    await visitor.scheme('dark')
    expect(await visitor.axe()).toEqual([])
  } finally {
    Object.assign(statusCaches, before)
  }
})

test('the state of chains and backups is shown, also in Arabic on a phone', async ({ open, data: { operator } }) => {
  const visitor = await open({ as: operator, at: 'net/chains', language: 'ar', width: 'phone' })
  await visitor.text('8453')
  await visitor.text('127.0.0.1:9')
  expect(await visitor.page.evaluate('document.documentElement.dir')).toBe('rtl')
  expect(await visitor.axe()).toEqual([])
  for (const at of ['net/backups', 'net', 'net/rankings', 'net/shops', 'net/jobs']) {
    await visitor.go(at)
    await visitor.heading(/./)
    await visitor.settled()
    expect([at, await visitor.axe()]).toEqual([at, []])
  }
})

test('a requested backup is not requested again while it is awaited', async ({ open, data: { operator } }) => {
  const visitor = await open({ as: operator, at: 'net/backups' })
  await visitor.heading('Backups')
  const requestedBackups = () => visitor.requests().filter((one) => one.startsWith('POST /admin/operations/jobs/back-up/run'))
  await visitor.keyPress('Back up now', { role: 'button' })
  await visitor.text('Backup started')
  await visitor.key('Enter')
  await visitor.keyboardAt('Back up now', { role: 'button' })
  await visitor.until(`document.activeElement.getAttribute('aria-busy') === 'true'`, 'a button that waits')
  expect(requestedBackups()).toHaveLength(1)
})

test('the page stops waiting for a backup that an earlier attempt requested and that has ended', async ({ open, data: { operator } }) => {
  const visitor = await open({ as: operator, at: 'net/backups' })
  // Shortens the polling interval from a minute to half a second. The first response is lost, and a backup ends.
  const source = `{
    const [often, before] = [setInterval, fetch]
    globalThis.setInterval = (what, ms, ...given) => often(what, ms === 60_000 ? 500 : ms, ...given)
    let ended = 0
    globalThis.fetch = async (request, ...more) => {
      const path = new URL(request.url ?? request, location.origin).pathname
      const answer = await before(request, ...more)
      if (path.endsWith('/backups')) return answer.json().then((body) => Response.json({ ...body, failures: body.failures + ended }))
      if (!path.endsWith('/back-up/run') || ended > 0) return answer
      ended = 7
      throw new TypeError('lost')
    }
  }`
  await visitor.page.command('Page.addScriptToEvaluateOnNewDocument', { source })
  await visitor.reload()
  await visitor.press('Back up now', { role: 'button' })
  await visitor.text('may or may not have been saved')
  const failures = `[...document.querySelectorAll('dd')].some(({ innerText }) => innerText === '7')`
  await visitor.until(failures, 'what has ended since')
  await visitor.press('Back up now', { role: 'button' })
  await visitor.text('Already done by an earlier attempt')
  await visitor.settled()
  expect(await visitor.has('In progress')).toBe(false)
})

test('the figures update by themselves when an order is confirmed', async ({ open, data: { operator, selling } }) => {
  const visitor = await open({ as: operator, at: 'net/figures/confirmed-orders' })
  await visitor.heading('Orders')
  await visitor.there('Live updates on', { role: 'image' })
  const total = `[...document.querySelectorAll('.figure strong')].map(({ innerText }) => innerText).join()`
  await visitor.until(`${total} !== ''`, 'the figure')
  const before = Number(await visitor.page.evaluate(total))
  await selling.placeOrder({ quantity: 1 })
  await visitor.until(`${total} === '${before + 1}'`, 'one order more')
})

test('figures, rankings and backups are polled without events, and show their age', async ({ open, data: { operator } }) => {
  const visitor = await open({ as: operator, at: 'net' })
  await visitor.heading('Analytics')
  // Shortens the polling interval from a minute to half a second.
  const source = `{ const often = setInterval; globalThis.setInterval = (what, ms, ...given) => often(what, ms === 60_000 ? 500 : ms, ...given) }`
  await visitor.page.command('Page.addScriptToEvaluateOnNewDocument', { source })
  for (const [at, path] of [
    ['net', '/admin/dashboard/created-products'],
    ['net/rankings', '/admin/affiliate/top-merchants'],
    ['net/backups', '/admin/operations/backups'],
  ] as const) {
    await visitor.go(at)
    await visitor.text('As of')
    const reads = async () => (await visitor.requests()).filter((one) => one.includes(path)).length
    const before = await reads()
    for (let tries = 0; tries < 600 && (await reads()) < before + 2; tries++) await Bun.sleep(50)
    expect([at, (await reads()) >= before + 2]).toEqual([at, true])
  }
})
