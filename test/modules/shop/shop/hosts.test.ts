/** Host names of storefronts: listing, verification by DNS, and the shops that are found by them. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { auditLog } from '../../../../db/schema/people.ts'
import { shopHosts } from '../../../../db/schema/shop.ts'
import { createTxtLookup } from '../../../../src/clients/dns.ts'
import { normalizeHost } from '../../../../src/lib/host-names.ts'
import { recheckHosts } from '../../../../src/modules/shop/shop/index.ts'
import { type Answer, type TestApp, testApp } from '../../../support/app.ts'
import { type NameServer, nameServer } from '../../../support/dns.ts'
import { ok } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

type Merchant = Awaited<ReturnType<TestApp['merchant']>>

const host = 'shop.example.com'
const dayMs = 86_400_000

const add = (app: TestApp, { token }: Merchant, name: unknown): Promise<Answer> =>
  app.call('POST', '/shops/v2/hosts', { token, body: { host: name } })
const verify = (app: TestApp, { token }: Merchant, name = host) => app.call('POST', `/shops/v2/hosts/${name}/verify`, { token })
const remove = (app: TestApp, { token }: Merchant, name = host) => app.call('DELETE', `/shops/v2/hosts/${name}`, { token })
const list = async (app: TestApp, { token }: Merchant) => ok(await app.call('GET', '/shops/v2/hosts', { token })).body
const resolver = (app: TestApp, name: string) => app.call('GET', `/checkout/${name}/payment-intent-resolver`)

/** Adds a host name to a shop, writes its TXT record, and verifies it. */
async function addVerified(app: TestApp, dns: NameServer, merchant: Merchant, name = host) {
  const { body } = ok(await add(app, merchant, name), 201)
  dns.setRecords(body.txtName, body.txtValue)
  return ok(await verify(app, merchant, body.host)).body
}

async function startWorld() {
  const dns = await nameServer()
  const app = await testApp({ DNS_SERVER: dns.address })
  const dispose = async () => {
    await app.close()
    await dns.close()
  }
  return { dns, app, merchant: await app.merchant(), [Symbol.asyncDispose]: dispose }
}

describe('a host name of a storefront', () => {
  test('a host name is listed with its DNS record and counts once the record exists', async () => {
    await using world = await startWorld()
    const { app, dns, merchant } = world
    const { body } = ok(await add(app, merchant, host), 201)
    expect(Object.keys(body)).toEqual(['host', 'txtName', 'txtValue', 'verifiedAt'])
    expect([body.host, body.txtName, body.verifiedAt]).toEqual([host, `_souk.${host}`, null])
    expect(body.txtValue).toMatch(/^souk-verification=[\w-]{32}$/)
    expect((await resolver(app, host)).status).toBe(404)
    dns.setRecords(`_souk.${host}`, 'something else', body.txtValue)
    const verified = ok(await verify(app, merchant)).body
    expect(verified).toEqual({ ...body, verifiedAt: new Date(app.clock.now()).toISOString() })
    expect(await list(app, merchant)).toEqual({ data: [verified], page: 1, limit: 20, total: 1, pages: 1 })
    expect(ok(await resolver(app, host)).text).toBe(ok(await resolver(app, merchant.shop.name)).text)
    app.clock.advance(1_000)
    // A second verification changes nothing.
    expect(ok(await verify(app, merchant)).body).toEqual(verified)
  })

  test('the DNS value of a host name differs for each shop and each time it is added', async () => {
    await using world = await startWorld()
    const { app, merchant } = world
    const values = new Set<string>()
    for (const owner of [merchant, await app.merchant()])
      for (let nth = 0; nth < 2; nth++) {
        values.add(ok(await add(app, owner, host), 201).body.txtValue)
        expect((await remove(app, owner)).status).toBe(204)
      }
    expect(values.size).toBe(4)
    expect((await list(app, merchant)).data).toEqual([])
  })

  test('a host name is normalised to ASCII with a dot, and an invalid or reserved one gets 400 without the value', async () => {
    await using world = await startWorld()
    const { app, merchant } = world
    for (const [sent, normalized] of [
      ['Shop.Example.COM', host],
      ['bücher.example', 'xn--bcher-kva.example'],
      ['xn--bcher-kva.example.net', 'xn--bcher-kva.example.net'],
      [`${'a.'.repeat(125)}abc`, `${'a.'.repeat(125)}abc`],
    ])
      expect(ok(await add(app, merchant, sent), 201).body.host).toBe(normalized ?? '')
    const invalidNames = [
      '',
      ' ',
      'localhost',
      'shop',
      '127.0.0.1',
      '[::1]',
      '0x7f.1',
      '1.2.3',
      'shop.example.',
      'shop.example:443',
      '.example',
    ]
    invalidNames.push(
      'https://shop.example',
      'shop.example/x',
      'planted@shop.example',
      'https://planted.example',
      'a..b',
      '-a.example',
      'a_b.example',
      '*.example',
      'a b.example',
    )
    invalidNames.push(
      'a%2eb.example',
      `${'a'.repeat(64)}.example`,
      `${'a.'.repeat(126)}ab`,
      'shop.localhost',
      'printer.local',
      'db.internal',
      'x.onion',
    )
    invalidNames.push('1.0.0.127.in-addr.arpa', 'xn--zz.example', 'a\u0000b.example')
    for (const name of invalidNames) {
      const { status, body, text } = await add(app, merchant, name)
      expect([name, status]).toEqual([name, 400])
      expect(text).not.toContain('planted')
      expect(body.message).toMatch(/host|NUL/)
    }
    for (const name of [undefined, null, 7, ['a.example']]) expect((await add(app, merchant, name)).status).toBe(400)
  })

  test('the host name of the service itself is refused', async () => {
    await using app = await testApp({ PUBLIC_URL: 'https://Souk.Example.com:8443/api' })
    const merchant = await app.merchant()
    expect((await add(app, merchant, 'SOUK.example.com')).body.message).toBe('host: must not be the name of this service')
    ok(await add(app, merchant, 'shop.souk.example.com'), 201)
  })

  test('a shop lists a host name once and at most twenty, also with concurrent requests', async () => {
    await using world = await startWorld()
    const { app, merchant } = world
    const answers = await Promise.all(Array.from({ length: 25 }, (_, nth) => add(app, merchant, `s${nth}.example.com`)))
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(20).fill(201), ...Array(5).fill(409)])
    const { data, total } = await list(app, merchant)
    expect([data.length, total]).toEqual([20, 20])
    ok(await app.call('GET', '/shops/v2/hosts?limit=5&page=4', { token: merchant.token }))
    expect((await remove(app, merchant, data[0].host)).status).toBe(204)
    expect((await add(app, merchant, data[1].host)).body.message).toBe('host: the shop already has this host name')
    ok(await add(app, merchant, data[0].host), 201)
  })

  test('a shop can neither see nor verify nor remove a host name of another shop', async () => {
    await using world = await startWorld()
    const { app, dns, merchant } = world
    await addVerified(app, dns, merchant)
    const other = await app.merchant()
    const refused = [
      await verify(app, other),
      await remove(app, other),
      await verify(app, other, 'no.example'),
      await remove(app, other, 'no'),
    ]
    expect(new Set(refused.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(refused[0]?.status).toBe(404)
    expect((await list(app, other)).data).toEqual([])
    ok(await resolver(app, host))
  })
})

describe('verification by DNS', () => {
  test('a refused verification says whether the name, its record, the right value or the response is missing', async () => {
    await using dns = await nameServer()
    await using app = await testApp({}, { lookUpTxt: createTxtLookup({ server: dns.address, timeoutMs: 300 }) })
    const merchant = await app.merchant()
    const { txtName, txtValue } = ok(await add(app, merchant, host), 201).body
    const refusal = async () => {
      const { status, body } = await verify(app, merchant)
      expect(body.code).toBe('host_not_verified')
      return [status, body.message]
    }
    expect(await refusal()).toEqual([409, expect.stringContaining('No TXT record was found')])
    dns.setRecords(txtName)
    expect(await refusal()).toEqual([409, expect.stringContaining('No TXT record was found at _souk.')])
    dns.setRecords(txtName, `${txtValue}x`, 'v=spf1 -all', '')
    expect(await refusal()).toEqual([409, expect.stringContaining('No TXT record at')])
    dns.fail(txtName, 'SERVFAIL')
    expect(await refusal()).toEqual([409, expect.stringContaining('SERVFAIL')])
    dns.fail(txtName, 'SILENT')
    expect(await refusal()).toEqual([409, expect.stringContaining('timed out')])
    expect((await list(app, merchant)).data[0].verifiedAt).toBeNull()
    // The strings of a TXT record form one value, and a response that is too large for UDP comes over TCP.
    dns.setRecords(txtName, ...Array.from({ length: 12 }, (_, nth) => 'x'.repeat(100 + nth)), [txtValue.slice(0, 10), txtValue.slice(10)])
    ok(await verify(app, merchant))
  })

  test('a shop can verify ten times a minute, then gets 429', async () => {
    await using world = await startWorld()
    const { app, dns, merchant } = world
    ok(await add(app, merchant, host), 201)
    for (let nth = 0; nth < 10; nth++) expect((await verify(app, merchant)).status).toBe(409)
    const queriesBefore = dns.queriedNames.length
    const refused = await verify(app, merchant)
    expect([refused.status, refused.headers.get('retry-after'), dns.queriedNames.length]).toEqual([429, '60', queriesBefore])
    app.clock.advance(60_000)
    expect((await verify(app, merchant)).status).toBe(409)
  })

  test('the shop with a valid TXT record gets the name, and the first shop keeps it while both have one', async () => {
    await using world = await startWorld()
    const { app, dns, merchant } = world
    const mine = await addVerified(app, dns, merchant)
    const other = await app.merchant()
    const theirs = ok(await add(app, other, host), 201).body
    dns.setRecords(theirs.txtName, mine.txtValue, theirs.txtValue)
    expect(await verify(app, other)).toMatchObject({ status: 409, body: { message: expect.stringContaining('Another shop') } })
    dns.setRecords(theirs.txtName, theirs.txtValue)
    ok(await app.call('PATCH', '/shops/v2', { token: other.token, body: { currency: 'EUR' } }))
    expect(ok(await resolver(app, host)).body.currency).toBe('USD')
    ok(await verify(app, other))
    expect(ok(await resolver(app, host)).body.currency).toBe('EUR')
    expect((await list(app, merchant)).data[0].verifiedAt).toBeNull()
    expect((await verify(app, merchant)).status).toBe(409)
    const rows = await app.deps.db.read.select().from(auditLog)
    const lostRows = rows.filter(({ action }) => action === 'shop.host_lost')
    expect(lostRows.map(({ shopId, actor }) => [shopId, actor])).toEqual([[merchant.shop.id, other.id]])
  })

  test('of two concurrent verifications one succeeds', async () => {
    await using world = await startWorld()
    const { app, dns, merchant } = world
    const other = await app.merchant()
    const values = [merchant, other].map(async (one) => ok(await add(app, one, host), 201).body.txtValue)
    dns.setRecords(`_souk.${host}`, ...(await Promise.all(values)))
    const answers = await Promise.all([verify(app, merchant), verify(app, other)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  })

  test('a verified name is checked daily and lost after seven days without its record, but not by DNS failures', async () => {
    await using world = await startWorld()
    const { app, dns, merchant } = world
    const { txtName, txtValue } = await addVerified(app, dns, merchant)
    const days = async (count: number) => {
      for (let nth = 0; nth < count; nth++) {
        app.clock.advance(dayMs)
        await recheckHosts(app.deps)
      }
      return (await resolver(app, host)).status
    }
    const queriesBefore = dns.queriedNames.length
    await recheckHosts(app.deps)
    expect(dns.queriedNames.length).toBe(queriesBefore)
    expect(await days(3)).toBe(200)
    expect(dns.queriedNames.length).toBe(queriesBefore + 3)
    dns.fail(txtName, 'SERVFAIL')
    expect(await days(30)).toBe(200)
    dns.fail(txtName, 'NXDOMAIN')
    expect(await days(6)).toBe(200)
    // One successful check resets the seven days.
    dns.setRecords(txtName, txtValue)
    expect(await days(1)).toBe(200)
    dns.setRecords(txtName, 'something else')
    expect(await days(7)).toBe(200)
    const lostEvents = () => app.logged.filter(({ event }) => event === 'host.lost')
    expect(lostEvents()).toEqual([])
    expect(await days(1)).toBe(404)
    expect(lostEvents()).toEqual([{ level: 'warn', event: 'host.lost', fields: { shopId: merchant.shop.id, host } }])
    const [row] = await app.deps.db.read.select().from(shopHosts)
    expect(row?.verifiedAt).toBeNull()
    const rows = await app.deps.db.read.select().from(auditLog)
    expect(rows.filter(({ action }) => action === 'shop.host_lost').map(({ actor }) => actor)).toEqual(['system'])
    // A lost name is not checked any more, and can be verified again.
    const before = dns.queriedNames.length
    await days(2)
    expect(dns.queriedNames.length).toBe(before)
    dns.setRecords(txtName, txtValue)
    const { email, password } = merchant
    const login = ok(await app.call('POST', '/merchant/login', { body: { email, password } }))
    ok(await verify(app, { ...merchant, token: login.body.data.accessToken }))
  })

  test('a check that failed is repeated within an hour', async () => {
    await using world = await startWorld()
    const { app, dns, merchant } = world
    const { txtName } = await addVerified(app, dns, merchant)
    dns.fail(txtName, 'REFUSED')
    app.clock.advance(dayMs)
    await recheckHosts(app.deps)
    const queriesBefore = dns.queriedNames.length
    await recheckHosts(app.deps)
    expect(dns.queriedNames.length).toBe(queriesBefore)
    app.clock.advance(3_600_000)
    await recheckHosts(app.deps)
    expect(dns.queriedNames.length).toBeGreaterThan(queriesBefore)
  })
})

describe('a payment page that uses the host name', () => {
  test('the resolver finds a shop by every spelling of its host name, and not by another name', async () => {
    await using world = await startWorld()
    const { app, dns, merchant } = world
    await addVerified(app, dns, merchant, 'bücher.example')
    for (const name of [
      'xn--bcher-kva.example',
      'XN--BCHER-KVA.Example',
      'xn--bcher-kva.example.',
      'b%C3%BCcher.example',
      'xn--bcher-kva%2eexample',
    ])
      ok(await resolver(app, name))
    const unknownNames = [
      'xn--bcher-kva.example:443',
      'xn--bcher-kva.example..',
      '.xn--bcher-kva.example',
      'www.xn--bcher-kva.example',
      'user@xn--bcher-kva.example',
    ]
    unknownNames.push(
      'xn--bcher-kva.example%2f',
      'xn--bcher-kva.example%20',
      '127.0.0.1',
      '[::1]',
      'x.',
      '.',
      '%252e.example',
      `${'a.'.repeat(126)}a`,
    )
    for (const name of unknownNames) {
      const { status, body } = await resolver(app, name)
      expect([name, status, body.message]).toEqual([name, 404, expect.stringMatching(/^No such shop$|^Unknown path$/)])
    }
    expect((await resolver(app, `${'a.'.repeat(126)}ab`)).status).toBe(400)
  })

  test('the resolver follows a verification, removal, takeover or suspension at the next request', async () => {
    await using world = await startWorld()
    const { app, dns, merchant } = world
    const operator = await app.superAdmin()
    await addVerified(app, dns, merchant)
    const status = async () => (await resolver(app, host)).status
    expect([await status(), await status()]).toEqual([200, 200])
    const suspend = (to: string) => app.call('PATCH', `/admin/shops/${merchant.shop.id}`, { token: operator.token, body: { status: to } })
    ok(await suspend('SUSPENDED'))
    expect(await status()).toBe(404)
    ok(await suspend('ACTIVE'))
    expect(await status()).toBe(200)
    expect((await remove(app, merchant)).status).toBe(204)
    expect(await status()).toBe(404)
  })

  test('the resolver of every process follows a change of host names', async () => {
    await using world = await startWorld()
    const { app, dns, merchant } = world
    await using second = await testApp({ DNS_SERVER: dns.address }, { database: app.database, as: 'command' })
    expect((await resolver(second, host)).status).toBe(404)
    await addVerified(app, dns, merchant)
    ok(await resolver(second, host))
    ok(await resolver(second, host))
    expect((await remove(app, merchant)).status).toBe(204)
    expect((await resolver(second, host)).status).toBe(404)
  })
})

test('normalising a host name twice changes nothing, and the result has a dot, no capitals and a bounded length', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.domain(), fc.webUrl(), fc.string({ unit: 'grapheme' }), fc.ipV4(), fc.ipV6()), (text) => {
      const name = normalizeHost(text)
      if (name === undefined) return
      expect(normalizeHost(name)).toBe(name)
      expect(name).toMatch(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/)
      expect(name.length).toBeLessThanOrEqual(253)
    }),
    { numRuns: 2_000 },
  )
})
