/** Runs the example calls of README.md and docs/agents.md. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { agentApp, enableAgents, rpc } from '../../support/agents.ts'
import type { Json } from '../../support/app.ts'
import { shopIn, usd } from '../../support/catalog.ts'
import { ok } from '../../support/selling.ts'
import { longTestMs } from '../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const root = join(import.meta.dir, '../../..')

test.each(['README.md', 'docs/agents.md'])('the calls of %s find a product and buy it', async (page) => {
  await using app = await agentApp()
  const shop = await shopIn(app)
  await enableAgents(app, shop.shop.id)
  await shop.add({ title: 'Linen shirt', variants: [{ price: usd(4_000) }] })
  ok(await shop.put('/shops/v2/shipping-methods', { data: [{ code: 'standard', title: 'Standard', price: usd(650), countries: ['US'] }] }))
  const calls = [...readFileSync(join(root, page), 'utf8').matchAll(/^call (\w+) '(.+)'$/gm)]
  expect(calls.length).toBe(4)
  let [variant, checkout] = ['', '']
  const statuses: Json[] = []
  for (const [, tool = '', text = ''] of calls) {
    const args = JSON.parse(text.replaceAll('VARIANT', variant).replaceAll('CHECKOUT', checkout))
    const { result } = ok(await rpc(app, shop.shop.name, 'tools/call', { name: tool, arguments: args })).body
    const answer = result.structuredContent
    variant = answer.products?.[0].variants[0].id ?? variant
    checkout = answer.id ?? checkout
    if (answer.status) statuses.push(answer.status)
  }
  expect(statuses.at(-1)).toBe('completed')
})
