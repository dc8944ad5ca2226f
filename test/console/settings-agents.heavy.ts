/** Tests the settings for shopping by agents, in the console. */
import { expect, setDefaultTimeout } from 'bun:test'
import { shopIn } from '../support/catalog.ts'
import { consoleTests } from '../support/console-tests.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const { test } = consoleTests({ settings: { AGENTS_ENABLED: 'true' } })

test('an owner switches agents on, copies the addresses, and rotates the signing key', async ({ open, app }) => {
  const owner = await shopIn(app)
  const visitor = await open({ as: owner, at: `s/${owner.shop.name}/settings/agents`, width: 'phone' })
  await visitor.heading('Agents')
  expect(await visitor.has('MCP address')).toBe(false)
  await visitor.tabTo('Agents can find and buy your products', { role: 'checkbox' })
  await visitor.key(' ')
  await visitor.fill('Who can connect', 'Everyone')
  await visitor.fill('Refund policy', 'http://a.example/refunds')
  visitor.expects('PUT /shops/v2/agents 400')
  await visitor.press('Save')
  await visitor.text('must be an https:// URL')
  await visitor.fill('Refund policy', 'https://a.example/refunds')
  await visitor.press('Save')
  await visitor.notice('Saved')
  await visitor.text(`/ucp/${owner.shop.name}/mcp`)
  const settings = (await app.call('GET', '/shops/v2/agents', { token: owner.token })).body
  expect(settings).toMatchObject({ enabled: true, access: 'OPEN', policies: [{ type: 'refund_policy', url: 'https://a.example/refunds' }] })
  expect(settings.keys).toHaveLength(1)
  await visitor.press('Rotate key')
  await visitor.press('Rotate key', { within: 'Rotate the signing key?' })
  await visitor.text('New key created')
  expect((await app.call('GET', '/shops/v2/agents', { token: owner.token })).body.keys).toHaveLength(2)
  expect(await visitor.axe()).toEqual([])
  await visitor.width('desk')
  expect(await visitor.axe()).toEqual([])
})

test('policies of types that the form does not have are kept', async ({ open, app }) => {
  const owner = await shopIn(app)
  const other = { type: 'warranty', url: 'https://a.example/warranty' }
  await app.call('PUT', '/shops/v2/agents', { token: owner.token, body: { enabled: true, policies: [other] } })
  const visitor = await open({ as: owner, at: `s/${owner.shop.name}/settings/agents` })
  await visitor.heading('Agents')
  await visitor.fill('Privacy policy', 'https://a.example/privacy')
  await visitor.press('Save')
  await visitor.notice('Saved')
  const { policies } = (await app.call('GET', '/shops/v2/agents', { token: owner.token })).body
  expect(policies).toEqual([{ type: 'privacy_policy', url: 'https://a.example/privacy' }, other])
})
