/** Tests orders of agents in the console, in a browser. */
import { expect, setDefaultTimeout } from 'bun:test'
import { eq } from 'drizzle-orm'
import { orders } from '../../db/schema/selling.ts'
import { consoleTests } from '../support/console-tests.ts'
import { sellingIn } from '../support/selling.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const evil = 'A\u202e "><img src=x onerror=alert(1)> <b>bold</b> '
const long = (length: number) => (evil + 'W'.repeat(length)).slice(0, length)
const profile = `https://platform.example/${'p'.repeat(1_500)}`

const { test } = consoleTests({
  fill: async ({ app }) => {
    const selling = await sellingIn(app)
    const [shopperOrder, agentOrder, unnamedAgentOrder] = [
      await selling.placeOrder(),
      await selling.placeOrder(),
      await selling.placeOrder(),
    ]
    const mark = (id: string, agent: typeof orders.$inferInsert.agent) =>
      app.deps.db.write((tx) => tx.update(orders).set({ agent }).where(eq(orders.id, id)))
    await mark(agentOrder.id, { profile, attribution: { campaign: 'spring', [long(100)]: long(500) } })
    await mark(unnamedAgentOrder.id, { profile: null, attribution: null })
    return { selling, shopperOrder, agentOrder, unnamedAgentOrder }
  },
})

test('orders of agents are marked in the list and can be filtered', async ({
  open,
  data: { selling, shopperOrder, agentOrder, unnamedAgentOrder },
}) => {
  const visitor = await open({ as: selling, at: `s/${selling.shop.name}/orders` })
  const marked = `[...document.querySelectorAll('main tbody tr')].map((row) => [row.querySelector('.number').textContent, row.querySelector('.state').textContent === 'Agent'])`
  await visitor.there(`#${shopperOrder.number}`, { role: 'link' })
  expect(await visitor.page.evaluate(marked)).toEqual([
    [`#${unnamedAgentOrder.number}`, true],
    [`#${agentOrder.number}`, true],
    [`#${shopperOrder.number}`, false],
  ])
  for (const width of ['phone', 'desk'] as const) {
    await visitor.width(width)
    expect([width, await visitor.axe()]).toEqual([width, []])
  }
  await visitor.go(`s/${selling.shop.name}/orders?agent=true`)
  await visitor.until(`document.querySelectorAll('main tbody tr').length === 2`, 'the orders of agents')
  expect(
    await visitor.page.evaluate(`[...document.querySelectorAll('.filters select')].map((one) => one.selectedOptions[0]?.text)`),
  ).toContain('Orders by agents')
  expect(await visitor.axe()).toEqual([])
})

test('an order of an agent shows its platform and attribution as text, without breaking the layout', async ({
  open,
  data: { selling, agentOrder, unnamedAgentOrder },
}) => {
  const at = (id: string) => `s/${selling.shop.name}/orders/${id}`
  const visitor = await open({ as: selling, at: at(agentOrder.id), width: 'phone' })
  await visitor.heading(`Order #${agentOrder.number}`)
  await visitor.text('Order placed by an agent')
  await visitor.text('https://platform.example/')
  await visitor.text('spring')
  await visitor.text('<b>bold</b>')
  expect(await visitor.axe()).toEqual([])
  await visitor.width('desk')
  expect(await visitor.axe()).toEqual([])
  await visitor.go(at(unnamedAgentOrder.id))
  await visitor.text('Unnamed assistant')
})
