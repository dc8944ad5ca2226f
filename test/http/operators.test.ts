/** Tests the checks of operator routes in order: token, role, address and country. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { auditLog } from '../../db/schema/people.ts'
import { operatorRefusalMessages } from '../../src/core/operator-guard.ts'
import { type TestApp, testApp } from '../support/app.ts'
import { temporaryDir } from '../support/database.ts'
import { mmdb } from '../support/mmdb.ts'
import { sendRaw, serveTestApp } from '../support/server.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const path = '/admin/operations/jobs'
const roleMessage = 'This requires the SUPER_ADMIN role'
const { ADDRESS: wrongAddress, NO_ADDRESS: noAddress, COUNTRY: wrongCountry, COUNTRY_UNKNOWN: noCountry } = operatorRefusalMessages

function countriesFile(): string {
  const file = join(temporaryDir(), 'countries.mmdb')
  const [AE, FR] = ['AE', 'FR'].map((code) => ({ country: { iso_code: code } }))
  writeFileSync(
    file,
    mmdb({ '203.0.113.0/25': AE ?? '', '203.0.113.128/26': FR ?? '', '198.51.100.0/25': AE ?? '', '198.51.100.128/26': FR ?? '' }),
  )
  return file
}
const settings = () => ({ OPERATOR_IP_ALLOWLIST: '203.0.113.0/24,10.0.0.0/8', OPERATOR_COUNTRIES: 'AE', GEO_DATABASE: countriesFile() })
const refusals = ({ deps }: TestApp) =>
  deps.db.read.select().from(auditLog).where(eq(auditLog.action, 'operator.refused')).orderBy(auditLog.id)

test('an operator route needs role, address and country, and the error names the first that is missing', async () => {
  await using app = await testApp(settings())
  const { token: merchant } = await app.merchant()
  const { token: admin } = await app.superAdmin()
  const cases = [
    [admin, '203.0.113.1', 200, undefined],
    [admin, '203.0.113.129', 403, wrongCountry],
    [admin, '198.51.100.1', 403, wrongAddress],
    [admin, '198.51.100.129', 403, wrongAddress],
    [merchant, '203.0.113.1', 403, roleMessage],
    [merchant, '203.0.113.129', 403, roleMessage],
    [merchant, '198.51.100.1', 403, roleMessage],
    [merchant, '198.51.100.129', 403, roleMessage],
  ] as const
  for (const [token, from, status, message] of cases) {
    const answer = await app.call('GET', path, { token, from })
    expect([from, answer.status, answer.body.message]).toEqual([from, status, message])
    if (message) expect(answer.text).not.toContain(from)
  }
  const unknown = await app.call('GET', path, { token: admin, from: '203.0.113.193' })
  expect([unknown.status, unknown.body.message]).toEqual([403, noCountry])
  // A private address has no country. Without a valid token nothing else is checked.
  expect((await app.call('GET', path, { token: admin, from: '10.1.2.3' })).status).toBe(200)
  for (const token of [undefined, `${admin}x`])
    expect((await app.call('GET', path, { ...(token ? { token } : {}), from: '198.51.100.129' })).status).toBe(401)
  // Other routes of super admins require only the role.
  expect((await app.call('GET', '/admin/shops', { token: admin, from: '198.51.100.129' })).status).toBe(200)
})

test('refusals of operator routes are audited once an hour for each address and reason', async () => {
  await using app = await testApp(settings())
  const { token, id } = await app.superAdmin()
  for (let nth = 0; nth < 3; nth++)
    for (const from of ['198.51.100.1', '203.0.113.129']) {
      await app.call('GET', path, { token, from })
      await app.call('POST', `${path}/forget/run`, { token, from })
    }
  await app.call('GET', path, { from: '198.51.100.1' })
  const rows = (await refusals(app)).map(({ actor, subject, address, after }) => [actor, subject, address, after])
  const route = `GET ${path}`
  expect(rows).toEqual([
    [id, 'ADDRESS', '198.51.100.1', { route }],
    [id, 'COUNTRY', '203.0.113.129', { route }],
    ['anonymous', 'TOKEN', '198.51.100.1', { route }],
  ])
  app.clock.advance(30 * 60_000)
  await app.call('GET', path, { token, from: '198.51.100.1' })
  expect(await refusals(app)).toHaveLength(3)
  // Many addresses of one network cause no more rows than other events without credentials.
  for (let nth = 1; nth <= 40; nth++) await app.call('GET', path, { from: `2001:db8:0:1::${nth.toString(16)}` })
  expect((await refusals(app)).length).toBeLessThanOrEqual(3 + 30)
})

test('the refusal of a super admin is audited however many other refusals came before', async () => {
  await using app = await testApp(settings())
  const { token, id } = await app.superAdmin()
  const { trail } = app.deps
  for (let nth = 0; nth < 350; nth++) {
    const actor = { id: 'anonymous', address: `192.0.${nth % 50}.${nth}`, requestId: undefined }
    await trail.operatorRefused({ actor, route: `GET ${path}`, reason: 'TOKEN' })
  }
  const rowsOfAdmin = async () =>
    (await refusals(app)).filter(({ actor }) => actor === id).map(({ subject, address }) => [subject, address])
  for (const from of ['198.51.100.1', '203.0.113.129']) await app.call('GET', path, { token, from })
  expect(await rowsOfAdmin()).toEqual([
    ['ADDRESS', '198.51.100.1'],
    ['COUNTRY', '203.0.113.129'],
  ])
  // Rows by the holder of a stolen token are limited too.
  for (let nth = 1; nth <= 150; nth++) await app.call('GET', path, { token, from: `198.51.100.${nth}` })
  expect((await rowsOfAdmin()).length).toBeLessThanOrEqual(101)
  const all = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.action, 'audit.suppressed')).orderBy(auditLog.id)
  expect(all.map(({ actor }) => actor)).toEqual(['anonymous', id])
})

/** Serves the app, and sends requests from this machine with more headers. They return the message or the status. */
async function serveToAdmin(app: TestApp) {
  const { token } = await app.superAdmin()
  const server = serveTestApp(app)
  const ask = async (target: string, ...headers: string[]) => {
    const lines = [`GET ${target} HTTP/1.1`, 'host: localhost', ...headers, `authorization: Bearer ${token}`, 'connection: close']
    const { status, body } = await sendRaw(server.port, `${lines.join('\r\n')}\r\n\r\n`)
    return status === 200 ? 200 : JSON.parse(body).message
  }
  return { ask, [Symbol.asyncDispose]: server[Symbol.asyncDispose] }
}
const forged = ['203.0.113.7', '127.0.0.1', '::1', '127.0.0.1, 127.0.0.1', '"[::1]:80"', 'for=127.0.0.1', '203.0.113.7:443', '']
const forwarding = ['X-Forwarded-For', 'x-forwarded-FOR', 'Forwarded', 'X-Real-IP', 'CF-Connecting-IP', 'True-Client-IP', 'Via']

test('without proxies the address of the socket counts, and requests with forwarding headers are refused', async () => {
  await using app = await testApp({ GEO_COUNTRY_HEADER: 'cf-ipcountry', OPERATOR_COUNTRIES: 'AE' })
  await using server = await serveToAdmin(app)
  expect(await server.ask(path)).toBe(200)
  expect(await server.ask(path, 'cf-ipcountry: FR')).toBe(200)
  for (const name of forwarding)
    for (const value of forged) expect([name, value, await server.ask(path, `${name}: ${value}`)]).toEqual([name, value, noAddress])
  expect(await server.ask(path, 'X-Forwarded-For: 127.0.0.1', 'X-Forwarded-For: 127.0.0.1')).toBe(noAddress)
  expect(app.logged.map(({ event }) => event)).toEqual(expect.arrayContaining(['operators.header_not_believed', 'operators.no_geography']))
  // The same applies to metrics.
  expect(await server.ask('/metrics', 'X-Forwarded-For: 127.0.0.1')).toBe('The metrics token is not valid')
})

test('behind a proxy the address that it adds counts, and what the client put before it is ignored', async () => {
  await using app = await testApp({
    ...{ TRUSTED_PROXIES: '127.0.0.1,10.0.0.0/8', OPERATOR_IP_ALLOWLIST: '203.0.113.0/24,2001:db8::/32' },
    ...{ OPERATOR_COUNTRIES: 'AE', GEO_COUNTRY_HEADER: 'CF-IPCountry', GEO_DATABASE: countriesFile() },
  })
  await using server = await serveToAdmin(app)
  const allowedAddress = 'X-Forwarded-For: 203.0.113.7'
  for (const [expected, ...headers] of [
    [200, allowedAddress],
    [200, 'X-Forwarded-For: 203.0.113.7:4711'],
    [200, 'X-Forwarded-For: ::ffff:203.0.113.7'],
    [200, 'X-Forwarded-For: 198.51.100.9, 203.0.113.7, 10.0.0.3'],
    [200, 'X-Forwarded-For: [2001:db8::7]:443', 'cf-ipcountry: ae'],
    [noCountry, 'X-Forwarded-For: 2001:db8::7'],
    // Forged by the client. The proxy adds the real address.
    [wrongAddress, 'X-Forwarded-For: 203.0.113.7, 198.51.100.9'],
    [wrongAddress, allowedAddress, 'X-Forwarded-For: 198.51.100.9'],
    [wrongAddress, 'X-Forwarded-For: 198.51.100.9', 'X-Real-IP: 203.0.113.7', 'Forwarded: for=203.0.113.7'],
    [noAddress, 'X-Real-IP: 203.0.113.7'],
    [noAddress, 'Forwarded: for=203.0.113.7'],
    [noAddress, 'X-Forwarded-For: unknown'],
    [noAddress, 'X-Forwarded-For: 203.0.113.7, unknown'],
    [noAddress, 'X-Forwarded-For: 203.0.113.007'],
    [noAddress, 'X-Forwarded-For:'],
    // The address of the proxy itself, which is not on the list.
    [wrongAddress],
    // The proxy's country takes precedence over the file's, and must be a single header.
    [wrongCountry, allowedAddress, 'cf-ipcountry: FR'],
    [noCountry, allowedAddress, 'cf-ipcountry: AE', 'cf-ipcountry: FR'],
    [noCountry, allowedAddress, 'cf-ipcountry: XX'],
    [noCountry, allowedAddress, 'cf-ipcountry:'],
    [wrongCountry, 'X-Forwarded-For: 203.0.113.130'],
    [200, 'X-Forwarded-For: 203.0.113.130', 'cf-ipcountry: AE'],
  ] as [string | number, ...string[]][])
    expect([headers, await server.ask(path, ...headers)]).toEqual([headers, expected])
})

test('an invalid country file stops the start', async () => {
  const file = join(temporaryDir(), 'countries.mmdb')
  writeFileSync(file, 'not one')
  expect(testApp({ GEO_DATABASE: file })).rejects.toThrow("GEO_DATABASE can't be read")
})
