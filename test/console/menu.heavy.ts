/** Tests the menu of a shop at the size of a laptop screen. */
import { expect, setDefaultTimeout } from 'bun:test'
import { consoleTests } from '../support/console-tests.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const { test } = consoleTests({ settings: { LENDING_PLATFORM_ENABLED: 'false', AGENTS_ENABLED: 'true' } })
const sizes = `(() => { const menu = document.querySelector('#menu'); return [menu.scrollHeight - menu.clientHeight, Math.min(...[...menu.querySelectorAll('a, select, button')].map((one) => one.getBoundingClientRect().height))] })()`

test('the menu of an owner fits a laptop’s screen without scrolling', async ({ open, shop }) => {
  for (const language of ['en', 'ar', 'mn'] as const) {
    const visitor = await open({ as: shop, at: `s/${shop.shop.name}`, language })
    await visitor.page.command('Emulation.setDeviceMetricsOverride', { width: 1280, height: 800, deviceScaleFactor: 1, mobile: false })
    await visitor.heading(/./)
    await visitor.settled()
    const [hidden, lowest] = (await visitor.page.evaluate(sizes)) as [number, number]
    expect([language, hidden, lowest >= 24]).toEqual([language, 0, true])
    expect(await visitor.axe()).toEqual([])
  }
})

test('the menu of a phone begins below the bar and scrolls to its end', async ({ open, shop }) => {
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}`, width: 'phone' })
  await visitor.heading(/./)
  await visitor.settled()
  await visitor.press('Menu', { role: 'button' })
  const isWithin = `(() => {
    const [menu, bar] = ['#menu', '.top'].map((one) => document.querySelector(one).getBoundingClientRect())
    return menu.top >= bar.bottom - 2 && menu.bottom <= innerHeight
  })()`
  expect(await visitor.page.evaluate(isWithin)).toBe(true)
  await visitor.press('Log out')
  await visitor.there(/Log in/, { role: 'heading' })
})
