/** Tests slow saves: text that is typed during a save is neither lost nor shown as saved. */
import { expect, setDefaultTimeout } from 'bun:test'
import { usd } from '../support/catalog.ts'
import { consoleTests } from '../support/console-tests.ts'
import { approveBusiness } from '../support/kyb.ts'
import { createCompleteDraft } from '../support/lending.ts'
import { ok, sellingIn } from '../support/selling.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const { test } = consoleTests({
  fill: async ({ app }) => {
    const [operator, borrower] = [await app.superAdmin(), await app.merchant()]
    await approveBusiness(app, borrower, operator)
    return { operator, borrower, selling: await sellingIn(app, { onHand: 10 }) }
  },
})

const address = (digit: number) => `0x${String(digit).repeat(40)}`

/** A script for the page: changes wait until `letGo` is called. */
const holdChanges = `{
  const { promise, resolve } = Promise.withResolvers()
  const before = globalThis.fetch
  globalThis.letGo = resolve
  globalThis.fetch = async (request, ...more) => {
    if (/^(PATCH|PUT)$/.test(request.method)) await promise
    return before(request, ...more)
  }
}`

test('input that is typed during a save stays and is saved next time', async ({ open, app, data: { operator, borrower, selling } }) => {
  const { token } = operator
  const create = async (path: string, body: object) => ok(await app.call('POST', path, { token, body }), 201).body.id
  const read = async (path: string) => ok(await app.call('GET', path, { token })).body
  const lender = await create('/admin/lenders', { displayName: 'Slow' })
  const provider = await create('/admin/service-providers', { displayName: 'Slow', archetype: 'warehouse' })
  const card = ok(await selling.post('/giftcard', { amount: usd(5_000), note: 'Slow' }), 201).body.id
  const wallet = await create('/admin/platform-wallets', { address: address(7) })
  const blog = ok(await selling.post('/blogs', { title: 'Slow', bodyHtml: '<p>Slow</p>' }), 201).body.id
  const discount = ok(await selling.post('/discounts', { title: 'Slow', code: 'SLOW', kind: 'FREE_SHIPPING' }), 201).body.id
  const application = (await createCompleteDraft(app, borrower)).id
  const at = `s/${selling.shop.name}`
  const fields = [
    { as: operator, at: `net/lenders/${lender}`, label: /^Name/, typed: ['First', 'Second'] },
    { as: operator, at: `net/providers/${provider}`, label: /^Name/, typed: ['First', 'Second'] },
    { as: operator, at: `net/wallets/${wallet}`, label: /^Address/, typed: [address(8), address(9)] },
    { as: selling, at: `${at}/gift-cards/${card}`, label: 'Note', typed: ['First', 'Second'] },
    { as: selling, at: `${at}/blog/${blog}`, label: 'Title', typed: ['First', 'Second'] },
    { as: selling, at: `${at}/discounts/${discount}`, label: 'Title', typed: ['First', 'Second'] },
    { as: selling, at: `${at}/settings/mail`, label: 'Sender name', typed: ['First', 'Second'] },
    { as: borrower, at: `s/${borrower.shop.name}/lending/${application}`, label: 'Term (months)', typed: ['24', '36'] },
  ] as const
  for (const { as, at, label, typed } of fields) {
    const visitor = await open({ as, at })
    await visitor.fill(label, typed[0], { role: 'textbox' })
    await visitor.page.evaluate(holdChanges)
    await visitor.press('Save', { role: 'button' })
    await visitor.until(`document.querySelector('form[aria-busy=true]') !== null`, 'the save is under way')
    await visitor.fill(label, typed[1], { role: 'textbox' })
    await visitor.page.evaluate('letGo()')
    await visitor.notice('Saved')
    await visitor.settled()
    expect([at, await visitor.value(label)]).toEqual([at, typed[1]])
    // Unsaved input asks for confirmation before it is lost.
    expect(await visitor.page.evaluate(`dispatchEvent(new Event('beforeunload', { cancelable: true }))`)).toBe(false)
    await visitor.press('Save', { role: 'button' })
    await visitor.until(`dispatchEvent(new Event('beforeunload', { cancelable: true }))`, 'all is saved')
    expect([at, await visitor.value(label)]).toEqual([at, typed[1]])
  }
  expect(await read(`/admin/lenders/${lender}`)).toMatchObject({ displayName: 'Second' })
  expect(await read(`/admin/service-providers/${provider}`)).toMatchObject({ displayName: 'Second' })
  expect(await read(`/admin/platform-wallets/${wallet}`)).toMatchObject({ address: address(9) })
  expect((await selling.get(`/giftcard/${card}`)).body).toMatchObject({ note: 'Second' })
  expect((await selling.get(`/blogs/${blog}`)).body).toMatchObject({ title: 'Second' })
  expect((await selling.get(`/discounts/${discount}`)).body).toMatchObject({ title: 'Second' })
  expect((await app.call('GET', '/shops/v2/mail', { token: selling.token })).body).toMatchObject({ senderName: 'Second' })
  expect((await app.call('GET', `/lending-application/${application}`, { token: borrower.token })).body.requestedTermMonths).toBe(36)
})

test('a form that reloads after a save locks its fields during the save, and keeps the focus', async ({ open, data: { selling } }) => {
  const product = (await selling.add({ title: 'Held', variants: [{ price: usd(100) }] })).id
  const collection = ok(await selling.post('/collection-v2', { title: 'Held' }), 201).body.id
  const lines = [{ variantId: selling.variantId, quantity: 1 }]
  const draft = ok(await selling.post('/v2/orders/drafts', { lines, note: 'Held' }), 201).body.id
  const at = `s/${selling.shop.name}`
  const fields = [
    { at: `${at}/products/${product}`, label: /^Title/, text: 'First' },
    { at: `${at}/collections/${collection}`, label: /^Title/, text: 'First' },
    { at: `${at}/orders/drafts/${draft}`, label: 'Note', text: 'First' },
    { at: `${at}/settings`, label: /^Shop name/, text: 'First' },
  ] as const
  for (const { at: path, label, text } of fields) {
    const visitor = await open({ as: selling, at: path })
    await visitor.fill(label, text, { role: 'textbox' })
    await visitor.page.evaluate(holdChanges)
    await visitor.page.evaluate(`document.activeElement.form.requestSubmit()`)
    await visitor.until(`document.querySelector('form[aria-busy=true]') !== null`, 'the save is under way')
    await visitor.type('lost')
    await visitor.page.evaluate('letGo()')
    await visitor.notice('Saved')
    await visitor.settled()
    expect([path, await visitor.value(label)]).toEqual([path, text])
    await visitor.keyboardAt(label)
    expect(await visitor.page.evaluate(`dispatchEvent(new Event('beforeunload', { cancelable: true }))`)).toBe(true)
  }
  const payments = await open({ as: selling, at: `${at}/settings/payments` })
  await payments.fill('Status', 'Off')
  await payments.page.evaluate(holdChanges)
  await payments.page.evaluate(`document.activeElement.form.requestSubmit()`)
  await payments.until(`document.querySelector('form[aria-busy=true] .form-fields').inert`, 'the fields are held')
  await payments.page.evaluate('letGo()')
  await payments.notice('Saved')
  await payments.keyboardAt('Status')
  expect(ok(await selling.get(`/product-v2/${product}`)).body.title).toBe('First')
  expect(ok(await selling.get(`/v2/orders/drafts/${draft}`)).body.note).toBe('First')
})

test('leaving during a save asks, and no longer after it', async ({ open, data: { selling } }) => {
  const at = `s/${selling.shop.name}`
  const blog = ok(await selling.post('/blogs', { title: 'Slow', bodyHtml: '<p>Slow</p>' }), 201).body.id
  const visitor = await open({ as: selling, at: `${at}/blog/${blog}` })
  await visitor.fill('Title', 'Sent', { role: 'textbox' })
  await visitor.page.evaluate(holdChanges)
  await visitor.press('Save', { role: 'button' })
  await visitor.until(`document.querySelector('form[aria-busy=true]') !== null`, 'the save is under way')
  await visitor.press('Customers', { role: 'link' })
  await visitor.there('Leave without saving?', { role: 'dialog' })
  await visitor.text('This is still being saved')
  await visitor.page.evaluate('letGo()')
  await visitor.heading('Customers')
  expect((await selling.get(`/blogs/${blog}`)).body).toMatchObject({ title: 'Sent' })

  // The dialog and its confirmation close when the request has ended.
  const { id, number } = await selling.placeOrder()
  await visitor.go(`${at}/orders/${id}?do=cancel`)
  await visitor.there(/^Cancel order/, { role: 'dialog' })
  await visitor.keyFill(/^Reason/, 'They called')
  await visitor.page.evaluate(holdChanges.replace('PATCH|PUT', 'POST'))
  await visitor.keyPress('Cancel order', { role: 'button' })
  // The dialog cannot be closed during the request.
  await visitor.key('Escape')
  await visitor.text('Saving…')
  await visitor.there(/^Cancel order/, { role: 'dialog' })
  await visitor.page.evaluate('letGo()')
  await visitor.until(`document.querySelector('dialog') === null`, 'no window any more')
  await visitor.heading(new RegExp(String(number)))
  expect((await selling.order(id)).status).toBe('CANCELLED')

  // The result is shown, also while leaving.
  await visitor.press('Gift cards', { role: 'link' })
  await visitor.heading('Gift cards')
  await visitor.press('Create gift card', { role: 'link' })
  await visitor.there('Create gift card', { role: 'dialog' })
  await visitor.fill(/^Amount/, '77')
  await visitor.page.evaluate(holdChanges.replace('PATCH|PUT', 'POST'))
  await visitor.keyPress('Create', { role: 'button' })
  await visitor.page.evaluate('history.back()')
  await visitor.there('Leave without saving?', { role: 'dialog' })
  await visitor.page.evaluate('letGo()')
  await visitor.there('Gift card created', { role: 'dialog' })
  await visitor.until(`document.querySelectorAll('dialog').length === 1`, 'nothing is asked any more')
  await visitor.press('Done', { role: 'button' })
  await visitor.until(`document.querySelector('dialog') === null`, 'no window any more')
})
