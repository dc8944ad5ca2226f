/** Tests the order of the list of customers. */
import { expect, setDefaultTimeout, spyOn, test } from 'bun:test'
import { type SQL, sql } from 'drizzle-orm'
import { engine } from '../../../../db/columns.ts'
import { customers } from '../../../../db/schema/people.ts'
import { type Json, testApp } from '../../../support/app.ts'
import { shopIn } from '../../../support/catalog.ts'
import { ok } from '../../../support/selling.ts'
import { insertRowCopies, paddedNumber, vacuumTables } from '../../../support/table-copies.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

test('sorts customers by name, those without one by e-mail address, alone and beside filters', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  ok(await (await shopIn(app)).post('/customer', { email: 'other@example.com', name: 'Aaron' }), 201)
  const tagged: string[] = []
  for (const [email, name] of [
    ['1@example.com', 'cy'],
    ['2@example.com', 'Bo Berg'],
    ['an@example.com', ''],
    ['4@example.com', 'Bo'],
    ['5@example.com', 'ann'],
  ]) {
    const { id } = ok(await shop.post('/customer', { email, name }), 201).body
    if (name !== 'cy') tagged.push(id)
  }
  for (const id of tagged) ok(await shop.patch(`/customer/${id}`, { tags: ['VIP'] }))
  const names = async (query: string): Promise<string[]> =>
    ok(await shop.get(`/customer?${query}`)).body.data.map(({ name, email }: Json) => name || email)
  for (const [query, expected] of [
    ['', ['ann', 'Bo', 'an@example.com', 'Bo Berg', 'cy']],
    ['sort=newest', ['ann', 'Bo', 'an@example.com', 'Bo Berg', 'cy']],
    ['sort=name', ['an@example.com', 'ann', 'Bo', 'Bo Berg', 'cy']],
    ['sort=name&limit=2&page=2', ['Bo', 'Bo Berg']],
    ['sort=name&limit=2&page=4', []],
    ['sort=name&tag=vip', ['an@example.com', 'ann', 'Bo', 'Bo Berg']],
    ['sort=name&tag=vip&limit=3&page=2', ['Bo Berg']],
    ['sort=name&q=example', ['an@example.com', 'ann', 'Bo', 'Bo Berg', 'cy']],
    ['sort=name&q=bo&limit=1&page=2', ['Bo Berg']],
    ['sort=name&email=1%40example.com', ['cy']],
  ] as const)
    expect([query, await names(query)]).toEqual([query, [...expected]])
  expect(ok(await shop.get('/customer?sort=name&limit=2')).body).toMatchObject({ total: 5, pages: 3 })
  const refused = await shop.get('/customer?sort=spent')
  expect([refused.status, refused.body.field]).toEqual([400, 'sort'])
  const { text } = await app.call('GET', '/customer?sort=name', { key: shop.secretKey, headers: { accept: 'text/csv' } })
  expect(text.indexOf('5@example.com')).toBeLessThan(text.indexOf('an@example.com'))
})

test('reads a page of a long list along the index of names, without a sort', async () => {
  await using app = await testApp()
  const { deps } = app
  const shop = await shopIn(app)
  const { id } = ok(await shop.post('/customer', { email: 'a@example.com', name: 'Zoe' }), 201).body
  await insertRowCopies(app, customers, 12_000, `r.id = '${id}'`, {
    ...{ id: `'cus_' || ${paddedNumber(26)}`, email: `'c' || n || '@example.com'` },
    name: engine === 'sqlite' ? `printf('C%06d', 20000 - n)` : `'C' || lpad((20000 - n)::text, 6, '0')`,
  })
  await vacuumTables(app, [customers])
  const read = deps.db.read.rows.bind(deps.db.read)
  using rows = spyOn(deps.db.read, 'rows')
  for (const [query, first] of [
    ['sort=name', 'C008000'],
    ['sort=name&page=3', 'C008020'],
  ]) {
    rows.mockClear()
    const { data, total } = ok(await shop.get(`/customer?${query}&limit=10`)).body
    expect([query, data[0].name, data.length, total]).toEqual([query, first, 10, 12_001])
    const [statement] = rows.mock.calls.map(([one]) => one as SQL).slice(-1)
    const plan = await read<Json>(sql`${sql.raw(engine === 'sqlite' ? 'explain query plan' : 'explain')} ${statement}`)
    const lines = plan.map((line) => String(line.detail ?? line['QUERY PLAN']).trim())
    expect([query, lines.filter((line) => /TEMP B-TREE|SCAN|Sort {2}|Seq Scan|Bitmap/.test(line))]).toEqual([query, []])
    expect(lines.join('\n')).toContain('customers_name')
  }
})
