/** What a browser says by itself in the languages of the console: amounts, days, countries. */
import { expect, setDefaultTimeout } from 'bun:test'
import { consoleTests, type InConsole } from '../support/console-tests.ts'
import { sellingIn } from '../support/selling.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const { test } = consoleTests()
type Visitor = Awaited<ReturnType<InConsole<undefined>['open']>>

/** Chooses a language, which begins the page anew. */
async function speaks(visitor: Visitor, name: string, tag: string): Promise<void> {
  await visitor.fill('Language', name)
  await visitor.until(`document.documentElement.lang === '${tag}' && document.querySelector('main h1') !== null`, `the page in ${name}`)
  await visitor.settled()
}
const shown = async (visitor: Visitor): Promise<string> =>
  String(await visitor.page.evaluate(`document.querySelector('main').innerText`)).replaceAll('\u00a0', ' ')

test('in Mongolian days, amounts and countries are Mongolian, in a browser also that does not know the language', async ({ open, app }) => {
  const shop = await sellingIn(app, { currency: 'MNT' })
  const { id } = await shop.placeOrder()
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/orders` })
  await visitor.heading('Orders')
  await speaks(visitor, 'Монгол', 'mn')
  expect(await shown(visitor)).toMatch(/₮ [\d,]+\.\d\d/)
  await visitor.go(`s/${shop.shop.name}/orders/${id}`)
  await visitor.until(`document.querySelector('main h1')?.innerText.includes('1')`, 'the order')
  await visitor.settled()
  const order = await shown(visitor)
  expect(order).toMatch(/20\d\d оны \d+-р сарын \d+ \d\d:\d\d/)
  expect(order).not.toMatch(/MNT|\b(AM|PM|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b/)
  await visitor.go(`s/${shop.shop.name}/settings`)
  await visitor.until(`document.querySelector('main').innerHTML.includes('Монгол төгрөг')`, 'the currency by its name')
  expect(await visitor.page.evaluate(`document.querySelector('main').innerHTML.includes('Арабын Нэгдсэн Эмират Улс')`)).toBe(true)
})

/** Where a character of a text is on the page, from the left: of the first place where the text stands. */
const placeOf = (visitor: Visitor, text: string, character: number) =>
  visitor.page.evaluate(`(() => {
    const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) {
      const at = walker.currentNode.data.indexOf(${JSON.stringify(text)})
      if (at < 0 || walker.currentNode.parentElement.getClientRects().length === 0) continue
      const range = document.createRange()
      range.setStart(walker.currentNode, at + ${character})
      range.setEnd(walker.currentNode, at + ${character} + 1)
      return range.getBoundingClientRect().x
    }
  })()`) as Promise<number>

test('in Arabic a sign stands beside its amount as its letters go: a dot behind them stays behind them', async ({ open, app }) => {
  const shop = await sellingIn(app, { currency: 'KWD' })
  await shop.placeOrder()
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/orders` })
  await visitor.heading('Orders')
  await speaks(visitor, 'العربية', 'ar')
  // From right to left, the last is the furthest to the left.
  expect(await placeOf(visitor, 'د.ك.', 3)).toBeLessThan(await placeOf(visitor, 'د.ك.', 0))
})

test('in Arabic the letters of a sign of another script stay in their order, wherever an amount stands', async ({ open, app }) => {
  const operator = await app.superAdmin()
  await (await sellingIn(app)).placeOrder()
  const visitor = await open({ as: operator, at: 'net' })
  await visitor.until(`document.querySelector('main h1') !== null`, 'the page')
  await speaks(visitor, 'العربية', 'ar')
  for (const path of ['net', 'net/figures/gmv']) {
    await visitor.go(path)
    await visitor.until(`document.querySelector('main').innerText.includes('US$')`, 'amounts in dollars')
    await visitor.settled()
    const letters = await Promise.all([0, 1, 2].map((nth) => placeOf(visitor, 'US$', nth)))
    expect([path, letters]).toEqual([path, [...letters].sort((a, b) => a - b)])
  }
})
