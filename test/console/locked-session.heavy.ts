/** What is secret is not in the page while the login stands before it, and is there again for who comes back. */
import { expect, setDefaultTimeout } from 'bun:test'
import { consoleTests } from '../support/console-tests.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const { test } = consoleTests()

test('a secret that is shown once, and keys that are typed, are not in the page behind the login', async ({ open, app, clock }) => {
  const shop = await app.merchant()
  const settings = `s/${shop.shop.name}/settings`
  const visitor = await open({ as: shop, at: `${settings}/webhooks?new=1` })
  const html = (text: string) => visitor.page.evaluate(`document.documentElement.outerHTML.includes('${text}')`)
  const values = () => visitor.page.evaluate(`[...document.querySelectorAll('input')].map(({ value }) => value).join(' ')`)
  async function left(): Promise<void> {
    visitor.sessionEnds()
    clock.advance(3 * 3_600_000)
    await visitor.page.evaluate(`{ const right = Date.now; Date.now = () => right.call(Date) + ${3 * 3_600_000} }`)
    await visitor.page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
    await visitor.heading('Log in to souk')
  }
  async function again(): Promise<void> {
    await visitor.keyFill('Email', shop.email)
    await visitor.keyFill('Password', shop.password)
    // The lock's own is not blanked.
    expect(await visitor.value('Password')).toBe(shop.password)
    await visitor.key('Enter')
    await visitor.until(`!document.querySelector('input[autocomplete="current-password"]')`, 'in again')
  }
  await visitor.fill('Endpoint URL', 'https://hooks.example/souk')
  await visitor.press('order.confirmed')
  await visitor.press('Add endpoint', { role: 'button' })
  await visitor.text('whsec_')
  await left()
  expect(await html('whsec_')).toBe(false)
  await again()
  await visitor.text('whsec_')
  await visitor.press('I’ve saved it', { role: 'button' })
  await visitor.gone('whsec_')
  await visitor.go(`${settings}/payments/stripe`)
  await visitor.fill('Secret key', 'sk_test_typed')
  await visitor.tabTo('Secret key')
  await left()
  await visitor.keyboardAt('Log in to souk', { role: 'heading' })
  expect(await values()).not.toContain('sk_test_typed')
  await again()
  expect(await visitor.value('Secret key')).toBe('sk_test_typed')
})
