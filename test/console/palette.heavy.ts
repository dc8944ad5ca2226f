/** The palette: goes where one means to go, however fast one types and however slow souk answers. */
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

/** In the page: nothing that is searched for is asked for until `letGo` is called. */
const heldBack = `{
  const { promise, resolve } = Promise.withResolvers()
  const before = globalThis.fetch
  globalThis.letGo = resolve
  globalThis.fetch = async (request, ...more) => {
    if (new URL(request.url).searchParams.has('q')) await promise
    return before(request, ...more)
  }
}`

test('Enter goes to what is found by the words that stand there, and to nothing that was found by others', async ({ open, data }) => {
  const visitor = await open({ as: data.selling, at: data.at })
  await visitor.heading('Orders')
  await visitor.key('Control+k')
  await visitor.keyboardAt(/./, { role: 'combobox' })
  await visitor.type('copper')
  await visitor.there(/Kettle of copper/, { role: 'option' })
  await visitor.page.evaluate(heldBack)
  await visitor.key('Control+a')
  await visitor.type('clay')
  await visitor.there('Searching…', {})
  expect(await visitor.all('option')).toEqual([])
  expect(await visitor.has('Nothing by that name')).toBe(false)
  await visitor.key('Enter')
  expect(await visitor.all('dialog')).toEqual(['Go to or search'])
  await visitor.page.evaluate('letGo()')
  await visitor.heading('Teapot of clay')
})

test('the palette reports no results, and Enter does nothing', async ({ open, data }) => {
  const visitor = await open({ as: data.selling, at: data.at })
  await visitor.heading('Orders')
  await visitor.key('Control+k')
  await visitor.keyboardAt(/./, { role: 'combobox' })
  await visitor.type('xyzzy')
  await visitor.key('Enter')
  await visitor.there('Nothing by that name', {})
  expect(await visitor.axe()).toEqual([])
  expect(await visitor.path()).toBe(`/console/${data.at}`)
})

test('the palette reports an unreachable server and still opens pages', async ({ open, data }) => {
  const visitor = await open({ as: data.selling, at: data.at })
  await visitor.heading('Orders')
  await visitor.settled()
  visitor.expects(/ERR_INTERNET_DISCONNECTED/)
  await visitor.key('Control+k')
  await visitor.keyboardAt(/./, { role: 'combobox' })
  await visitor.offline(true)
  await visitor.type('clay')
  await visitor.text('souk does not answer')
  expect(await visitor.has('Nothing by that name')).toBe(false)
  await visitor.offline(false)
  await visitor.key('Control+a')
  await visitor.type('discou')
  await visitor.there(/Discounts$/, { role: 'option' })
  await visitor.key('Enter')
  await visitor.heading('Discounts')
})

test('an operator finds the network’s shops, and is told what is searched', async ({ open, app, data }) => {
  const visitor = await open({ as: await app.superAdmin(), at: 'net/jobs' })
  await visitor.heading('Jobs')
  await visitor.key('Control+k')
  await visitor.keyboardAt('Type where to go, or a shop', { role: 'combobox' })
  await visitor.type(data.selling.shop.name)
  await visitor.there(/^Shops /, { role: 'option' })
  await visitor.key('Enter')
  await visitor.until(`location.pathname === '/console/net/shops/${data.selling.shop.id}'`, 'the shop')
})
