/** Tests the focus after the focused element disappears: it never moves to the beginning of the page. */
import { expect, setDefaultTimeout } from 'bun:test'
import { consoleTests, type InConsole } from '../support/console-tests.ts'
import { sellingIn } from '../support/selling.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const { test } = consoleTests({ fill: async ({ app }) => ({ selling: await sellingIn(app, { onHand: 50 }) }) })
type Visitor = Awaited<ReturnType<InConsole<unknown>['open']>>

/** Waits until the page is settled, and describes the focused element. */
async function focusOf(visitor: Visitor): Promise<unknown> {
  await visitor.settled()
  await visitor.until(`document.activeElement !== document.body`, 'the keyboard somewhere')
  return visitor.page.evaluate(`document.activeElement.closest('main, dialog') !== null`)
}

test('a form that replaces a list, and a form that closes, keep the focus in the page', async ({ open, data: { selling } }) => {
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
    expect([at, await focusOf(visitor)]).toEqual([at, true])
  }
})

test('a dialog whose opener has disappeared keeps the focus in the page when it closes', async ({ open, data: { selling } }) => {
  const { id } = await selling.placeOrder()
  const visitor = await open({ as: selling, at: `s/${selling.shop.name}/orders/${id}` })
  await visitor.keyPress('Cancel order')
  await visitor.there(/^Cancel order/, { role: 'dialog' })
  await visitor.keyPress('Cancel order', { role: 'button' })
  await visitor.until(`document.querySelector('dialog') === null`, 'no window any more')
  expect(await focusOf(visitor)).toBe(true)
})

test('removing an element by keyboard keeps the focus in its section', async ({ open, data: { selling } }) => {
  const visitor = await open({ as: selling, at: `s/${selling.shop.name}/products/${selling.productId}` })
  await visitor.heading(/./)
  await visitor.settled()
  await visitor.page.evaluate(`{
    const button = [...document.querySelectorAll('main section button')].at(-1)
    button.focus()
    button.remove()
  }`)
  expect(await focusOf(visitor)).toBe(true)
  expect(await visitor.page.evaluate('document.activeElement.localName')).toMatch(/^(section|form)$/)
})
