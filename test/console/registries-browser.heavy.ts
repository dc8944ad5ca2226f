/** Tests the registries of the trust fabric and the partnerships, in a browser. */
import { expect, setDefaultTimeout } from 'bun:test'
import { consoleTests } from '../support/console-tests.ts'
import { ok } from '../support/selling.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const address = (digit: number) => `0x${String(digit).repeat(40)}`
const name = 'Lender "><img src=x onerror=alert(1)> <b>bold</b> '.padEnd(200, 'W')

const { test } = consoleTests({ fill: async ({ app }) => ({ operator: await app.superAdmin() }) })

test('a lender is registered by keyboard and activated, and its history shows that', async ({ open, app, data: { operator } }) => {
  const visitor = await open({ as: operator, at: 'net/lenders' })
  await visitor.text('No lenders yet')
  expect(await visitor.axe()).toEqual([])
  await visitor.keyPress('Add lender', { role: 'link' })
  await visitor.heading('Add lender')
  await visitor.keyFill(/^Name/, name)
  await visitor.keyPress('Add wallet')
  await visitor.keyFill('Address of wallet 1', '0x12')
  visitor.expects('POST /admin/lenders 400')
  await visitor.keyPress('Add', { role: 'button' })
  await visitor.until(`document.querySelector('.problem, .toast.bad') !== null`, 'an error')
  await visitor.keyFill('Address of wallet 1', address(1))
  await visitor.keyPress('Add', { role: 'button' })
  await visitor.heading(/bold/)
  await visitor.text('Verification pending')
  expect(await visitor.axe()).toEqual([])
  await visitor.keyPress('Activate', { role: 'button', back: true })
  await visitor.there(/^Activate /, { role: 'dialog' })
  await visitor.keyPress('Activate', { role: 'button' })
  await visitor.there('Suspend', { role: 'button' })
  const { data } = ok(await app.call('GET', '/admin/lenders', { token: operator.token })).body
  expect(data).toMatchObject([
    { status: 'ACTIVE', wallets: [{ to: null }], statusHistory: [{ status: 'PENDING_KYB' }, { status: 'ACTIVE' }] },
  ])
  await visitor.width('phone')
  await visitor.scheme('dark')
  expect(await visitor.axe()).toEqual([])
})

test('a concurrent change of a record is shown, and a transition that is no longer possible is refused', async ({
  open,
  app,
  data: { operator },
}) => {
  const { token } = operator
  const { id } = ok(await app.call('POST', '/admin/lenders', { token, body: { displayName: 'Two of us' } }), 201).body
  const visitor = await open({ as: operator, at: `net/lenders/${id}`, width: 'phone' })
  await visitor.heading('Two of us')
  ok(await app.call('PATCH', `/admin/lenders/${id}`, { token, body: { status: 'ARCHIVED' } }))
  visitor.expects(`PATCH /admin/lenders/${id} 412`, `PATCH /admin/lenders/${id} 409`)
  await visitor.press('Activate', { role: 'button' })
  await visitor.press('Activate', { role: 'button', within: /^Activate / })
  await visitor.there('Someone else changed this', { role: 'dialog' })
  expect(await visitor.axe()).toEqual([])
  await visitor.press('Overwrite with mine', { role: 'button' })
  await visitor.until(`document.querySelector('.problem, .toast.bad') !== null`, 'an error')
  expect(ok(await app.call('GET', `/admin/lenders/${id}`, { token })).body.status).toBe('ARCHIVED')
})

test('a provider’s secret is shown once, and replaced after a confirmation', async ({ open, app, data: { operator } }) => {
  const { token } = operator
  const visitor = await open({ as: operator, at: 'net/providers/new' })
  await visitor.heading('Add provider')
  await visitor.keyFill(/^Name/, 'Harbour')
  await visitor.fill('Type', 'Warehouse')
  await visitor.keyPress('Add', { role: 'button' })
  await visitor.text('whsec_')
  expect(await visitor.axe()).toEqual([])
  await visitor.press('Done', { role: 'button' })
  await visitor.text('Webhook URL')
  expect(await visitor.has('whsec_')).toBe(false)
  const { data } = ok(await app.call('GET', '/admin/service-providers', { token })).body
  expect(data).toMatchObject([{ displayName: 'Harbour', archetype: 'warehouse', status: 'PENDING_REVIEW' }])
  await visitor.keyPress('Rotate secret', { role: 'button' })
  await visitor.there('Rotate the secret of Harbour?', { role: 'dialog' })
  await visitor.keyPress('Rotate secret', { role: 'button' })
  await visitor.text('Previous secret valid until')
  await visitor.width('phone')
  expect(await visitor.axe()).toEqual([])
  await visitor.keyPress('Done', { role: 'button' })
  await visitor.gone('whsec_')
  await visitor.reload()
  await visitor.heading('Harbour')
  await visitor.gone('whsec_')
})

test('a version of a methodology supersedes the previous one, and its revocation is final', async ({ open, app, data: { operator } }) => {
  const { token } = operator
  const { id: lenderId } = ok(await app.call('POST', '/admin/lenders', { token, body: { displayName: 'Methodical' } }), 201).body
  const first = { lenderId, version: '1', contentHash: `0x${'a'.repeat(64)}`, documentUrl: 'https://docs.example/1' }
  ok(await app.call('POST', '/admin/methodologies', { token, body: first }), 201)
  const visitor = await open({ as: operator, at: `net/methodologies?lenderId=${lenderId}` })
  await visitor.heading('Credit methodologies')
  await visitor.keyPress('Add version', { role: 'link' })
  await visitor.heading('Add version')
  await visitor.keyFill(/^Version/, '2')
  await visitor.keyFill(/^Document hash/, `0x${'b'.repeat(64)}`)
  await visitor.keyFill(/^Document URL/, 'https://docs.example/2')
  await visitor.keyPress('Add', { role: 'button' })
  await visitor.heading('2')
  // An unknown lender is not replaced by another one.
  visitor.expects('GET /admin/lenders/lend_1 404')
  await visitor.go('net/methodologies/new?lenderId=lend_1')
  await visitor.text('Something went wrong')
  await visitor.back()
  await visitor.heading('2')
  await visitor.press('Revoke', { role: 'button' })
  await visitor.text('This can’t be undone.')
  await visitor.keyPress('Revoke', { role: 'button' })
  await visitor.text('Revoked')
  const { data } = ok(await app.call('GET', `/admin/methodologies?lenderId=${lenderId}`, { token })).body
  expect(data.map(({ version, status }: Record<string, string>) => [version, status])).toEqual([
    ['2', 'REVOKED'],
    ['1', 'SUPERSEDED'],
  ])
})

test('a wallet of the platform is registered and ended in UTC, whatever the user’s time zone', async ({
  open,
  app,
  data: { operator },
}) => {
  const visitor = await open({ as: operator, at: 'net/wallets/new', timeZone: 'Asia/Kuwait', width: 'phone' })
  await visitor.heading('Add wallet')
  await visitor.fill(/^Address/, address(2))
  await visitor.fill('Valid from (UTC)', '2026-01-05T10:00')
  await visitor.press('Add', { role: 'button' })
  await visitor.heading('Platform wallet')
  await visitor.fill('Valid until (UTC)', '2026-02-01T00:00')
  await visitor.press('Save', { role: 'button' })
  await visitor.notice('Saved')
  expect(await visitor.axe()).toEqual([])
  const { data } = ok(await app.call('GET', '/admin/platform-wallets', { token: operator.token })).body
  expect(data).toMatchObject([{ from: '2026-01-05T10:00:00.000Z', to: '2026-02-01T00:00:00.000Z' }])
})

test('a partnership is created with shops from a search, and a shop in two partnerships is reported before saving', async ({
  open,
  app,
  shop,
  data: { operator },
}) => {
  const visitor = await open({ as: operator, at: 'net/partnerships' })
  await visitor.text('No partnerships yet.')
  for (const [at, called] of ['Kyoto', 'Oslo'].entries()) {
    await visitor.press('Add partnership', { role: 'button' })
    const within = `Partnership ${at + 1}`
    await visitor.fill('Shops', shop.shop.name, { within })
    await visitor.there(new RegExp(shop.shop.name), { role: 'option', within })
    await visitor.key('Enter')
    // The value is accepted after the search for it.
    await visitor.there(new RegExp(`^Remove: .*${shop.shop.name}`), { role: 'button', within })
    await visitor.fill(/^Name/, called, { within })
  }
  await visitor.press('Save', { role: 'button' })
  await visitor.text('A shop can belong to only one partnership')
  expect(await visitor.axe()).toEqual([])
  // The search text of a partnership stays when another partnership is removed.
  await visitor.press('Add partnership', { role: 'button' })
  await visitor.fill('Shops', 'looked for', { within: 'Partnership 3' })
  await visitor.press('Remove: Oslo', { role: 'button' })
  expect(await visitor.value('Shops', { within: 'Partnership 2' })).toBe('looked for')
  await visitor.press('Remove: Partnership 2', { role: 'button' })
  await visitor.tabTo('Save', { role: 'button' })
  await visitor.key('Enter')
  await visitor.notice('Saved')
  await visitor.keyboardAt('Save', { role: 'button' })
  // Shops that were chosen by name are not requested again.
  expect((await visitor.requests()).filter((one) => /GET \/admin\/shops\/\S/.test(one))).toEqual([])
  const { data } = ok(await app.call('GET', '/admin/partnerships', { token: operator.token })).body
  expect(data).toEqual([{ name: 'Kyoto', defaultCardProcessor: 'stripe', shopIds: [shop.shop.id] }])
})
