/** Tests amounts, days and countries in the languages of the console, in a browser. */
import { expect, setDefaultTimeout } from 'bun:test'
import { consoleTests, type InConsole } from '../support/console-tests.ts'
import { sellingIn } from '../support/selling.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const { test } = consoleTests()
type Visitor = Awaited<ReturnType<InConsole<undefined>['open']>>

/** Chooses a language, which reloads the page. */
async function chooseLanguage(visitor: Visitor, name: string, tag: string): Promise<void> {
  await visitor.fill('Language', name)
  await visitor.until(`document.documentElement.lang === '${tag}' && document.querySelector('main h1') !== null`, `the page in ${name}`)
  await visitor.settled()
}
const shownText = async (visitor: Visitor): Promise<string> =>
  String(await visitor.page.evaluate(`document.querySelector('main').innerText`)).replaceAll('\u00a0', ' ')

test('in Mongolian, days, amounts and countries are Mongolian, even if the browser does not support the language', async ({
  open,
  app,
}) => {
  const shop = await sellingIn(app, { currency: 'MNT' })
  const { id } = await shop.placeOrder()
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/orders` })
  await visitor.heading('Orders')
  await chooseLanguage(visitor, 'Монгол', 'mn')
  expect(await shownText(visitor)).toMatch(/₮ [\d,]+\.\d\d/)
  await visitor.go(`s/${shop.shop.name}/orders/${id}`)
  await visitor.until(`document.querySelector('main h1')?.innerText.includes('1')`, 'the order')
  await visitor.settled()
  const order = await shownText(visitor)
  expect(order).toMatch(/20\d\d оны \d+-р сарын \d+ \d\d:\d\d/)
  expect(order).not.toMatch(/MNT|\b(AM|PM|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b/)
  await visitor.go(`s/${shop.shop.name}/settings`)
  await visitor.until(`document.querySelector('main').innerHTML.includes('Монгол төгрөг')`, 'the currency by its name')
  expect(await visitor.page.evaluate(`document.querySelector('main').innerHTML.includes('Арабын Нэгдсэн Эмират Улс')`)).toBe(true)
})

/** Returns the distance of a character from the left, in the first occurrence of a text on the page. */
const positionOf = (visitor: Visitor, text: string, character: number) =>
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

test('in Arabic, the currency sign is written right to left, with its final dot at the end', async ({ open, app }) => {
  const shop = await sellingIn(app, { currency: 'KWD' })
  await shop.placeOrder()
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/orders` })
  await visitor.heading('Orders')
  await chooseLanguage(visitor, 'العربية', 'ar')
  // In right-to-left text, the last character is the furthest to the left.
  expect(await positionOf(visitor, 'د.ك.', 3)).toBeLessThan(await positionOf(visitor, 'د.ك.', 0))
})

test('in Arabic, the letters of a Latin currency sign keep their order on every screen', async ({ open, app }) => {
  const operator = await app.superAdmin()
  await (await sellingIn(app)).placeOrder()
  const visitor = await open({ as: operator, at: 'net' })
  await visitor.until(`document.querySelector('main h1') !== null`, 'the page')
  await chooseLanguage(visitor, 'العربية', 'ar')
  for (const path of ['net', 'net/figures/gmv']) {
    await visitor.go(path)
    await visitor.until(`document.querySelector('main').innerText.includes('US$')`, 'amounts in dollars')
    await visitor.settled()
    const letters = await Promise.all([0, 1, 2].map((nth) => positionOf(visitor, 'US$', nth)))
    expect([path, letters]).toEqual([path, [...letters].sort((a, b) => a - b)])
  }
})
