/** Tests the palette: it opens the intended entry, however fast the user types and however slowly souk responds. */
import { expect, setDefaultTimeout } from 'bun:test'
import { usd } from '../support/catalog.ts'
import { consoleTests } from '../support/console-tests.ts'
import { sellingIn } from '../support/selling.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const { test } = consoleTests({
  fill: async ({ app }) => {
    const selling = await sellingIn(app)
    for (const title of ['Kettle of copper', 'Teapot of clay']) await selling.add({ title, variants: [{ price: usd(100) }] })
    return { selling, at: `s/${selling.shop.name}/orders` }
  },
})

/** A script for the page: searches wait until `letGo` is called. */
const holdSearches = `{
  const { promise, resolve } = Promise.withResolvers()
  const before = globalThis.fetch
  globalThis.letGo = resolve
  globalThis.fetch = async (request, ...more) => {
    if (new URL(request.url).searchParams.has('q')) await promise
    return before(request, ...more)
  }
}`

test('Enter opens a result of the current text, and never one of an earlier text', async ({ open, data }) => {
  const visitor = await open({ as: data.selling, at: data.at })
  await visitor.heading('Orders')
  await visitor.key('Control+k')
  await visitor.keyboardAt(/^(Search|Jump to)/, { role: 'combobox' })
  await visitor.type('copper')
  await visitor.there(/Kettle of copper/, { role: 'option' })
  await visitor.page.evaluate(holdSearches)
  await visitor.key('Control+a')
  await visitor.type('clay')
  await visitor.there('Searching…', {})
  expect(await visitor.all('option')).toEqual([])
  expect(await visitor.has('No results')).toBe(false)
  await visitor.key('Enter')
  expect(await visitor.all('dialog')).toEqual(['Search'])
  await visitor.page.evaluate('letGo()')
  await visitor.heading('Teapot of clay')
})

test('the palette reports no results, and Enter does nothing', async ({ open, data }) => {
  const visitor = await open({ as: data.selling, at: data.at })
  await visitor.heading('Orders')
  await visitor.key('Control+k')
  await visitor.keyboardAt(/^(Search|Jump to)/, { role: 'combobox' })
  await visitor.type('xyzzy')
  await visitor.key('Enter')
  await visitor.there('No results', {})
  expect(await visitor.axe()).toEqual([])
  expect(await visitor.path()).toBe(`/console/${data.at}`)
})

test('the palette reports an unreachable server and still opens pages', async ({ open, data }) => {
  const visitor = await open({ as: data.selling, at: data.at })
  await visitor.heading('Orders')
  await visitor.settled()
  visitor.expects(/ERR_INTERNET_DISCONNECTED/)
  await visitor.key('Control+k')
  await visitor.keyboardAt(/^(Search|Jump to)/, { role: 'combobox' })
  await visitor.offline(true)
  await visitor.type('clay')
  await visitor.text('Can’t reach the server')
  expect(await visitor.has('No results')).toBe(false)
  await visitor.offline(false)
  await visitor.key('Control+a')
  await visitor.type('discou')
  await visitor.there(/Discounts$/, { role: 'option' })
  await visitor.key('Enter')
  await visitor.heading('Discounts')
})

test('an operator finds the network’s shops, and sees what is searched', async ({ open, app, data }) => {
  const visitor = await open({ as: await app.superAdmin(), at: 'net/jobs' })
  await visitor.heading('Background jobs')
  await visitor.key('Control+k')
  await visitor.keyboardAt('Search shops, or jump to a page', { role: 'combobox' })
  await visitor.type(data.selling.shop.name)
  await visitor.there(/^Shops /, { role: 'option' })
  await visitor.key('Enter')
  await visitor.until(`location.pathname === '/console/net/shops/${data.selling.shop.id}'`, 'the shop')
})

test('pages, actions and settings are found by their synonyms', async ({ open, data }) => {
  const visitor = await open({ as: data.selling, at: data.at })
  await visitor.heading('Orders')
  await visitor.key('Control+k')
  await visitor.keyboardAt(/^(Search|Jump to)/, { role: 'combobox' })
  for (const [typed, entry] of [
    ['domain', 'Pages Domains'],
    ['vat', 'Pages Taxes'],
    ['timezone', 'Pages Shop details'],
    ['bank transfer', 'Pages Payments'],
    ['reports', 'Pages Home'],
    ['2FA', 'Account Two-factor authentication'],
    ['password', 'Account Change password'],
    ['import prod', 'Actions Import products'],
    ['new product', 'Actions Add product'],
  ] as const) {
    await visitor.key('Control+a')
    await visitor.type(typed)
    await visitor.there(entry, { role: 'option' })
  }
  expect(await visitor.axe()).toEqual([])
  await visitor.key('Enter')
  await visitor.heading('Add product')
})

test('dark mode is chosen by the palette or the menu, and stays after a reload', async ({ open, data }) => {
  const visitor = await open({ as: data.selling, at: data.at })
  await visitor.heading('Orders')
  const ground = async () => String(await visitor.page.evaluate('getComputedStyle(document.body).backgroundColor'))
  const bright = await ground()
  await visitor.key('Control+k')
  await visitor.keyboardAt(/^(Search|Jump to)/, { role: 'combobox' })
  await visitor.type('dark mode')
  await visitor.there('Actions Appearance: dark', { role: 'option' })
  await visitor.press('Actions Appearance: dark', { role: 'option' })
  await visitor.until(`document.documentElement.dataset.scheme === 'dark'`, 'dark mode')
  const dark = await ground()
  expect(dark).not.toBe(bright)
  expect(await visitor.axe()).toEqual([])
  await visitor.go(data.at)
  await visitor.heading('Orders')
  expect(await ground()).toBe(dark)
  await visitor.fill('Appearance', 'Appearance: light')
  expect(await ground()).toBe(bright)
  await visitor.scheme('dark')
  expect(await ground()).toBe(bright)
  await visitor.fill('Appearance', 'Appearance: system')
  expect(await ground()).toBe(dark)
})

test('a question mark lists the shortcuts, but not in a field', async ({ open, data }) => {
  const visitor = await open({ as: data.selling, at: data.at })
  await visitor.heading('Orders')
  await visitor.key('Shift+?')
  await visitor.there('Keyboard shortcuts', { role: 'dialog' })
  expect(await visitor.axe()).toEqual([])
  await visitor.key('Escape')
  await visitor.gone('Move through results')
  await visitor.keyFill(/^Search by number/, '?')
  expect(await visitor.all('dialog')).toEqual([])
})
