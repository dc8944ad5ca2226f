/** A shop's settings in the console: what it is, how it is paid and sends, taxes, keys and host names; by keyboard, at both widths. */
import { afterAll, expect, setDefaultTimeout } from 'bun:test'
import { join } from 'node:path'
import { startStripe } from '../clients/processors/stripe-server.ts'
import type { TestApp } from '../support/app.ts'
import { shopIn, usd } from '../support/catalog.ts'
import { consoleTests } from '../support/console-tests.ts'
import { temporaryDir } from '../support/database.ts'
import { hearsNothing } from '../support/lost-response.ts'
import { jpegOf } from '../support/pictures.ts'
import { staffOf } from '../support/staff.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

/** Turns the direction around, is markup, and has no place to break. */
const hostile = `\u202e<img src=x onerror="alert(1)">${'W'.repeat(120)}`
const stripe = await startStripe()
afterAll(() => stripe[Symbol.asyncDispose]())
/** What the DNS says: nothing of ours. */
const lookUpTxt = async () => ({ strings: ['v=spf1 -all'] })

const { test } = consoleTests({
  settings: { STRIPE_API_URL: stripe.url, OUTGOING_ALLOWED_NETWORKS: '127.0.0.0/8' },
  options: { lookUpTxt },
})

type Own = Awaited<ReturnType<typeof shopIn>>
const at = ({ shop }: Own, path = '') => `s/${shop.name}/settings${path}`
const now = async (app: TestApp, { token }: Own, path: string) => (await app.call('GET', path, { token })).body

test('the shop: its title, address and time zone by keyboard alone, and only what was changed is sent', async ({ open, app }) => {
  const own = await shopIn(app)
  await app.call('PATCH', '/shops/v2', { token: own.token, body: { description: hostile, contact: { phone: '+1' } } })
  const visitor = await open({ as: own, at: at(own), width: 'phone', scheme: 'dark' })
  await visitor.heading('Shop')
  await visitor.keyFill('Title', hostile)
  await visitor.keyFill('City', 'Kuwait')
  await visitor.keyFill('Addresses of storefronts', 'https://tea.example')
  await visitor.key('Enter')
  await visitor.tabTo('Save')
  await visitor.key('Enter')
  await visitor.text('Saved')
  expect(await now(app, own, '/shops/v2')).toMatchObject({
    title: hostile,
    description: hostile,
    contact: { phone: '+1' },
    address: { city: 'Kuwait' },
    storefrontOrigins: ['https://tea.example'],
  })
  await visitor.fill('Time zone', 'Asia/Kuwait')
  await visitor.press('Save')
  await visitor.settled()
  // What was said of the time before is over.
  await visitor.until(`document.querySelectorAll('.toast').length === 1`, 'saved again')
  expect(await now(app, own, '/shops/v2')).toMatchObject({ timeZone: 'Asia/Kuwait' })
  expect(await visitor.axe()).toEqual([])
})

test('the shop: who was slower sees both, and what souk refuses is shown and stays typed', async ({ open, app }) => {
  const own = await shopIn(app)
  await own.add({ title: 'Mug', variants: [{ price: usd(100) }] })
  const visitor = await open({ as: own, at: at(own) })
  await visitor.heading('Shop')
  visitor.expects('PATCH /shops/v2 409', 'PATCH /shops/v2 412')
  await visitor.fill('Currency', 'KWD · Kuwaiti Dinar')
  await visitor.press('Save')
  await visitor.text('Currency: the shop has prices')
  expect(await visitor.value('Currency')).toBe('KWD')
  await visitor.fill('Currency', 'USD · US Dollar')
  await visitor.fill('Title', 'Mine')
  await app.call('PATCH', '/shops/v2', { token: own.token, body: { title: 'Theirs', description: 'Theirs too' } })
  await visitor.press('Save')
  const asked = 'Somebody else changed this meanwhile'
  await visitor.there(asked, { role: 'dialog' })
  await visitor.there('Theirs', { role: 'cell' })
  await visitor.press('Save mine over it', { within: asked })
  await visitor.text('Saved')
  expect(await now(app, own, '/shops/v2')).toMatchObject({ title: 'Mine', description: 'Theirs too' })
  // What was typed and not sent is asked about before it is left.
  await visitor.fill('Title', 'Lost')
  await visitor.press('Taxes')
  await visitor.there('Leave without saving?', { role: 'dialog' })
  await visitor.press('Stay')
  expect(await visitor.value('Title')).toBe('Lost')
})

test('the shop: a logo is handed in, shown and taken away', async ({ open, app }) => {
  const own = await shopIn(app)
  const visitor = await open({ as: own, at: at(own) })
  await visitor.heading('Shop')
  const file = join(temporaryDir(), 'logo.jpg')
  await Bun.write(file, await jpegOf(64, 48))
  await visitor.upload(/Choose a picture/, [file])
  await visitor.until(`document.querySelector('main img.picture')?.naturalWidth === 64`, 'the logo')
  await visitor.press('Save')
  await visitor.text('Saved')
  expect((await now(app, own, '/shops/v2')).logoUrl).toContain('/media/')
  await visitor.press('Take the logo away')
  await visitor.press('Save')
  await visitor.gone('Take the logo away')
})

test('payments: the ways of the resolver are told in words, a method is switched off, and a secret key is refused', async ({
  open,
  app,
}) => {
  const own = await shopIn(app)
  const visitor = await open({ as: own, at: at(own, '/payments'), width: 'phone' })
  await visitor.heading('Payments')
  await visitor.there('Card', { role: 'region' })
  expect(await visitor.all('listitem', { within: 'Card' })).toHaveLength(4)
  await visitor.text('Nobody is named here')
  await visitor.tabTo('Offered', { role: 'combobox' })
  await visitor.key('ArrowDown')
  await visitor.tabTo('Processor', { role: 'combobox' })
  await visitor.key('ArrowDown')
  await visitor.keyFill('Publishable key', 'sk_test_secret')
  visitor.expects('PUT /shops/v2/payment-methods 400')
  await visitor.key('Enter')
  await visitor.text('Publishable key: ')
  await visitor.keyFill('Publishable key', 'pk_test_public')
  await visitor.key('Enter')
  await visitor.text('Saved')
  // There is no account behind it: the answer warns.
  await visitor.text('No payment can be made by stripe')
  await visitor.there('Offered, by Stripe', { within: 'Card' })
  expect(await now(app, own, '/shops/v2/payment-methods')).toMatchObject({
    card: { enabled: true, processor: 'stripe', publishableKey: 'pk_test_public' },
  })
  expect(await visitor.axe()).toEqual([])
})

test('payments: an account is put by keyboard, its secrets are never shown, and it is removed once that was confirmed', async ({
  open,
  app,
}) => {
  const own = await shopIn(app)
  const visitor = await open({ as: own, at: at(own, '/payments/stripe') })
  await visitor.heading('Stripe')
  await visitor.keyFill('Publishable key', 'pk_test_standin')
  await visitor.keyFill('Secret key', 'sk_test_unknown')
  visitor.expects('PUT /shops/v2/processor-accounts/stripe 400')
  await visitor.key('Enter')
  await visitor.text('Stripe does not know this key')
  await visitor.keyFill('Secret key', 'sk_test_standin')
  await visitor.key('Enter')
  await visitor.there('Your account for test money', { role: 'region' })
  expect(await visitor.value('Secret key')).toBe('')
  expect(await visitor.page.evaluate('document.documentElement.outerHTML.includes("sk_test_standin")')).toBe(false)
  expect(await visitor.axe()).toEqual([])
  await visitor.keyPress('Remove', { back: true })
  await visitor.there('Remove your Stripe account for test money?', { role: 'dialog' })
  await visitor.press('Remove', { within: 'Remove your Stripe account for test money?' })
  await visitor.there('No account of your own', { role: 'heading' })
  expect((await app.call('GET', '/shops/v2/processor-accounts/stripe', { token: own.token })).status).toBe(404)
})

test('shipping: a way with a zone and bands by keyboard, and what a cart would see of it at once', async ({ open, app }) => {
  const own = await shopIn(app)
  const visitor = await open({ as: own, at: at(own, '/shipping'), width: 'phone' })
  await visitor.there('Nothing is charged for sending yet')
  await visitor.keyPress('Add a way to send', { role: 'link' })
  await visitor.heading('New way to send')
  await visitor.keyFill('Name', hostile)
  await visitor.keyFill('Code', 'gulf')
  await visitor.tabTo('Price', { role: 'combobox' })
  await visitor.key('ArrowDown')
  await visitor.tabTo('Countries')
  await visitor.type('kuw')
  await visitor.until(`document.querySelectorAll('[role=option]').length === 1`, 'Kuwait alone')
  await visitor.key('Enter')
  await visitor.tabTo('Depends on')
  await visitor.key('ArrowDown')
  await visitor.keyFill('Up to (grams)', '1000')
  await visitor.keyFill('Costs (USD)', '4.5')
  await visitor.fill('Country', 'Kuwait')
  await visitor.text('$4.50')
  await visitor.fill('Weight (grams)', '1001')
  await visitor.text('Beyond the last step')
  expect(await visitor.axe()).toEqual([])
  await visitor.press('Save')
  await visitor.heading('Shipping')
  expect((await now(app, own, '/shops/v2/shipping-methods')).data).toEqual([
    { code: 'gulf', title: hostile, zones: [{ countries: ['KW'] }], rates: [{ upToGrams: 1000, amount: usd(450) }] },
  ])
  expect(await visitor.axe()).toEqual([])
})

test('shipping: the preview knows provinces by code, English name and local name, whatever the zone calls them', async ({ open, app }) => {
  const own = await shopIn(app)
  const zones = [
    { countries: ['JP'], provinces: ['Tokyo', '大阪府'] },
    { countries: ['US'], provinces: ['DC'] },
  ]
  await own.put('/shops/v2/shipping-methods', { data: [{ code: 'zoned', title: 'Zoned', zones, rates: [{ amount: usd(450) }] }] })
  const visitor = await open({ as: own, at: at(own, '/shipping') })
  const offered = 'table tbody tr'
  await visitor.fill('Country', 'Japan')
  for (const province of ['東京都', 'tokyo', '13', 'JP-27', 'Osaka']) {
    await visitor.fill('Province or state', province)
    await visitor.until(`[...document.querySelectorAll('${offered}')].at(-1)?.textContent.includes('$4.50')`, `offered to ${province}`)
    await visitor.fill('Province or state', '北海道')
    await visitor.until(`![...document.querySelectorAll('${offered}')].at(-1)?.textContent.includes('$4.50')`, 'not offered to Hokkaido')
  }
  await visitor.fill('Country', 'United States')
  await visitor.fill('Province or state', 'District of Columbia')
  await visitor.until(`[...document.querySelectorAll('${offered}')].at(-1)?.textContent.includes('$4.50')`, 'offered to DC')
})

test('shipping: two people change two ways at once and neither is lost; the order is changed by keyboard; one is removed', async ({
  open,
  app,
}) => {
  const own = await shopIn(app)
  const flat = (code: string, amount: number) => ({ code, title: code, countries: ['US'], price: usd(amount) })
  await own.put('/shops/v2/shipping-methods', { data: [flat('one', 100), flat('two', 200)] })
  const visitor = await open({ as: own, at: at(own, '/shipping?method=one') })
  await visitor.heading('one')
  await visitor.fill('Price (USD)', '9.99')
  await own.put('/shops/v2/shipping-methods', { data: [flat('one', 100), flat('two', 5_555)] })
  visitor.expects('PUT /shops/v2/shipping-methods 412')
  await visitor.press('Save')
  await visitor.press('Save mine over it')
  await visitor.heading('Shipping')
  expect((await now(app, own, '/shops/v2/shipping-methods')).data).toEqual([flat('one', 999), flat('two', 5_555)])
  await visitor.tabTo('Move two')
  await visitor.key('ArrowUp')
  await visitor.keyPress('Save the order')
  await visitor.gone('Save the order')
  expect((await now(app, own, '/shops/v2/shipping-methods')).data).toEqual([flat('two', 5_555), flat('one', 999)])
  await visitor.press('one', { role: 'link' })
  await visitor.heading('one')
  await visitor.back()
  await visitor.heading('Shipping')
  await visitor.press('one', { role: 'link' })
  await visitor.press('Remove')
  await visitor.press('Remove', { within: 'Remove "one"?' })
  await visitor.heading('Shipping')
  await visitor.gone('$9.99')
})

test('taxes: a rate by keyboard, one that is there already is named, and one that was removed comes back', async ({ open, app }) => {
  const own = await shopIn(app)
  const visitor = await open({ as: own, at: at(own, '/taxes'), width: 'phone', scheme: 'dark' })
  await visitor.there('No tax is charged')
  for (const [region, percent] of [
    ['CA', '7.25'],
    ['us-ca', '8'],
  ] as const) {
    await visitor.keyPress('Add a rate', { role: 'link' })
    await visitor.heading('New rate')
    await visitor.fill('Country', 'United States')
    await visitor.keyFill('Province or state', region)
    await visitor.keyFill('Rate (%)', percent)
    await visitor.key('Enter')
    if (region === 'CA') await visitor.heading('Taxes')
  }
  await visitor.text('That did not work There is a rate for that already: United States, CA (7.25%')
  await visitor.keyFill('Province or state', hostile.slice(0, 100), { back: true })
  visitor.expects('PUT /shops/v2/tax-rates 400')
  await visitor.key('Enter')
  await visitor.text('Province or state: ')
  await visitor.keyFill('Province or state', 'NY')
  await visitor.key('Enter')
  await visitor.heading('Taxes')
  await visitor.keyPress('Remove: United States, CA', { role: 'button' })
  await visitor.gone('7.25%')
  expect(await visitor.axe()).toEqual([])
  await visitor.press('Undo')
  await visitor.text('7.25%')
  expect((await now(app, own, '/shops/v2/tax-rates')).data.map(({ region }: { region: string }) => region).sort()).toEqual(['CA', 'NY'])
})

test('keys: the secret one is shown once one asks, replaced once that was confirmed, and ten times an hour', async ({ open, app }) => {
  const own = await shopIn(app)
  await app.call('PATCH', '/shops/v2', { token: own.token, body: { timeZone: 'Asia/Kathmandu' } })
  const visitor = await open({ as: own, at: at(own, '/keys'), timeZone: 'America/New_York' })
  await visitor.heading('Keys')
  await visitor.text(own.publishableKey)
  expect(await visitor.has(own.secretKey)).toBe(false)
  await visitor.keyPress('Show the secret key')
  await visitor.there('Show the secret key?', { role: 'dialog' })
  await visitor.press('Show the secret key', { within: 'Show the secret key?' })
  await visitor.text(own.secretKey)
  expect(await visitor.axe()).toEqual([])
  await visitor.keyPress('Replace it')
  await visitor.there('Replace the secret key?', { role: 'dialog' })
  await visitor.press('Replace it', { within: 'Replace the secret key?' })
  await visitor.text('This is the new key.')
  // Moments are told by the shop's clock, and not by that of the browser.
  const { at: until, said } = (await visitor.page.evaluate(
    `(({ dateTime, textContent }) => ({ at: dateTime, said: textContent }))(document.querySelector('main time'))`,
  )) as { at: string; said: string }
  const clock = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'Asia/Kathmandu' })
  expect(said.replace(/\s/g, ' ')).toBe(clock.format(new Date(until)).replace(/\s/g, ' '))
  expect(await visitor.has(own.secretKey)).toBe(false)
  // The old one goes on for the hour that was chosen.
  expect((await app.call('GET', '/shops/v2/tax-rates', { key: own.secretKey })).status).toBe(200)
  // Replaced without a grace, there is no moment until which the one before goes on.
  await visitor.fill('The old key goes on', 'not at all')
  await visitor.press('Replace it')
  await visitor.press('Replace it', { within: 'Replace the secret key?' })
  await visitor.text('This is the new key. The one before has ended.')
  for (let reading = 1; reading < 10; reading++) await app.call('GET', '/shops/v2/private-key', { token: own.token })
  visitor.expects('GET /shops/v2/private-key 429')
  await visitor.press('Hide it')
  await visitor.press('Show the secret key')
  await visitor.press('Show the secret key', { within: 'Show the secret key?' })
  await visitor.text('Try again in')
  await visitor.go(at(own))
  await visitor.heading('Shop')
  await visitor.go(at(own, '/keys'))
  await visitor.heading('Keys')
  expect(await visitor.page.evaluate('document.documentElement.outerHTML.includes("sk_test_")')).toBe(false)
})

test('host names: added by keyboard, what the DNS says instead is shown, and one is removed; a role that was taken away is told', async ({
  open,
  app,
}) => {
  const own = await shopIn(app)
  const manager = await staffOf(app, own, 'MANAGER')
  const visitor = await open({ as: manager, at: at(own, '/hosts'), width: 'phone' })
  await hearsNothing(visitor)
  await visitor.heading('Host names')
  await visitor.keyFill('Host name', 'https://no')
  visitor.expects('POST /shops/v2/hosts 400', 'POST /shops/v2/hosts/tea.example.com/verify 409', /hosts.* 40[13]/)
  await visitor.key('Enter')
  await visitor.text('Host name: ')
  await visitor.keyFill('Host name', 'tea.example.com')
  await visitor.key('Enter')
  await visitor.there('tea.example.com', { role: 'region' })
  await visitor.text('_souk.tea.example.com')
  await visitor.keyPress('Look now')
  await visitor.text('None of the TXT records')
  expect(await visitor.axe()).toEqual([])
  await visitor.keyPress('Remove', { back: true })
  await visitor.press('Remove', { within: 'Remove tea.example.com?' })
  await visitor.there('No host names yet')
  await app.call('PATCH', `/shops/v2/staff/${manager.staffId}`, { token: own.token, body: { role: 'READ_ONLY' } })
  await visitor.keyFill('Host name', 'tea.example.com')
  await visitor.key('Enter')
  await visitor.text('That did not work')
  expect((await now(app, own, '/shops/v2/hosts')).data).toEqual([])
})
