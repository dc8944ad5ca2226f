import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { outbox, webhookEndpoints } from '../../../../db/schema/outbox.ts'
import { auditLog } from '../../../../db/schema/people.ts'
import { testApp } from '../../../support/app.ts'
import { longTestMs } from '../../../support/timeouts.ts'
import { deliver, deliveriesOf, enqueueEvent, loopbackAllowed, receiver, registerEndpoint } from '../../../support/webhooks.ts'

setDefaultTimeout(longTestMs)

const url = 'https://shop.example/hooks?a=1'
const secretPattern = /^whsec_[A-Za-z0-9+/]{43}=$/

const badUrls = [
  ...['ftp://shop.example/', 'file:///etc/passwd', 'shop.example', '//shop.example/', 'http:shop.example', 'http://', 'javascript:1', ''],
  ...['https://user:hunter2@shop.example/', 'https://user@shop.example/', `https://shop.example/${'x'.repeat(2030)}`],
  ...['http://127.0.0.1/', 'http://127.1/', 'http://2130706433/', 'http://0x7f000001/', 'http://0177.0.0.1/', 'http://127.0.0.1./'],
  ...['http://localhost/', 'http://LOCALHOST:80/', 'http://localhost./', 'http://a.localhost/', 'http://0.0.0.0/', 'http://[::]/'],
  ...['http://[::1]/', 'http://[::ffff:127.0.0.1]/', 'http://[::ffff:7f00:1]/', 'http://[::127.0.0.1]/', 'http://[64:ff9b::7f00:1]/'],
  ...['http://10.0.0.1/', 'http://172.16.0.1/', 'http://192.168.0.1/', 'http://169.254.169.254/latest', 'http://100.64.0.1/'],
  ...[
    'http://198.18.0.1/',
    'http://203.0.113.1/',
    'http://224.0.0.1/',
    'http://255.255.255.255/',
    'http://[fe80::1]/',
    'http://[fc00::1]/',
  ],
  ...['http://[ff02::1]/', 'http://[2001:db8::1]/', 'http://[2002:7f00:1::]/'],
  ...[
    'http://shop.example:22/',
    'https://shop.example:25/',
    'http://8.8.8.8:53/',
    'https://shop.example:6379/hook',
    'http://shop.example:5432/',
  ],
]

describe('a webhook endpoint', () => {
  test('a webhook endpoint is created by a merchant or secret key, without duplicate events, and audited', async () => {
    await using app = await testApp()
    const shop = await app.merchant()
    const events = ['order.refunded', 'order.confirmed', 'order.refunded']
    for (const rogue of ['id', 'secret'])
      expect((await app.call('POST', '/webhook-endpoints', { key: shop.secretKey, body: { url, events, [rogue]: 'mine' } })).status).toBe(
        400,
      )
    const created = await app.call('POST', '/webhook-endpoints', { key: shop.secretKey, body: { url, events } })
    expect(created.status).toBe(201)
    expect(created.headers.get('cache-control')).toBe('no-store')
    expect(created.body).toEqual({
      id: expect.stringMatching(/^whe_[0-9a-z]{26}$/),
      shopId: shop.shop.id,
      url,
      events: ['order.refunded', 'order.confirmed'],
      createdAt: '2026-01-06T12:00:00.000Z',
      failingSince: null,
      disabledAt: null,
      disabledReason: null,
      skipped: 0,
      skippedAt: null,
      secret: expect.stringMatching(secretPattern),
    })
    const second = await app.call('POST', '/webhook-endpoints', { token: shop.token, body: { url, events: ['order.fulfilled'] } })
    expect(second.status).toBe(201)
    expect(second.body.secret).not.toBe(created.body.secret)
    const rows = await app.deps.db.read.select().from(auditLog)
    expect(rows.filter(({ action }) => action === 'webhook_endpoint.created').map(({ subject, shopId }) => [subject, shopId])).toEqual(
      expect.arrayContaining([created.body, second.body].map(({ id }) => [id, shop.shop.id])),
    )
  })

  test('a webhook secret is shown once and sealed in the database', async () => {
    await using app = await testApp()
    const shop = await app.merchant()
    const { id, secret } = await registerEndpoint(app, shop, url)
    const one = await app.call('GET', `/webhook-endpoints/${id}`, { key: shop.secretKey })
    const list = await app.call('GET', '/webhook-endpoints', { key: shop.secretKey })
    expect(one.body).toEqual({
      id,
      shopId: shop.shop.id,
      url,
      events: ['order.confirmed'],
      createdAt: '2026-01-06T12:00:00.000Z',
      failingSince: null,
      disabledAt: null,
      disabledReason: null,
      skipped: 0,
      skippedAt: null,
    })
    expect(list.body).toEqual({ data: [one.body], page: 1, limit: 20, total: 1, pages: 1 })
    const [row] = await app.deps.db.read.select().from(webhookEndpoints)
    expect(JSON.stringify(row)).not.toContain(secret.slice('whsec_'.length))
    expect(row?.sealedSecret).toMatch(/^[0-9a-f]{8}\.[\w-]+$/)
    expect(JSON.stringify(app.logged)).not.toContain(secret)
  })

  test('a repeated idempotency key creates a webhook endpoint once and replays the response', async () => {
    await using app = await testApp()
    const shop = await app.merchant()
    const create = () =>
      app.call('POST', '/webhook-endpoints', {
        key: shop.secretKey,
        body: { url, events: ['order.confirmed'] },
        headers: { 'idempotency-key': 'k' },
      })
    const first = await create()
    expect((await create()).body).toEqual(first.body)
    expect((await app.call('GET', '/webhook-endpoints', { key: shop.secretKey })).body.total).toBe(1)
  })

  test('a removed webhook endpoint is not listed or found, and cannot be removed again', async () => {
    await using app = await testApp()
    const shop = await app.merchant()
    const { id } = await registerEndpoint(app, shop, url)
    const removed = await app.call('DELETE', `/webhook-endpoints/${id}`, { key: shop.secretKey })
    expect([removed.status, removed.text]).toEqual([204, ''])
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/deliveries'],
      ['DELETE', ''],
    ] as const)
      expect((await app.call(method, `/webhook-endpoints/${id}${path}`, { key: shop.secretKey })).status).toBe(404)
    expect((await app.call('GET', '/webhook-endpoints', { key: shop.secretKey })).body.total).toBe(0)
    const actions = (await app.deps.db.read.select().from(auditLog)).filter(({ subject }) => subject === id).map(({ action }) => action)
    expect(actions.sort()).toEqual(['webhook_endpoint.created', 'webhook_endpoint.removed'])
  })

  test('a webhook endpoint of another shop gets the same response as one that does not exist, and stays', async () => {
    await using app = await testApp()
    const shop = await app.merchant()
    const other = await app.merchant()
    const { id } = await registerEndpoint(app, shop, url)
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/deliveries'],
      ['DELETE', ''],
    ] as const) {
      const foreign = await app.call(method, `/webhook-endpoints/${id}${path}`, { key: other.secretKey })
      const absent = await app.call(method, `/webhook-endpoints/whe_none${path}`, { key: other.secretKey })
      expect(foreign.status).toBe(404)
      expect(foreign.body).toEqual(absent.body)
      expect(foreign.text).not.toContain('shop.example')
    }
    expect((await app.call('GET', '/webhook-endpoints', { key: other.secretKey })).body.total).toBe(0)
    expect((await app.call('GET', `/webhook-endpoints/${id}`, { key: shop.secretKey })).status).toBe(200)
  })

  test('a shop has at most twenty webhook endpoints, and removing one allows another', async () => {
    await using app = await testApp()
    const shop = await app.merchant()
    const body = { url, events: ['order.confirmed'] }
    const created = await Promise.all(
      Array.from({ length: 25 }, () => app.call('POST', '/webhook-endpoints', { key: shop.secretKey, body })),
    )
    expect(created.filter(({ status }) => status === 201)).toHaveLength(20)
    const refused = created.filter(({ status }) => status === 409)
    expect(refused).toHaveLength(5)
    expect(refused[0]?.text).not.toContain('whsec_')
    await registerEndpoint(app, await app.merchant(), url)
    const id = created.find(({ status }) => status === 201)?.body.id
    await app.call('DELETE', `/webhook-endpoints/${id}`, { key: shop.secretKey })
    await registerEndpoint(app, shop, url)
    const page = await app.call('GET', '/webhook-endpoints?page=3&limit=8', { key: shop.secretKey })
    expect([page.body.data.length, page.body.total, page.body.pages]).toEqual([4, 20, 3])
  })

  test('a webhook endpoint needs at least one event, and only known ones', async () => {
    await using app = await testApp()
    const shop = await app.merchant()
    for (const events of [
      undefined,
      [],
      ['order.paid'],
      ['order.confirmed', 'x'],
      'order.confirmed',
      [null],
      Array(21).fill('order.confirmed'),
    ]) {
      const refused = await app.call('POST', '/webhook-endpoints', { key: shop.secretKey, body: { url, events } })
      expect([events, refused.status]).toEqual([events, 400])
      expect(refused.body.message).toContain('events')
    }
  })

  test('a webhook URL must be http or https without credentials, private addresses or ports of other services', async () => {
    await using app = await testApp()
    const shop = await app.merchant()
    for (const address of badUrls) {
      const body = { url: address, events: ['order.confirmed'] }
      const refused = await app.call('POST', '/webhook-endpoints', { key: shop.secretKey, body })
      expect([address, refused.status]).toEqual([address, 400])
      expect(refused.body.message).toContain('url')
      if (address.length > 20) expect(refused.text).not.toContain(address.slice(8))
      expect(refused.text).not.toContain('hunter2')
    }
    expect(await app.deps.db.read.select().from(webhookEndpoints)).toEqual([])
  })

  test('a webhook URL may use a network that the operator allows, and no other private one', async () => {
    await using app = await testApp(loopbackAllowed)
    const shop = await app.merchant()
    for (const address of ['http://127.0.0.1:8080/', 'http://localhost/', 'http://[::ffff:127.0.0.1]/'])
      await registerEndpoint(app, shop, address)
    const body = { url: 'http://10.0.0.1/', events: ['order.confirmed'] }
    expect((await app.call('POST', '/webhook-endpoints', { key: shop.secretKey, body })).status).toBe(400)
  })

  test('a webhook URL may be a public address or any host name', async () => {
    await using app = await testApp()
    const shop = await app.merchant()
    for (const address of ['http://8.8.8.8/', 'https://[2606:4700:4700::1111]:8443/x', 'http://internal.example/', 'HTTPS://Shop.Example'])
      await registerEndpoint(app, shop, address)
  })

  test('webhook endpoints refuse callers without credentials, customers and publishable keys', async () => {
    await using app = await testApp()
    const shop = await app.merchant()
    const { id } = await registerEndpoint(app, shop, url)
    for (const [method, path] of [
      ['POST', ''],
      ['GET', ''],
      ['GET', `/${id}`],
      ['DELETE', `/${id}`],
      ['GET', `/${id}/deliveries`],
    ] as const) {
      const body = method === 'POST' ? { url, events: ['order.confirmed'] } : undefined
      const anonymous = await app.call(method, `/webhook-endpoints${path}`, { body })
      const browser = await app.call(method, `/webhook-endpoints${path}`, { body, key: shop.publishableKey })
      expect([method, path, anonymous.status, browser.status]).toEqual([method, path, 401, 403])
      expect(anonymous.text + browser.text).not.toContain('shop.example')
    }
    expect(await app.deps.db.read.select().from(webhookEndpoints)).toHaveLength(1)
  })
})

describe('the deliveries of a webhook endpoint', () => {
  test('the deliveries of a webhook endpoint are listed newest first in pages, without message bodies', async () => {
    await using app = await testApp(loopbackAllowed)
    await using server = receiver()
    const shop = await app.merchant()
    const endpoint = await registerEndpoint(app, shop, server.url)
    for (const key of ['one', 'two', 'three']) {
      await enqueueEvent(app, shop, key, { data: { note: 'personal-data' } })
      app.clock.advance(1_000)
      await deliver(app)
    }
    const messages = await app.deps.db.read.select().from(outbox)
    const ids = ['three', 'two', 'one'].map((key) => messages.find((message) => message.key === key)?.id)
    const all = await deliveriesOf(app, shop, endpoint)
    expect(all.map(({ messageId }) => messageId)).toEqual(ids as string[])
    expect(all[2]).toEqual({
      id: expect.stringMatching(/^dlv_[0-9a-z]{26}$/) as unknown as string,
      messageId: ids[2] as string,
      event: 'order.confirmed',
      status: 'DELIVERED',
      attempts: 1,
      nextAttemptAt: null,
      lastStatus: 204,
      lastError: null,
      createdAt: '2026-01-06T12:00:01.000Z',
      updatedAt: '2026-01-06T12:00:01.000Z',
    })
    const page = await app.call('GET', `/webhook-endpoints/${endpoint.id}/deliveries?page=2&limit=2`, { token: shop.token })
    expect(page.body).toEqual({ data: [all[2]], page: 2, limit: 2, total: 3, pages: 2 })
    expect(page.text).not.toContain('personal-data')
    expect((await app.call('GET', `/webhook-endpoints/${endpoint.id}/deliveries?page=0`, { token: shop.token })).status).toBe(400)
  })
})
