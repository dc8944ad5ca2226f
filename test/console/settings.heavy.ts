/** Tests a shop's settings by keyboard at both widths: shop, payments, shipping, taxes, keys and host names. */
import { afterAll, expect, setDefaultTimeout } from 'bun:test'
import { join } from 'node:path'
import { startStripe } from '../clients/processors/stripe-server.ts'
import type { Json, TestApp } from '../support/app.ts'
import { shopIn, usd } from '../support/catalog.ts'
import { consoleTests } from '../support/console-tests.ts'
import { temporaryDir } from '../support/database.ts'
import { fileBusiness } from '../support/kyb.ts'
import { reloadWithoutEvents } from '../support/lost-response.ts'
import { jpegOf } from '../support/pictures.ts'
import { staffOf } from '../support/staff.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

/** A text with a direction override, markup and a very long word. */
const hostile = `\u202e<img src=x onerror="alert(1)">${'W'.repeat(120)}`
const stripe = await startStripe()
afterAll(() => stripe[Symbol.asyncDispose]())
/** A DNS response without souk's record. */
const lookUpTxt = async () => ({ strings: ['v=spf1 -all'] })

const { test } = consoleTests({
  settings: { STRIPE_API_URL: stripe.url, OUTGOING_ALLOWED_NETWORKS: '127.0.0.0/8' },
  options: { lookUpTxt },
})

type Owner = Awaited<ReturnType<typeof shopIn>>
const at = ({ shop }: Owner, path = '') => `s/${shop.name}/settings${path}`
const readNow = async (app: TestApp, { token }: Owner, path: string) => (await app.call('GET', path, { token })).body

test('the shop: title, address and time zone are changed by keyboard only, and only changed fields are sent', async ({ open, app }) => {
  const owner = await shopIn(app)
  await app.call('PATCH', '/shops/v2', { token: owner.token, body: { description: hostile, contact: { phone: '+1' } } })
  const visitor = await open({ as: owner, at: at(owner), width: 'phone', scheme: 'dark' })
  await visitor.heading('Shop details')
  await visitor.keyFill('Shop name', hostile)
  await visitor.keyFill('City', 'Kuwait')
  await visitor.keyFill('Allowed origins (CORS)', 'https://tea.example')
  await visitor.key('Enter')
  await visitor.tabTo('Save')
  await visitor.key('Enter')
  await visitor.notice('Saved')
  expect(await readNow(app, owner, '/shops/v2')).toMatchObject({
    title: hostile,
    description: hostile,
    contact: { phone: '+1' },
    address: { city: 'Kuwait' },
    storefrontOrigins: ['https://tea.example'],
  })
  await visitor.fill('Time zone', 'Asia/Kuwait')
  await visitor.press('Save')
  await visitor.settled()
  // The earlier message is gone.
  await visitor.until(`document.querySelectorAll('.toast').length === 1`, 'saved again')
  expect(await readNow(app, owner, '/shops/v2')).toMatchObject({ timeZone: 'Asia/Kuwait' })
  expect(await visitor.axe()).toEqual([])
})

test('the shop: an owner takes the legal name of the verification for invoices', async ({ open, app }) => {
  const owner = await shopIn(app)
  const { legalName } = await fileBusiness(app, owner)
  const visitor = await open({ as: owner, at: at(owner) })
  await visitor.press('Use the name from Business verification', { role: 'button' })
  await visitor.gone('Use the name from Business verification')
  expect(await visitor.axe()).toEqual([])
  await visitor.press('Save')
  await visitor.notice('Saved')
  expect(await readNow(app, owner, '/shops/v2')).toMatchObject({ legalName })
})

test('the shop: the second of two editors sees both values, and a refused value is shown and kept', async ({ open, app }) => {
  const owner = await shopIn(app)
  await owner.add({ title: 'Mug', variants: [{ price: usd(100) }] })
  const visitor = await open({ as: owner, at: at(owner) })
  await visitor.heading('Shop details')
  visitor.expects('PATCH /shops/v2 409', 'PATCH /shops/v2 412')
  await visitor.fill('Currency', 'KWD · Kuwaiti Dinar')
  await visitor.press('Save')
  await visitor.text('Currency: cannot change while')
  expect(await visitor.value('Currency')).toBe('KWD')
  await visitor.fill('Currency', 'USD · US Dollar')
  await visitor.fill('Shop name', 'Mine')
  await app.call('PATCH', '/shops/v2', { token: owner.token, body: { title: 'Theirs', description: 'Theirs too' } })
  await visitor.press('Save')
  const conflict = 'Someone else changed this'
  await visitor.there(conflict, { role: 'dialog' })
  await visitor.there('Theirs', { role: 'cell' })
  await visitor.press('Overwrite with mine', { within: conflict })
  await visitor.notice('Saved')
  expect(await readNow(app, owner, '/shops/v2')).toMatchObject({ title: 'Mine', description: 'Theirs too' })
  // Leaving with unsaved input asks for confirmation.
  await visitor.fill('Shop name', 'Lost')
  await visitor.press('Taxes')
  await visitor.there('Leave without saving?', { role: 'dialog' })
  await visitor.press('Stay')
  expect(await visitor.value('Shop name')).toBe('Lost')
})

test('the shop: a logo is uploaded, shown and removed', async ({ open, app }) => {
  const owner = await shopIn(app)
  const visitor = await open({ as: owner, at: at(owner) })
  await visitor.heading('Shop details')
  const file = join(temporaryDir(), 'logo.jpg')
  await Bun.write(file, await jpegOf(64, 48))
  await visitor.upload(/Upload logo/, [file])
  await visitor.until(`document.querySelector('main img.picture')?.naturalWidth === 64`, 'the logo')
  await visitor.press('Save')
  await visitor.notice('Saved')
  expect((await readNow(app, owner, '/shops/v2')).logoUrl).toContain('/media/')
  await visitor.press('Remove logo')
  await visitor.press('Save')
  await visitor.gone('Remove logo')
})

test('payments: the resolver’s steps are shown, a method is disabled, and a secret key is refused', async ({ open, app }) => {
  const owner = await shopIn(app)
  const visitor = await open({ as: owner, at: at(owner, '/payments'), width: 'phone' })
  await visitor.heading('Payments')
  await visitor.there('tok_decline', { role: 'rowheader' })
  await visitor.there('Card', { role: 'region' })
  expect(await visitor.all('listitem', { within: 'Card' })).toHaveLength(1)
  await visitor.there('Not available', { within: 'Card' })
  expect(await visitor.has('Not set')).toBe(false)
  await visitor.tabTo('Status', { role: 'combobox' })
  await visitor.key('ArrowDown')
  await visitor.tabTo('Processor', { role: 'combobox' })
  await visitor.key('ArrowDown')
  await visitor.keyFill('Publishable key', 'sk_test_secret')
  visitor.expects('PUT /shops/v2/payment-methods 400')
  await visitor.key('Enter')
  await visitor.text('Publishable key: ')
  await visitor.keyFill('Publishable key', 'pk_test_public')
  await visitor.key('Enter')
  await visitor.notice('Saved')
  // The processor has no account, so the response has a warning.
  await visitor.text('Stripe cannot take payments yet')
  await visitor.there('Active via Stripe', { within: 'Card' })
  expect(await readNow(app, owner, '/shops/v2/payment-methods')).toMatchObject({
    card: { enabled: true, processor: 'stripe', publishableKey: 'pk_test_public' },
  })
  expect(await visitor.axe()).toEqual([])
})

test('payments: an account is saved by keyboard, its secrets are never shown, and it is removed after a confirmation', async ({
  open,
  app,
}) => {
  const owner = await shopIn(app)
  const visitor = await open({ as: owner, at: at(owner, '/payments/stripe') })
  await visitor.heading('Stripe')
  await visitor.text('Developers → API keys')
  await visitor.text(`/webhooks/payments/stripe/${owner.shop.id}`)
  await visitor.there('Copy: Webhook URL', { role: 'button' })
  await visitor.text('Charges and Refunds: Write')
  await visitor.keyFill('Publishable key', 'pk_test_standin')
  await visitor.keyFill('Secret key', 'sk_test_unknown')
  await visitor.press('Test connection')
  await visitor.text('Connection failed. Secret key: Stripe rejects this key')
  visitor.expects('PUT /shops/v2/processor-accounts/stripe 400')
  await visitor.press('Verify and save')
  await visitor.text('Stripe rejects this key')
  await visitor.keyFill('Secret key', 'sk_test_standin')
  await visitor.press('Test connection')
  await visitor.text('Connection works: Stripe accepts these credentials.')
  await visitor.there('Not connected', { role: 'heading' })
  await visitor.press('Verify and save')
  await visitor.there('Your test account', { role: 'region' })
  await visitor.press('Test connection', { within: 'Your test account' })
  await visitor.text('Connection works: Stripe accepts these credentials.')
  expect(await visitor.value('Secret key')).toBe('')
  expect(await visitor.page.evaluate('document.documentElement.outerHTML.includes("sk_test_standin")')).toBe(false)
  expect(await visitor.axe()).toEqual([])
  await visitor.keyPress('Disconnect', { back: true })
  await visitor.there('Disconnect Stripe (test)?', { role: 'dialog' })
  await visitor.press('Disconnect', { within: 'Disconnect Stripe (test)?' })
  await visitor.there('Not connected', { role: 'heading' })
  expect((await app.call('GET', '/shops/v2/processor-accounts/stripe', { token: owner.token })).status).toBe(404)
})

test('shipping: a method with a zone and bands is created by keyboard, with an immediate preview', async ({ open, app }) => {
  const owner = await shopIn(app)
  const visitor = await open({ as: owner, at: at(owner, '/shipping'), width: 'phone' })
  await visitor.there('No shipping methods yet')
  await visitor.keyPress('Add shipping method', { role: 'link' })
  await visitor.heading('Add shipping method')
  await visitor.keyFill('Name', hostile)
  await visitor.keyFill('Code', 'gulf')
  await visitor.tabTo('Pricing', { role: 'combobox' })
  await visitor.key('ArrowDown')
  await visitor.tabTo('Countries')
  await visitor.type('kuw')
  await visitor.until(`document.querySelectorAll('[role=option]').length === 1`, 'Kuwait alone')
  await visitor.key('Enter')
  await visitor.tabTo('Based on')
  await visitor.key('ArrowDown')
  await visitor.keyFill('Up to (g)', '1000')
  await visitor.keyFill('Rate (USD)', '4.5')
  await visitor.fill('Country', 'Kuwait')
  await visitor.text('$4.50')
  await visitor.fill('Weight (g)', '1001')
  await visitor.text('Over the limit')
  expect(await visitor.axe()).toEqual([])
  await visitor.fill('Rate (USD)', 'ten')
  await visitor.press('Save')
  await visitor.text('Tier 1, Rate: Enter an amount in USD, such as 1250.50')
  await visitor.fill('Rate (USD)', '4.5')
  await visitor.press('Save')
  await visitor.heading('Shipping')
  expect((await readNow(app, owner, '/shops/v2/shipping-methods')).data).toEqual([
    { code: 'gulf', title: hostile, zones: [{ countries: ['KW'] }], rates: [{ upToGrams: 1000, amount: usd(450) }] },
  ])
  await visitor.press(hostile, { role: 'link' })
  await visitor.text('Can’t be changed')
  await visitor.until(
    `[...document.querySelectorAll('main input')].some(({ value, disabled }) => value === 'gulf' && disabled)`,
    'a fixed code',
  )
  expect(await visitor.axe()).toEqual([])
})

test('shipping: the preview knows provinces by code, English name and local name, whatever the zone calls them', async ({ open, app }) => {
  const owner = await shopIn(app)
  const zones = [
    { countries: ['JP'], provinces: ['Tokyo', '大阪府'] },
    { countries: ['US'], provinces: ['DC'] },
  ]
  await owner.put('/shops/v2/shipping-methods', { data: [{ code: 'zoned', title: 'Zoned', zones, rates: [{ amount: usd(450) }] }] })
  const visitor = await open({ as: owner, at: at(owner, '/shipping') })
  const offered = 'table tbody tr'
  await visitor.fill('Country', 'Japan')
  for (const province of ['東京都', 'tokyo', '13', 'JP-27', 'Osaka']) {
    await visitor.fill('State / province', province)
    await visitor.until(`[...document.querySelectorAll('${offered}')].at(-1)?.textContent.includes('$4.50')`, `offered to ${province}`)
    await visitor.fill('State / province', '北海道')
    await visitor.until(`![...document.querySelectorAll('${offered}')].at(-1)?.textContent.includes('$4.50')`, 'not offered to Hokkaido')
  }
  await visitor.fill('Country', 'United States')
  await visitor.fill('State / province', 'District of Columbia')
  await visitor.until(`[...document.querySelectorAll('${offered}')].at(-1)?.textContent.includes('$4.50')`, 'offered to DC')
})

test('shipping: concurrent changes of two methods are both kept, the order is changed by keyboard, and a method is removed', async ({
  open,
  app,
}) => {
  const owner = await shopIn(app)
  const flat = (code: string, amount: number) => ({ code, title: code, countries: ['US'], price: usd(amount) })
  await owner.put('/shops/v2/shipping-methods', { data: [flat('one', 100), flat('two', 200)] })
  const visitor = await open({ as: owner, at: at(owner, '/shipping?method=one') })
  await visitor.heading('one')
  await visitor.fill('Price (USD)', '9.99')
  await owner.put('/shops/v2/shipping-methods', { data: [flat('one', 100), flat('two', 5_555)] })
  visitor.expects('PUT /shops/v2/shipping-methods 412')
  await visitor.press('Save')
  await visitor.press('Overwrite with mine')
  await visitor.heading('Shipping')
  expect((await readNow(app, owner, '/shops/v2/shipping-methods')).data).toEqual([flat('one', 999), flat('two', 5_555)])
  await visitor.tabTo('Move two')
  await visitor.key('ArrowUp')
  await visitor.keyPress('Save order')
  await visitor.gone('Save order')
  expect((await readNow(app, owner, '/shops/v2/shipping-methods')).data).toEqual([flat('two', 5_555), flat('one', 999)])
  await visitor.press('one', { role: 'link' })
  await visitor.heading('one')
  await visitor.back()
  await visitor.heading('Shipping')
  await visitor.press('one', { role: 'link' })
  await visitor.press('Remove')
  await visitor.press('Remove', { within: 'Remove “one”?' })
  await visitor.heading('Shipping')
  await visitor.gone('$9.99')
})

test('taxes: a rate is added by keyboard, a duplicate is reported, and a removed rate is restored', async ({ open, app }) => {
  const owner = await shopIn(app)
  const visitor = await open({ as: owner, at: at(owner, '/taxes'), width: 'phone', scheme: 'dark' })
  await visitor.there('No taxes set up')
  for (const [region, percent] of [
    ['CA', '7.125'],
    ['us-ca', '8'],
  ] as const) {
    await visitor.keyPress('Add tax rate', { role: 'link' })
    await visitor.heading('Add tax rate')
    await visitor.fill('Country', 'United States')
    await visitor.keyFill('State / province', region)
    await visitor.keyFill('Rate (%)', percent)
    if (region === 'CA') await visitor.keyPress('Also charge this rate on shipping', { role: 'checkbox', key: 'Space' })
    await visitor.key('Enter')
    if (region === 'CA') await visitor.heading('Taxes')
  }
  await visitor.text('A rate for United States, CA already exists (7.125%')
  await visitor.keyFill('State / province', hostile.slice(0, 100), { back: true })
  visitor.expects('PUT /shops/v2/tax-rates 400')
  await visitor.key('Enter')
  await visitor.text('State / province: ')
  await visitor.keyFill('State / province', 'NY')
  await visitor.key('Enter')
  await visitor.heading('Taxes')
  await visitor.keyPress('Remove: United States, CA', { role: 'button' })
  await visitor.gone('7.125%')
  expect(await visitor.axe()).toEqual([])
  await visitor.press('Undo')
  await visitor.text('7.125%')
  await visitor.text('Added at checkout, also on shipping')
  const rates: Json[] = (await readNow(app, owner, '/shops/v2/tax-rates')).data
  expect(rates.map(({ region, rateBps, shipping }) => [region, rateBps, shipping]).sort()).toEqual([
    ['CA', 712.5, true],
    ['NY', 800, false],
  ])
})

test('keys: the secret key is shown on request, at most ten times an hour, and replaced after a confirmation', async ({ open, app }) => {
  const owner = await shopIn(app)
  await app.call('PATCH', '/shops/v2', { token: owner.token, body: { timeZone: 'Asia/Kathmandu' } })
  const visitor = await open({ as: owner, at: at(owner, '/keys'), timeZone: 'America/New_York' })
  await visitor.heading('API keys')
  await visitor.text(owner.publishableKey)
  expect(await visitor.has(owner.secretKey)).toBe(false)
  await visitor.keyPress('Reveal secret key')
  await visitor.there('Reveal secret key?', { role: 'dialog' })
  await visitor.press('Reveal secret key', { within: 'Reveal secret key?' })
  await visitor.text(owner.secretKey)
  expect(await visitor.axe()).toEqual([])
  await visitor.keyPress('Roll key')
  await visitor.there('Roll secret key?', { role: 'dialog' })
  await visitor.press('Roll key', { within: 'Roll secret key?' })
  await visitor.text('Your new secret key.')
  // Times are in the shop's time zone, not in the browser's.
  const { at: until, said } = (await visitor.page.evaluate(
    `(({ dateTime, textContent }) => ({ at: dateTime, said: textContent }))(document.querySelector('main time'))`,
  )) as { at: string; said: string }
  const clock = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'Asia/Kathmandu' })
  expect(said.replace(/\s/g, ' ')).toBe(clock.format(new Date(until)).replace(/\s/g, ' '))
  expect(await visitor.has(owner.secretKey)).toBe(false)
  // The old key stays valid for the selected hour.
  expect((await app.call('GET', '/shops/v2/tax-rates', { key: owner.secretKey })).status).toBe(200)
  // Without a grace period the old key has no end time.
  await visitor.fill('Expire the old key', 'immediately')
  await visitor.press('Roll key')
  await visitor.press('Roll key', { within: 'Roll secret key?' })
  await visitor.text('Your new secret key. The old key has expired.')
  for (let reading = 1; reading < 10; reading++) await app.call('GET', '/shops/v2/private-key', { token: owner.token })
  visitor.expects('GET /shops/v2/private-key 429')
  await visitor.press('Hide')
  await visitor.press('Reveal secret key')
  await visitor.press('Reveal secret key', { within: 'Reveal secret key?' })
  await visitor.text('Try again in')
  await visitor.go(at(owner))
  await visitor.heading('Shop details')
  await visitor.go(at(owner, '/keys'))
  await visitor.heading('API keys')
  expect(await visitor.page.evaluate('document.documentElement.outerHTML.includes("sk_test_")')).toBe(false)
})

test('host names: one is added by keyboard, its DNS records are shown, it is removed, and a lost role is reported', async ({
  open,
  app,
}) => {
  const owner = await shopIn(app)
  const manager = await staffOf(app, owner, 'MANAGER')
  const visitor = await open({ as: manager, at: at(owner, '/hosts'), width: 'phone' })
  await reloadWithoutEvents(visitor)
  await visitor.heading('Domains')
  await visitor.keyFill('Domain', 'https://no')
  visitor.expects('POST /shops/v2/hosts 400', 'POST /shops/v2/hosts/tea.example.com/verify 409', /hosts.* 40[13]/)
  await visitor.key('Enter')
  await visitor.text('Domain: ')
  await visitor.keyFill('Domain', 'tea.example.com')
  await visitor.key('Enter')
  await visitor.there('tea.example.com', { role: 'region' })
  await visitor.text('_souk.tea.example.com')
  await visitor.keyPress('Verify')
  await visitor.text('No TXT record at')
  expect(await visitor.axe()).toEqual([])
  await visitor.keyPress('Remove', { back: true })
  await visitor.press('Remove', { within: 'Remove tea.example.com?' })
  await visitor.there('No domains yet')
  await app.call('PATCH', `/shops/v2/staff/${manager.staffId}`, { token: owner.token, body: { role: 'READ_ONLY' } })
  await visitor.keyFill('Domain', 'tea.example.com')
  await visitor.key('Enter')
  await visitor.text('Something went wrong')
  expect((await readNow(app, owner, '/shops/v2/hosts')).data).toEqual([])
})
