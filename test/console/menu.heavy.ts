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
