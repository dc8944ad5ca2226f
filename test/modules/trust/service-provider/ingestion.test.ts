/** Tests messages of service providers, signed by the library of Standard Webhooks. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { ingestions } from '../../../../db/schema/trust.ts'
import { system } from '../../../../src/core/command-context.ts'
import { dayMs } from '../../../../src/lib/day.ts'
import { startSession } from '../../../../src/modules/identity/auth/service.ts'
import { countSealed, findFaultySeals } from '../../../../src/modules/identity/master-key/index.ts'
import { emptyOldMessages } from '../../../../src/modules/trust/service-provider/index.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { ok } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'
import { signatureHeaders, signingProviderIn } from '../../../support/trust.ts'

setDefaultTimeout(longTestMs)

const message = JSON.stringify({ kind: 'parcel.arrived', subject: 'mer_1', observations: 3 })
const minute = 60_000
type Sent = { secret: string; id?: string; at?: number; body?: string; headers?: Record<string, string>; prefix?: string }

const send = (app: TestApp, to: string, { secret, id = 'msg_1', at = app.clock.now(), body = message, headers = {}, prefix = '' }: Sent) =>
  app.call('POST', `${prefix}/webhooks/ingestion/${to}`, {
    raw: body,
    headers: { 'content-type': 'application/json', ...signatureHeaders(secret, id, at, body), ...headers },
  })
const countersOf = async (app: TestApp, token: string, id: string) => {
  const { successfulIngestionCount, lastSuccessfulIngestionAt } = (await app.call('GET', `/admin/service-providers/${id}`, { token })).body
  return [successfulIngestionCount, lastSuccessfulIngestionAt]
}
const stored = ({ deps }: TestApp) => deps.db.read.select().from(ingestions)

test('a message is 202 once stored, and a repeated id gets the same response and counts once', async () => {
  await using app = await testApp()
  const { token } = await app.superAdmin()
  const { id, webhookSecret: secret } = await signingProviderIn(app, token)
  const etag = (await app.call('GET', `/admin/service-providers/${id}`, { token })).headers.get('etag')
  expect(await countersOf(app, token, id)).toEqual([0, null])
  const first = await send(app, id, { secret })
  expect([first.status, first.body]).toEqual([202, { received: true }])
  const at = new Date(app.clock.now()).toISOString()
  app.clock.advance(minute)
  for (const repeated of [await send(app, id, { secret }), await send(app, id, { secret, body: '{"another":1}' })])
    expect([repeated.status, repeated.text]).toEqual([202, first.text])
  expect(await countersOf(app, token, id)).toEqual([1, at])
  expect(await stored(app)).toMatchObject([{ serviceProviderId: id, webhookId: 'msg_1', payload: message }])
  ok(await send(app, id, { secret, id: 'msg_2', prefix: '/api/v3' }), 202)
  expect(await countersOf(app, token, id)).toEqual([2, new Date(app.clock.now()).toISOString()])
  // The count does not raise the version, so messages do not conflict with changes of the record.
  expect((await app.call('GET', `/admin/service-providers/${id}`, { token })).headers.get('etag')).toBe(etag)
})

test('the body of an expired message is removed, but its id stays and counts once', async () => {
  await using app = await testApp({ INGESTION_RETENTION_DAYS: '2' })
  const { token } = await app.superAdmin()
  const { id, webhookSecret: secret } = await signingProviderIn(app, token)
  const now = app.clock.now()
  const old = Array.from({ length: 501 }, (_, nth) => ({
    serviceProviderId: id,
    webhookId: `old_${nth}`,
    receivedAt: now - nth,
    payload: message,
  }))
  await app.deps.db.write((tx) => tx.insert(ingestions).values(old))
  app.clock.advance(dayMs)
  ok(await send(app, id, { secret }), 202)
  app.clock.advance(dayMs)
  const unemptied = async () => (await stored(app)).filter(({ payload }) => payload !== '').map(({ webhookId }) => webhookId)
  await emptyOldMessages(app.deps)
  // The newest of the old messages is exactly two days old, so it stays.
  expect((await unemptied()).sort()).toEqual(['msg_1', 'old_0'])
  app.clock.advance(dayMs)
  await emptyOldMessages(app.deps)
  expect(await unemptied()).toEqual(['msg_1'])
  app.clock.advance(1)
  await emptyOldMessages(app.deps)
  expect(await stored(app)).toHaveLength(502)
  expect(await unemptied()).toEqual([])
  ok(await send(app, id, { secret }), 202)
  expect((await app.deps.serviceProviderStore.find(id))?.successfulIngestionCount).toBe(1)
  expect(await stored(app)).toHaveLength(502)
})

test('a message sent many times concurrently counts once, and different ones count each', async () => {
  await using app = await testApp()
  const { token } = await app.superAdmin()
  const { id, webhookSecret: secret } = await signingProviderIn(app, token)
  const same = await Promise.all(Array.from({ length: 12 }, () => send(app, id, { secret })))
  expect(same.map(({ status }) => status)).toEqual(Array(12).fill(202))
  expect((await countersOf(app, token, id))[0]).toBe(1)
  await Promise.all(Array.from({ length: 12 }, (_, nth) => send(app, id, { secret, id: `other_${nth}` })))
  expect((await countersOf(app, token, id))[0]).toBe(13)
  expect(await stored(app)).toHaveLength(13)
})

test('a bad signature or time, a missing header and an unknown provider get one response, and nothing is stored', async () => {
  await using app = await testApp()
  const { token } = await app.superAdmin()
  const [one, two] = [await signingProviderIn(app, token), await signingProviderIn(app, token)]
  const secret = one.webhookSecret
  const now = app.clock.now()
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signature } = signatureHeaders(secret, 'msg_1', now, message)
  const sendBare = (headers: Record<string, string | undefined>) =>
    app.call('POST', `/webhooks/ingestion/${one.id}`, {
      raw: message,
      headers: { 'content-type': 'application/json', ...(headers as Record<string, string>) },
    })
  const refused = [
    await send(app, one.id, { secret: two.webhookSecret }),
    await send(app, two.id, { secret }),
    await send(app, one.id, { secret, at: now - 5 * minute - 1_000 }),
    await send(app, one.id, { secret, at: now + 5 * minute + 1_000 }),
    await send(app, one.id, { secret, headers: { 'webhook-id': 'msg_2' } }),
    await send(app, `prov_${'0'.repeat(26)}`, { secret }),
    await send(app, 'x', { secret }),
    await send(app, 'x'.repeat(65), { secret }),
    await sendBare({}),
    await sendBare({ 'webhook-id': id, 'webhook-timestamp': time }),
    await sendBare({ 'webhook-id': id, 'webhook-signature': signature }),
    await sendBare({ 'webhook-timestamp': time, 'webhook-signature': signature }),
    await send(app, one.id, { secret: two.webhookSecret, body: 'no json' }),
  ]
  for (const [nth, answer] of refused.entries()) expect([nth, answer.status, answer.text]).toEqual([nth, 401, refused[0]?.text ?? ''])
  expect(await stored(app)).toEqual([])
  for (const at of [now - 5 * minute, now + 5 * minute]) ok(await send(app, one.id, { secret, at, id: `msg_${at}` }), 202)
})

test('a message of an inactive provider is 403 with a valid signature and 401 without', async () => {
  await using app = await testApp()
  const { token } = await app.superAdmin()
  const { id, webhookSecret: secret } = await signingProviderIn(app, token, {}, 'PENDING_REVIEW')
  const otherSecret = (await signingProviderIn(app, token)).webhookSecret
  const statuses = async () => [(await send(app, id, { secret })).status, (await send(app, id, { secret: otherSecret })).status]
  expect(await statuses()).toEqual([403, 401])
  for (const [status, expected] of [
    ['ACTIVE', 202],
    ['SUSPENDED', 403],
    ['ARCHIVED', 403],
  ] as const) {
    ok(await app.call('PATCH', `/admin/service-providers/${id}`, { token, body: { status } }))
    expect(await statuses()).toEqual([expected, 401])
  }
  expect((await countersOf(app, token, id))[0]).toBe(1)
})

test('after a rotation the previous secret is valid for a day, and an older one no more', async () => {
  await using app = await testApp()
  const operator = await app.superAdmin()
  let { token } = operator
  const { id, webhookSecret: first } = await signingProviderIn(app, token)
  let nth = 0
  const areAccepted = async (...secrets: string[]) =>
    Promise.all(secrets.map(async (secret) => (await send(app, id, { secret, id: `msg_${nth++}` })).status === 202))
  const rotate = async () => ok(await app.call('POST', `/admin/service-providers/${id}/webhook-secret`, { token }))
  const rotated = await rotate()
  const second: string = rotated.body.webhookSecret
  expect(rotated.headers.get('cache-control')).toBe('no-store')
  expect(rotated.body.previousUntil).toBe(new Date(app.clock.now() + 24 * 60 * minute).toISOString())
  expect(await areAccepted(first, second)).toEqual([true, true])
  app.clock.advance(24 * 60 * minute - 1)
  expect(await areAccepted(first, second)).toEqual([true, true])
  app.clock.advance(1)
  expect(await areAccepted(first, second)).toEqual([false, true])
  token = (await startSession(app.deps, { id: operator.id, role: 'SUPER_ADMIN' }, system)).data.accessToken
  const third: string = (await rotate()).body.webhookSecret
  expect(await areAccepted(first, second, third)).toEqual([false, true, true])
  const fourth: string = (await rotate()).body.webhookSecret
  expect(await areAccepted(first, second, third, fourth)).toEqual([false, false, true, true])
  // No response shows the secret again.
  const responses = [
    await app.call('GET', `/admin/service-providers/${id}`, { token }),
    await app.call('GET', '/admin/service-providers', { token }),
    await app.call('GET', '/admin/audit?limit=100', { token }),
  ]
  for (const answer of responses) expect(answer.text).not.toMatch(/whsec_|sealed/)
})

test('a repeated rotation with the same Idempotency-Key gets the same response', async () => {
  await using app = await testApp()
  const { token } = await app.superAdmin()
  const { id, webhookSecret: first } = await signingProviderIn(app, token)
  const rotate = () => app.call('POST', `/admin/service-providers/${id}/webhook-secret`, { token, headers: { 'idempotency-key': 'r-1' } })
  const [one, repeated] = [ok(await rotate()), ok(await rotate())]
  expect(repeated.text).toBe(one.text)
  expect((await send(app, id, { secret: first })).status).toBe(202)
})

test('a signed body that is not a JSON object of at most 64 KB is refused with the reason and not stored', async () => {
  await using app = await testApp()
  const { token } = await app.superAdmin()
  const { id, webhookSecret: secret } = await signingProviderIn(app, token)
  const large = JSON.stringify({ text: 'a'.repeat(64 * 1024) })
  const invalidRequests: [Sent, number][] = [
    [{ secret, body: '' }, 400],
    [{ secret, body: 'hello' }, 400],
    [{ secret, body: '[1]' }, 400],
    [{ secret, body: '{"a":1,"a":2}' }, 400],
    [{ secret, body: '{"a":"\\u0000"}' }, 400],
    [{ secret, body: '['.repeat(40) }, 400],
    [{ secret, headers: { 'content-type': 'text/plain' } }, 415],
    [{ secret, headers: { 'content-type': '' } }, 415],
    [{ secret, body: large }, 413],
    [{ secret: `whsec_${btoa('nobody')}`, body: large }, 413],
  ]
  for (const [sent, status] of invalidRequests)
    expect([sent.body?.slice(0, 20), (await send(app, id, sent)).status]).toEqual([sent.body?.slice(0, 20), status])
  const query = await app.call('POST', `/webhooks/ingestion/${id}?a=1`, { raw: message, headers: { 'content-type': 'application/json' } })
  expect([query.status, query.body.message]).toEqual([400, 'unknown field: a'])
  expect(await stored(app)).toEqual([])
  const largest = JSON.stringify({ text: 'a'.repeat(64 * 1024 - 11) })
  expect(Buffer.byteLength(largest)).toBe(64 * 1024)
  ok(await send(app, id, { secret, body: largest }), 202)
})

test('messages are limited by address like other anonymous writes', async () => {
  await using app = await testApp({ STOREFRONT_WRITES_PER_MINUTE: '3' })
  const { token } = await app.superAdmin()
  const { id, webhookSecret: secret } = await signingProviderIn(app, token)
  const statuses = []
  for (let nth = 0; nth < 4; nth++)
    statuses.push((await send(app, id, { secret: nth === 1 ? `whsec_${btoa('nobody')}` : secret, id: `msg_${nth}` })).status)
  expect(statuses).toEqual([202, 401, 202, 429])
})

test('a rotation of the master keys seals the secrets again, and both secrets stay valid', async () => {
  await using app = await testApp()
  const { token } = await app.superAdmin()
  const { id, webhookSecret: first } = await signingProviderIn(app, token)
  const second: string = ok(await app.call('POST', `/admin/service-providers/${id}/webhook-secret`, { token })).body.webhookSecret
  const before = await countSealed(app.deps.db)
  await signingProviderIn(app, token)
  expect((await countSealed(app.deps.db)) - before).toBe(1)
  expect(await findFaultySeals(app.deps)).toEqual({ closed: [], outdated: [] })
  for (const [nth, secret] of [first, second].entries()) ok(await send(app, id, { secret, id: `msg_${nth}` }), 202)
})
