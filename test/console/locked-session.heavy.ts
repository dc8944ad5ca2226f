/** Tests that secrets are removed from the page while it is locked, and return after the same user logs in. */
import { expect, setDefaultTimeout } from 'bun:test'
import { consoleTests } from '../support/console-tests.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const { test } = consoleTests()

test('a secret that is shown once, and typed keys, are not in a locked page', async ({ open, app, clock }) => {
  const shop = await app.merchant()
  const settings = `s/${shop.shop.name}/settings`
  const visitor = await open({ as: shop, at: `${settings}/webhooks?new=1` })
  const html = (text: string) => visitor.page.evaluate(`document.documentElement.outerHTML.includes('${text}')`)
  const values = () => visitor.page.evaluate(`[...document.querySelectorAll('input')].map(({ value }) => value).join(' ')`)
  async function lock(): Promise<void> {
    visitor.sessionEnds()
    clock.advance(3 * 3_600_000)
    await visitor.page.evaluate(`{ const right = Date.now; Date.now = () => right.call(Date) + ${3 * 3_600_000} }`)
    await visitor.page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
    await visitor.heading('Log in to souk')
  }
  async function unlock(): Promise<void> {
    await visitor.keyFill('Email', shop.email)
    await visitor.keyFill('Password', shop.password)
    // The password field of the lock is not cleared.
    expect(await visitor.value('Password')).toBe(shop.password)
    await visitor.key('Enter')
    await visitor.until(`!document.querySelector('input[autocomplete="current-password"]')`, 'in again')
  }
  await visitor.fill('Endpoint URL', 'https://hooks.example/souk')
  await visitor.press('order.confirmed')
  await visitor.press('Add endpoint', { role: 'button' })
  await visitor.text('whsec_')
  await lock()
  expect(await html('whsec_')).toBe(false)
  await unlock()
  await visitor.text('whsec_')
  await visitor.press('I’ve saved it', { role: 'button' })
  await visitor.gone('whsec_')
  await visitor.go(`${settings}/payments/stripe`)
  await visitor.fill('Secret key', 'sk_test_typed')
  await visitor.tabTo('Secret key')
  await lock()
  await visitor.keyboardAt('Log in to souk', { role: 'heading' })
  expect(await values()).not.toContain('sk_test_typed')
  await unlock()
  expect(await visitor.value('Secret key')).toBe('sk_test_typed')
})
