/** Where the keyboard is after what had it is gone: never at the beginning of the page. */
import { expect, setDefaultTimeout } from 'bun:test'
import { consoleTests, type InConsole } from '../support/console-tests.ts'
import { sellingIn } from '../support/selling.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const { test } = consoleTests({ fill: async ({ app }) => ({ selling: await sellingIn(app, { onHand: 50 }) }) })
type Visitor = Awaited<ReturnType<InConsole<unknown>['open']>>

/** Waits until the page is at rest, and says where the keyboard is. */
async function keyboardOf(visitor: Visitor): Promise<unknown> {
  await visitor.settled()
  await visitor.until(`document.activeElement !== document.body`, 'the keyboard somewhere')
  return visitor.page.evaluate(`document.activeElement.closest('main, dialog') !== null`)
}

test('a form that opens in the place of a list, and one that closes, keep the keyboard in the page', async ({
  open,
  data: { selling },
}) => {
  const settings = `s/${selling.shop.name}/settings`
  for (const [at, opens] of [
    ['taxes', 'Add tax rate'],
    ['shipping', 'Add shipping method'],
    ['webhooks', 'Add endpoint'],
  ] as const) {
    const visitor = await open({ as: selling, at: `${settings}/${at}` })
    await visitor.until(`document.querySelector('main h1') !== null`, 'the page')
    await visitor.settled()
    await visitor.keyPress(opens)
    expect([at, await keyboardOf(visitor)]).toEqual([at, true])
  }
})

test('a window whose opener is gone when it closes leaves the keyboard in the page', async ({ open, data: { selling } }) => {
  const { id } = await selling.placeOrder()
  const visitor = await open({ as: selling, at: `s/${selling.shop.name}/orders/${id}` })
  await visitor.keyPress('Cancel order')
  await visitor.there(/^Cancel order/, { role: 'dialog' })
  await visitor.keyPress('Cancel order', { role: 'button' })
  await visitor.until(`document.querySelector('dialog') === null`, 'no window any more')
  expect(await keyboardOf(visitor)).toBe(true)
})

test('what is removed by the keyboard leaves it in the part that it stood in', async ({ open, data: { selling } }) => {
  const visitor = await open({ as: selling, at: `s/${selling.shop.name}/products/${selling.productId}` })
  await visitor.heading(/./)
  await visitor.settled()
  await visitor.page.evaluate(`{
    const button = [...document.querySelectorAll('main section button')].at(-1)
    button.focus()
    button.remove()
  }`)
  expect(await keyboardOf(visitor)).toBe(true)
  expect(await visitor.page.evaluate('document.activeElement.localName')).toMatch(/^(section|form)$/)
})
