/** Tests the limits of HTML in routes and imports. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { blogs, collections, products } from '../../../../db/schema/catalog.ts'
import { auditLog } from '../../../../db/schema/people.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { shopIn } from '../../../support/catalog.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const oversizedHtml: [what: string, html: string][] = [
  ['more than 5,000 tags', '<p></p>'.repeat(2_501)],
  ['more than 5,000 tags that are not closed', '<b>'.repeat(5_001)],
  ['text that grows beyond 64 KiB by sanitising', '&'.repeat(20_000)],
  ['text beyond 64 KiB', 'x'.repeat(64 * 1024 + 1)],
]
const readStored = async ({ deps: { db } }: TestApp) => [
  await db.read.select().from(products),
  await db.read.select().from(collections),
  await db.read.select().from(blogs),
  (await db.read.select().from(auditLog)).length,
]

test.each(oversizedHtml)('%s is 400 and names the field on every route that takes HTML, and nothing is stored', async (_, html) => {
  await using app = await testApp()
  const { post, patch } = await shopIn(app)
  const [product, collection, blog] = [
    await post('/product-v2', { title: 'Kept', descriptionHtml: '<p>Kept</p>' }),
    await post('/collection-v2', { title: 'Kept', descriptionHtml: '<p>Kept</p>' }),
    await post('/blogs', { title: 'Kept', bodyHtml: '<p>Kept</p>' }),
  ]
  const before = await readStored(app)
  for (const [path, created, field] of [
    ['/product-v2', product, 'descriptionHtml'],
    ['/collection-v2', collection, 'descriptionHtml'],
    ['/blogs', blog, 'bodyHtml'],
  ] as const) {
    expect([path, created.status]).toEqual([path, 201])
    for (const answer of [
      await post(path, { title: 'Lost', [field]: html }),
      await patch(`${path}/${created.body.id}`, { title: 'Lost', [field]: html }),
    ]) {
      expect([path, answer.status, answer.body.message]).toEqual([path, 400, expect.stringContaining(`${field}:`)])
      expect(answer.text.length).toBeLessThan(500)
    }
  }
  expect(await readStored(app)).toEqual(before)
})

test.each(oversizedHtml)('an import leaves out a product with %s, also in a dry run, and stores the others', async (_, html) => {
  await using app = await testApp()
  const shop = await shopIn(app)
  const raw = `Handle,Title,Body (HTML)\none,One,<p>1</p>\nmuch,Much,${html}\ntwo,Two,<p>2</p>\n`
  const send = (query = '') =>
    app.call('POST', `/product-v2/import${query}`, { key: shop.secretKey, raw, headers: { 'content-type': 'text/csv' } })
  for (const query of ['?dryRun=true', '']) {
    const report = await send(query)
    expect([query, report.status, report.body]).toMatchObject([query, 200, { created: 2, failed: 1, errors: [{ row: 3 }] }])
  }
  const handles = async () => (await shop.get('/product-v2')).body.data.map(({ handle }: { handle: string }) => handle).sort()
  expect(await handles()).toEqual(['one', 'two'])
  // An existing product stays unchanged.
  await shop.post('/product-v2', { title: 'Before', handle: 'much', descriptionHtml: '<p>Before</p>' })
  for (const query of ['?overwrite=true&dryRun=true', '?overwrite=true'])
    expect([query, (await send(query)).body]).toMatchObject([query, { updated: 2, failed: 1 }])
  const { data } = (await shop.get('/product-v2')).body
  expect(data.find(({ handle }: { handle: string }) => handle === 'much')).toMatchObject({
    title: 'Before',
    descriptionHtml: '<p>Before</p>',
  })
})
