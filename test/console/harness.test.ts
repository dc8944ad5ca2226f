/** What the tests of the console stand on: that a visitor sees, presses and complains as they say. */
import { describe, expect } from 'bun:test'
import { consoleTests } from '../support/console-tests.ts'

const { test } = consoleTests()

describe('a visitor', () => {
  test('logs in by the keyboard and sees the screen of the address', async ({ open, shop }) => {
    const visitor = await open({ as: shop, at: `s/${shop.shop.name}/orders` })
    await visitor.heading('Orders')
    expect(await visitor.axe()).toEqual([])
    console.log(visitor.requests(), await visitor.all('link'), await visitor.focused())
    await visitor.key('Control+k')
    await visitor.there(/.*/, { role: 'dialog' })
    console.log(await visitor.all('dialog'), await visitor.focused())
    await visitor.key('Escape')
  })
})
