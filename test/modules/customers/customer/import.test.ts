/** Tests the import of customers from a CSV file. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findCustomerInconsistencies } from '../../../../src/modules/customers/customer/index.ts'
import { testApp } from '../../../support/app.ts'
import { mailServer } from '../../../support/mail-server.ts'
import { mailRows } from '../../../support/mails.ts'
import { ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

/** The header of Shopify's current export. */
const header =
  'Customer ID,First Name,Last Name,Email,Accepts Email Marketing,Default Address Company,Default Address Address1,Default Address Address2,Default Address City,Default Address Province Code,Default Address Country Code,Default Address Zip,Default Address Phone,Phone,Accepts SMS Marketing,Total Spent,Total Orders,Note,Tags,Tax Exempt'
const rows = [
  `'7001,Ann,"O'Hara",Ann@Example.com,yes,,1 Quay Street,Flat 2,Portland,ME,US,'04101,,'+12075550101,no,12.50,3,"likes ""blue"", early",vip,no`,
  `'7002,,,bob@example.com,no,,,,,,,,,,no,0.00,0,,,no`,
  `'7003,Cem,,cem@example.com,no,Cem Ltd,2 Road,,,,TR,,,,no,0.00,0,,,no`,
  `'7004,Bad,One,not an address,no,,,,,,,,,,no,0.00,0,,,no`,
  `'7005,Two,Times,ANN@example.com,no,,,,,,,,,,no,0.00,0,,,no`,
]
const buildFile = (...lines: string[]) => [header, ...lines].join('\r\n')
const send = (shop: Selling, raw: string, query = '') =>
  shop.app.call('POST', `/customer/import${query}`, { key: shop.secretKey, raw, headers: { 'content-type': 'text/csv' } })
const listCustomers = async (shop: Selling) => ok(await shop.get('/customer?limit=100')).body.data

describe('the import of customers', () => {
  test('imports customers with their default address, reports ignored columns, and skips invalid rows', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const shop = await sellingIn(app)
    const dryRun = await send(shop, buildFile(...rows), '?dryRun=true')
    expect(dryRun.body).toMatchObject({ dryRun: true, rows: 5, created: 3, skipped: 1, failed: 1 })
    expect(await listCustomers(shop)).toEqual([])

    const { status, body } = await send(shop, buildFile(...rows))
    expect([status, body.rows, body.created, body.skipped, body.failed, body.addresses]).toEqual([200, 5, 3, 1, 1, 1])
    expect(body.errors).toEqual([{ row: 5, column: 'Email', message: 'must be an e-mail address' }])
    expect(body.notices).toEqual([
      {
        row: 1,
        message: 'These columns are not imported: Customer ID, Accepts SMS Marketing, Total Spent, Total Orders, Tax Exempt',
      },
      { row: 4, column: 'Default Address City', message: 'is blank: the address was not imported' },
    ])
    const [cem, bob, ann] = await listCustomers(shop)
    expect((await shop.get("/customer?q=O'Hara")).body.data).toEqual([ann])
    expect(await Array.fromAsync(findCustomerInconsistencies(app.deps.db))).not.toContainEqual(
      expect.objectContaining({ problems: [expect.anything()] }),
    )
    expect(ann).toMatchObject({
      email: 'ann@example.com',
      name: "Ann O'Hara",
      phone: '+12075550101',
      acceptsMarketing: true,
      emailVerified: false,
      note: 'likes "blue", early',
      tags: ['vip'],
    })
    expect([bob.name, cem.name, bob.addressIds, bob.note, bob.tags]).toEqual(['', 'Cem', [], null, []])
    expect(ok(await shop.get(`/addresses/${ann.addressIds[0]}`)).body).toMatchObject({
      name: "Ann O'Hara",
      line1: '1 Quay Street',
      line2: 'Flat 2',
      province: 'ME',
      postalCode: '04101',
      countryCode: 'US',
      isDefaultShipping: true,
      isDefaultBilling: true,
    })
    // A repeated import creates nothing twice and sends no mail.
    expect((await send(shop, buildFile(...rows))).body).toMatchObject({ created: 0, skipped: 4, failed: 1 })
    expect((await listCustomers(shop)).length).toBe(3)
    expect(await mailRows(app)).toEqual([])
    // The search finds imported customers by name, like customers that the shop creates.
    const found = async (query: string) => (await shop.get(`/customer?q=${query}`)).body.data.map(({ id }: { id: string }) => id)
    expect([await found('hara'), await found('bob@example.com'), await found('cem')]).toEqual([[ann.id], [bob.id], [cem.id]])
    const findings = await Array.fromAsync(findCustomerInconsistencies({ read: app.deps.db.read }))
    expect(findings.flatMap(({ problems }) => problems)).toEqual([])
  })

  test('overwrites known customers: blank cells clear, absent columns keep, and an address is added once', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    ok(await send(shop, buildFile(...rows)))
    const change = [
      'Email,Phone,Accepts Marketing,Name,Address1,City,Country Code',
      'ann@example.com,,no,Ann H,9 New Road,Bath,gb',
      'new@example.com,1,yes,Neu,,,',
    ]
    for (const created of [1, 0])
      expect((await send(shop, change.join('\n'), '?overwrite=true')).body).toMatchObject({ created, updated: 2 - created })
    const ann = (await listCustomers(shop)).find(({ email }: { email: string }) => email === 'ann@example.com')
    expect(ann).toMatchObject({ name: 'Ann H', phone: null, acceptsMarketing: false })
    expect(ann.addressIds).toHaveLength(2)
    ok(await send(shop, 'Email,First Name\nann@example.com,Anna\n', '?overwrite=true'))
    expect((await listCustomers(shop)).find(({ id }: { id: string }) => id === ann.id)).toMatchObject({ name: 'Anna', phone: null })
  })

  test('imports tags and notes: filters find the tags, blank cells clear, absent columns keep, and long tags are left out', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const longTag = 'x'.repeat(41)
    const manyTags = Array.from({ length: 51 }, (_, nth) => `t${nth}`)
    const first = [
      'Email,Note,Tags',
      'ann@example.com,"Line one\r\nLine  two ","VIP, vip ,  Big  Spender,"',
      `bob@example.com,'=1+1,"${longTag},kept"`,
      `cem@example.com,,"${manyTags.join(', ')}"`,
      `dan@example.com,${'n'.repeat(5_001)},`,
    ]
    const { body } = await send(shop, first.join('\n'))
    expect([body.created, body.errors]).toEqual([3, [{ row: 5, column: 'Note', message: 'must have at most 5000 characters' }]])
    expect(body.notices).toEqual([
      { row: 3, column: 'Tags', message: 'has tags of more than 40 characters: they were not imported' },
      { row: 4, column: 'Tags', message: 'has more than 50 tags: only the first 50 were imported' },
    ])
    const customer = async (email: string) => (await listCustomers(shop)).find((one: { email: string }) => one.email === email)
    expect(await customer('ann@example.com')).toMatchObject({ note: 'Line one\nLine  two', tags: ['VIP', 'Big Spender'] })
    expect(await customer('bob@example.com')).toMatchObject({ note: '=1+1', tags: ['kept'] })
    expect((await customer('cem@example.com')).tags).toEqual(manyTags.slice(0, 50))
    const tagged = async (tag: string) => ok(await shop.get(`/customer?tag=${tag}`)).body.data.map(({ email }: { email: string }) => email)
    expect(await tagged('big%20spender')).toEqual(['ann@example.com'])
    const findings = await Array.fromAsync(findCustomerInconsistencies(app.deps.db))
    expect(findings.flatMap(({ problems }) => problems)).toEqual([])

    ok(await send(shop, 'Email,Phone\nann@example.com,1\n', '?overwrite=true'))
    expect(await customer('ann@example.com')).toMatchObject({ phone: '1', note: 'Line one\nLine  two', tags: ['VIP', 'Big Spender'] })
    ok(await send(shop, 'Email,Tags,Note\nann@example.com,,\nbob@example.com,new,\n', '?overwrite=true'))
    expect(await customer('ann@example.com')).toMatchObject({ note: null, tags: [] })
    expect([await tagged('vip'), await tagged('kept'), await tagged('new')]).toEqual([[], [], ['bob@example.com']])
  })

  test('imports names, notes and tags unchanged from an exported CSV list, in which formulas are escaped', async () => {
    await using app = await testApp()
    const [from, to] = [await sellingIn(app), await sellingIn(app)]
    const names = ['=1+1', '＝1', 'Ann;=cmd', 'Bob, -5', "'=quoted", "O'Hara"].map((name, at) => ({ email: `c${at}@example.com`, name }))
    for (const body of names) {
      const { id } = ok(await app.call('POST', '/customer', { key: from.secretKey, body }), 201).body
      ok(await app.call('PATCH', `/customer/${id}`, { key: from.secretKey, body: { note: `${body.name}\nx`, tags: ['a b', 'c'] } }))
    }
    const listed = await app.call('GET', '/customer', { key: from.secretKey, headers: { accept: 'text/csv' } })
    expect(listed.text).not.toMatch(/(^|[,;])["\s]*[=＝+-]/m)
    expect(ok(await send(to, listed.text)).body).toMatchObject({ created: names.length, failed: 0 })
    const textsOf = async (shop: Selling) =>
      (await listCustomers(shop)).map(({ name, note, tags }: { name: string; note: string; tags: string[] }) =>
        JSON.stringify([name, note, tags]),
      )
    expect((await textsOf(to)).sort()).toEqual((await textsOf(from)).sort())
  })

  test('rejects files that are not customer lists and cells that are too long, without repeating their content', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    for (const raw of ['', 'Handle,Title\na,b\n', 'Email,EMAIL\na@example.com,b@example.com\n', 'Email\n"open', 'Email\n\0@example.com\n'])
      expect((await send(shop, raw)).status).toBe(400)
    expect((await app.call('POST', '/customer/import', { key: shop.secretKey, body: {} })).status).toBe(415)
    expect(
      (await app.call('POST', '/customer/import', { key: shop.publishableKey, raw: 'Email', headers: { 'content-type': 'text/csv' } }))
        .status,
    ).toBe(403)
    const report = await send(
      shop,
      `Email,First Name,Phone\nok@example.com,${'x'.repeat(201)},1\nx@y.example,a,b,c\nbreak@example.com,"Two\nlines",\n`,
    )
    expect(report.body.errors).toEqual([
      { row: 2, column: 'First Name', message: 'must have at most 200 characters' },
      { row: 3, message: 'has 4 cells, but the header has 3: put cells that contain the separator in quotes' },
    ])
    expect((await listCustomers(shop)).map(({ name }: { name: string }) => name)).toEqual(['Two lines'])
    for (const address of ['a@example.com\r\nBcc: b@example.com', 'a"b@example.com', 'a@', `${'a'.repeat(65)}@example.com`]) {
      const { body } = await send(shop, `Email\n"${address.replaceAll('"', '""')}"\n`)
      expect([body.created, body.failed]).toEqual([0, 1])
    }
  })

  test('creates each customer once when two imports and signups run at the same time', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const lines = Array.from({ length: 200 }, (_, nth) => `c${nth}@example.com`).join('\n')
    const { importCustomers } = await import('../../../../src/modules/customers/customer/index.ts')
    const context = { id: shop.shop.id, currency: 'USD', mode: 'TEST' as const }
    const source = () => new Blob([`Email\n${lines}\n`]).stream() as unknown as AsyncIterable<Uint8Array>
    const run = () => importCustomers(app.deps, { shop: context, actor: { id: 'system' } }, source, { dryRun: false, overwrite: false })
    const [one, two] = await Promise.all([
      run(),
      run(),
      ...[3, 77, 150].map((nth) =>
        app.call('POST', '/customer/signup', {
          body: { shopName: shop.shop.name, email: `c${nth}@example.com`, password: 'a password of theirs' },
        }),
      ),
    ])
    const found = await listCustomers(shop)
    expect(found).toHaveLength(100)
    expect(ok(await shop.get('/customer')).body.total).toBe(200)
    expect((one as { rows: number }).rows + (two as { rows: number }).rows).toBe(400)
  })
})

test('a file of 500 columns is imported, and one of 501 is refused', async () => {
  await using app = await testApp()
  const { secretKey: key } = await app.merchant()
  const send = (columns: number) => {
    const names = Array.from({ length: columns - 1 }, (_, nth) => `Column ${nth}`)
    const raw = `Email,${names.join(',')}\nann@example.com,${names.map(() => 'x').join(',')}\n`
    return app.call('POST', '/customer/import', { key, raw, headers: { 'content-type': 'text/csv' } })
  }
  const refused = await send(501)
  expect([refused.status, refused.body.message]).toEqual([400, 'The header has more than 500 columns'])
  expect((await send(500)).body).toMatchObject({ created: 1 })
})

const realExport = join(import.meta.dir, '../../../../../shared/data/customers.csv')
const hasRealExport = existsSync(realExport)
if (!hasRealExport) process.stderr.write('Skipped: no real customer export is beside the checkout\n')

test.if(hasRealExport)('imports a real customer export completely', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { body } = ok(await send(shop, readFileSync(realExport, 'utf8')))
  expect([body.created, body.failed, body.errors]).toEqual([body.rows, 0, []])
})
