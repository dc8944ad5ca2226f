/** Tests customers and their gift cards in the console, in a browser. */
import { expect, setDefaultTimeout } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { usd } from '../support/catalog.ts'
import { consoleTests } from '../support/console-tests.ts'
import { temporaryDir } from '../support/database.ts'
import { type Selling, sellingIn } from '../support/selling.ts'
import { staffOf } from '../support/staff.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const evil = 'A\u202e "><img src=x onerror=alert(1)> <b>bold</b> '
const long = (length: number) => (evil + 'W'.repeat(length)).slice(0, length)

const { test } = consoleTests({ fill: async ({ app }) => ({ selling: await sellingIn(app, { onHand: 1_000 }) }) })
const at = ({ shop }: Selling, rest: string) => `s/${shop.name}/${rest}`
const post = async (selling: Selling, path: string, body: unknown) => {
  const { status, body: created } = await selling.post(path, body)
  if (status !== 201) throw new Error(`${path} ${status} ${JSON.stringify(created)}`)
  return created
}

test('a customer is created and found by keyboard only, and a taken address shows souk’s error', async ({ open, data: { selling } }) => {
  const visitor = await open({ as: selling, at: at(selling, 'customers') })
  await visitor.heading('Customers')
  await visitor.keyPress('Add customer', { role: 'link' })
  await visitor.there('Add customer', { role: 'dialog' })
  await visitor.keyboardAt(/^Email/)
  await visitor.type('sara@example.com')
  await visitor.keyFill('Name', 'Sara Bat')
  await visitor.keyPress('Create', { role: 'button' })
  await visitor.heading('Sara Bat')
  await visitor.text('Not verified')
  expect(await visitor.axe()).toEqual([])
  await visitor.back()
  await visitor.heading('Customers')
  await visitor.keyFill('Search by name, email or ID', 'sara ba')
  await visitor.there('Sara Bat', { role: 'link' })
  await visitor.until("location.search === '?q=sara+ba'", 'the search in the address')
  await visitor.press('Add customer', { role: 'link' })
  await visitor.fill(/^Email/, 'SARA@example.com', { within: 'Add customer' })
  visitor.expects('POST /customer 409')
  await visitor.press('Create', { within: 'Add customer' })
  await visitor.text('Email: another customer')
  await visitor.press('Close', { within: 'Add customer' })
  await visitor.press('Leave', { role: 'button' })
  await visitor.gone('No email is sent')
})

test('the list is sorted by name', async ({ open, data: { selling } }) => {
  for (const name of ['Sorted a', 'Sorted b']) await post(selling, '/customer', { email: `${name.slice(-1)}@sorted.example`, name })
  const visitor = await open({ as: selling, at: at(selling, 'customers?q=sorted') })
  await visitor.there('Sorted a', { role: 'link' })
  expect((await visitor.all('rowheader')).map((row) => row.slice(-1))).toEqual(['b', 'a'])
  for (const [sort, first] of [
    ['name', 'Sorted a'],
    ['', 'Sorted b'],
  ]) {
    await visitor.press(/^Name/, { role: 'link' })
    await visitor.until(`(new URLSearchParams(location.search).get('sort') ?? '') === '${sort}'`, `sort=${sort}`)
    await visitor.until(`document.querySelector('tbody th')?.innerText.trim() === '${first}'`, `${first} first`)
  }
})

test('a customer is erased after typing the address, but not with an open order', async ({ open, data: { selling } }) => {
  const order = await selling.placeOrder({ quantity: 1 })
  const { id } = await post(selling, '/customer', { email: order.email, name: long(200) })
  const { id: free } = await post(selling, '/customer', { email: 'gone@example.com', name: 'Gone Soon', phone: '+976 1' })
  const visitor = await open({ as: selling, at: at(selling, `customers/${id}?erase=1`), width: 'phone', scheme: 'dark' })
  await visitor.there('Erase this customer’s personal data?', { role: 'dialog' })
  await visitor.keyFill('Enter the customer’s email to confirm', 'other@example.com')
  await visitor.keyPress('Erase permanently', { role: 'button' })
  await visitor.text('Doesn’t match the customer’s email')
  await visitor.fill(/^Enter the customer’s email/, order.email)
  visitor.expects(`POST /customer/${id}/erase 409`)
  await visitor.press('Erase permanently', { role: 'button' })
  await visitor.text('Fulfil, cancel or settle open orders first.')
  expect(await visitor.axe()).toEqual([])
  await visitor.go(at(selling, `customers/${free}`))
  await visitor.heading('Gone Soon')
  await visitor.press('Erase personal data', { role: 'link' })
  await visitor.fill(/^Enter the customer’s email/, 'gone@example.com')
  await visitor.press('Erase permanently', { role: 'button' })
  await visitor.heading('Erased')
  await visitor.gone('+976 1')
  expect((await selling.get(`/customer/${free}`)).body).toMatchObject({ name: '', phone: null, erasedAt: expect.any(String) })
})

test('addresses with any text are shown, and one is added', async ({ open, data: { selling } }) => {
  const { id } = await post(selling, '/customer', { email: 'book@example.com', name: 'Book' })
  const address = { name: long(200), line1: long(200), city: long(100), countryCode: 'MN' }
  await post(selling, `/customer/${id}/addresses`, address)
  const visitor = await open({ as: selling, at: at(selling, `customers/${id}`), language: 'ar', width: 'phone' })
  await visitor.heading('Book')
  await visitor.until("document.querySelectorAll('address').length === 1", 'an address')
  expect(await visitor.axe()).toEqual([])
  await visitor.press('إضافة', { role: 'button' })
  await visitor.until("document.querySelector('dialog') !== null", 'the form')
  expect(await visitor.axe()).toEqual([])
})

test('another address becomes the default, and a dialog over a page of a list returns to that page', async ({
  open,
  data: { selling },
}) => {
  const { id } = await post(selling, '/customer', { email: 'moved@example.com', name: 'Moved House' })
  const address = { name: 'Moved House', city: 'Ulaanbaatar', countryCode: 'MN' }
  await post(selling, `/customer/${id}/addresses`, { ...address, line1: 'Old 1', isDefaultShipping: true })
  const { id: next } = await post(selling, `/customer/${id}/addresses`, { ...address, line1: 'New 2' })
  const visitor = await open({ as: selling, at: at(selling, `customers/${id}`) })
  await visitor.press('Set as Default shipping address', { role: 'button', within: /New 2/ })
  await visitor.there('Set as Default shipping address', { role: 'button', within: /Old 1/ })
  expect((await selling.get(`/addresses/${next}`)).body).toMatchObject({ isDefaultShipping: true })
  await visitor.go(`${at(selling, 'customers')}?page=2`)
  await visitor.press('Add customer', { role: 'link' })
  await visitor.there('Add customer', { role: 'dialog' })
  await visitor.press('Close', { within: 'Add customer' })
  await visitor.until(`location.search === '?page=2'`, 'the page that it was opened on')
})

test('an import of customers shows a preview, then the result with every refused row', async ({ open, data: { selling } }) => {
  const file = join(temporaryDir(), 'customers.csv')
  writeFileSync(
    file,
    'First Name,Last Name,Email,Accepts Email Marketing\r\nAmar,One,amar@example.com,yes\r\nBad,Two,not an address,no\r\n=cmd,Three,three@example.com,no\r\n',
  )
  const visitor = await open({ as: selling, at: at(selling, 'customers/import') })
  await visitor.heading('Import customers')
  await visitor.upload(/^Choose CSV file/, [file])
  await visitor.press('Preview import')
  await visitor.there('Preview', { role: 'region' })
  await visitor.text('Will be created')
  expect(await visitor.has('Created')).toBe(false)
  await visitor.there('Errors', { role: 'region' })
  expect((await selling.get('/customer?email=amar@example.com')).body.total).toBe(0)
  expect(await visitor.axe()).toEqual([])
  await visitor.press('Import 2 customers')
  await visitor.there('Result', { role: 'region' })
  await visitor.text('Created')
  expect((await selling.get('/customer?email=amar@example.com')).body.data).toMatchObject([{ name: 'Amar One', acceptsMarketing: true }])
})

test('a gift card is issued by keyboard on a phone, and its code is shown once', async ({ open, data: { selling } }) => {
  const { id: customerId } = await post(selling, '/customer', { email: 'gift@example.com', name: 'Gift Taker' })
  const visitor = await open({ as: selling, at: at(selling, 'gift-cards'), width: 'phone' })
  await visitor.heading('Gift cards')
  await visitor.keyPress('Create gift card', { role: 'link' })
  await visitor.there('Create gift card', { role: 'dialog' })
  await visitor.type('0')
  await visitor.keyPress('Create', { role: 'button' })
  await visitor.text('Enter an amount in USD above 0')
  await visitor.keyFill(/^Amount/, '12.34', { back: true })
  await visitor.tabTo('Customer')
  await visitor.type('gift ta')
  await visitor.there(/Gift Taker/, { role: 'option' })
  await visitor.key('Enter')
  await visitor.there(/Remove: Gift Taker/, { role: 'button' })
  await visitor.keyFill('Note', long(500))
  await visitor.keyPress('Create', { role: 'button' })
  await visitor.there('Gift card created', { role: 'dialog' })
  const [card] = (await selling.get(`/giftcard?customerId=${customerId}`)).body.data
  expect(card).toMatchObject({ balance: usd(1_234), customerId, note: long(500).trim() })
  await visitor.until(`document.querySelector('.code-once').textContent.endsWith('${card.last4}')`, 'the code')
  expect(await visitor.axe()).toEqual([])
  await visitor.key('Escape')
  await visitor.there('Have you saved it?', { role: 'dialog' })
  await visitor.press('Stay')
  await visitor.there('Gift card created', { role: 'dialog' })
  await visitor.press('Done')
  await visitor.gone('Copy the code now')
  expect(await visitor.axe()).toEqual([])
})

/** A script for the page: reads of a customer wait until `letGo` is called, and there is no clipboard API. */
const holdCustomerReads = `{
  const { promise, resolve } = Promise.withResolvers()
  const before = window.fetch
  window.letGo = resolve
  window.fetch = async (request, ...more) => {
    if (request.method === 'GET' && /\\/customer\\/cus/.test(request.url)) await promise
    return before(request, ...more)
  }
  Object.defineProperty(navigator, 'clipboard', { value: undefined })
  window.takes = true
  document.execCommand = () => ((window.taken = document.activeElement.value), window.takes)
}`

test('a card that is issued from a customer’s page has the customer at once, and its code is copied without a secure context', async ({
  open,
  data: { selling },
}) => {
  const { id } = await post(selling, '/customer', { email: 'theirs@example.com', name: 'Whose It Is' })
  const visitor = await open({ as: selling, at: at(selling, 'gift-cards') })
  await visitor.page.command('Page.addScriptToEvaluateOnNewDocument', { source: holdCustomerReads })
  await visitor.go(`${at(selling, 'gift-cards')}?new=1&customer=${id}`)
  await visitor.there(`Remove: ${id}`, { role: 'button' })
  await visitor.fill(/^Amount/, '5')
  await visitor.press('Create', { role: 'button' })
  await visitor.there('Gift card created', { role: 'dialog' })
  const { data } = (await selling.get(`/giftcard?customerId=${id}`)).body
  expect(data).toMatchObject([{ balance: usd(500) }])
  await visitor.press('Copy: Code', { role: 'button' })
  await visitor.text('Copied')
  expect(await visitor.page.evaluate('window.taken.slice(-4)')).toBe(data[0].last4)
  await visitor.page.evaluate('window.takes = false')
  await visitor.press('Copy: Code', { role: 'button' })
  await visitor.text('Couldn’t copy')
  await visitor.page.evaluate('letGo()')
})

test('a card is disabled after a confirmation and enabled again, and a concurrent change of its note is shown', async ({
  open,
  data: { selling },
}) => {
  const { id, last4 } = await post(selling, '/giftcard', { amount: usd(5_000), note: 'First' })
  const visitor = await open({ as: selling, at: at(selling, `gift-cards/${id}`) })
  await visitor.heading(`Gift card …${last4}`)
  await visitor.keyPress('Disable', { role: 'button' })
  await visitor.there('Disable this gift card?', { role: 'dialog' })
  await visitor.press('Disable', { within: 'Disable this gift card?' })
  await visitor.text('Gift card disabled')
  await visitor.press('Undo')
  await visitor.text('Active')
  expect((await selling.get(`/giftcard/${id}`)).body.status).toBe('ACTIVE')
  await visitor.fill('Note', 'Mine')
  await selling.patch(`/giftcard/${id}`, { note: 'Theirs' })
  visitor.expects(`PATCH /giftcard/${id} 412`)
  await visitor.press('Save')
  await visitor.there('Someone else changed this', { role: 'dialog' })
  await visitor.there(/Theirs/, { role: 'cell' })
  await visitor.press('Overwrite with mine')
  await visitor.notice('Saved')
  expect((await selling.get(`/giftcard/${id}`)).body.note).toBe('Mine')
})

test('an order of the shop does not discard a typed note, and leaving asks about an unsaved card code', async ({
  open,
  data: { selling },
}) => {
  const { id } = await post(selling, '/giftcard', { amount: usd(5_000), note: 'First' })
  const visitor = await open({ as: selling, at: at(selling, `gift-cards/${id}`) })
  await visitor.fill('Note', 'Half a sentence')
  await selling.patch(`/giftcard/${id}`, { status: 'DISABLED' })
  await selling.placeOrder({ quantity: 1 })
  await visitor.there('Enable', { role: 'button' })
  expect(await visitor.value('Note')).toBe('Half a sentence')
  await visitor.press('Save')
  await visitor.notice('Saved')

  await visitor.go(at(selling, 'gift-cards'))
  await visitor.press('Create gift card', { role: 'link' })
  await visitor.fill(/^Amount/, '5', { within: 'Create gift card' })
  await visitor.press('Create', { within: 'Create gift card' })
  await visitor.there('Gift card created', { role: 'dialog' })
  await visitor.back()
  await visitor.press('Stay', { role: 'button' })
  await visitor.there('Gift card created', { role: 'dialog' })
})

test('a read-only role sees customers without edit controls and no gift cards', async ({ open, app, data: { selling } }) => {
  const reader = await staffOf(app, selling, 'READ_ONLY')
  const { id } = await post(selling, '/customer', { email: 'read@example.com', name: 'Read Me' })
  const visitor = await open({ as: reader, at: at(selling, 'customers') })
  await visitor.heading('Customers')
  await visitor.there('Read Me', { role: 'link' })
  expect([await visitor.has('Add customer'), await visitor.has('Export CSV')]).toEqual([false, false])
  await visitor.go(at(selling, `customers/${id}`))
  await visitor.heading('Read Me')
  expect([await visitor.has('Erase personal data'), await visitor.has('Export')]).toEqual([false, false])
  await visitor.go(at(selling, 'gift-cards'))
  await visitor.heading('You don’t have permission')
})
