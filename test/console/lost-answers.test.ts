/** Answers that never come to who asked: what was asked is not done twice, and what was done is not taken for somebody else's. */
import { expect } from 'bun:test'
import { consoleTests } from '../support/console-tests.ts'
import type { ConsoleVisitor } from '../support/console-visitor.ts'
import { filed } from '../support/kyb.ts'
import { ok, sellingIn } from '../support/selling.ts'
import { codeAt } from '../support/totp.ts'

const { test } = consoleTests({ fill: async ({ app }) => ({ operator: await app.superAdmin() }) })

/** In the page: the next request with such a path is done, and its answer is lost. */
const losesOne = (visitor: ConsoleVisitor, path: string) =>
  visitor.page.evaluate(`{
    const before = globalThis.fetch
    let isLost = false
    globalThis.fetch = async (request, ...more) => {
      const answer = await before(request, ...more)
      if (isLost || request.method !== 'POST' || !new URL(request.url).pathname.endsWith(${JSON.stringify(path)})) return answer
      isLost = true
      throw new TypeError('lost')
    }
  }`)

test('a provider’s secret whose answer was lost is replaced once, and the one that counts is shown when it is asked for again', async ({
  open,
  app,
  data: { operator },
}) => {
  const { token } = operator
  const body = { displayName: 'Quay', archetype: 'warehouse' }
  const { id } = ok(await app.call('POST', '/admin/service-providers', { token, body }), 201).body
  const visitor = await open({ as: operator, at: `net/providers/${id}` })
  await visitor.heading('Quay')
  await losesOne(visitor, '/webhook-secret')
  const rotate = async () => {
    await visitor.press('Replace the secret', { role: 'button' })
    await visitor.press('Replace the secret', { role: 'button', within: /^Replace the secret of/ })
  }
  await rotate()
  await visitor.text('That did not work')
  await visitor.settled()
  await rotate()
  await visitor.text('whsec_')
  const { data } = ok(await app.call('GET', `/admin/audit?subject=${id}&action=service_provider.secret_rotated`, { token })).body
  expect(data).toHaveLength(1)
  expect(await visitor.axe()).toEqual([])
  // It is asked about before it is left: nobody can read it again.
  await visitor.press('Lenders', { role: 'link' })
  await visitor.press('Stay', { role: 'button' })
  await visitor.press('I have kept it', { role: 'button' })
  await visitor.gone('whsec_')
  await visitor.press('Lenders', { role: 'link' })
  await visitor.heading('Lenders')
})

test('a decision about a business whose answer was lost is one’s own when it is sent again', async ({ open, app, data: { operator } }) => {
  const { id } = await filed(app, await app.merchant(), { legalName: 'Lost and Found' })
  const visitor = await open({ as: operator, at: `net/kyb/${id}` })
  await visitor.heading('Lost and Found')
  await losesOne(visitor, '/decision')
  await visitor.press('Approve', { role: 'link' })
  await visitor.press('Approve', { role: 'button' })
  await visitor.text('That did not work')
  visitor.expects(/^POST \/admin\/kyb\/\S+\/decision 4(09|12)/)
  await visitor.press('Approve', { role: 'button' })
  await visitor.there('Lost and Found is approved', {})
  expect(await visitor.has('Your decision was not taken')).toBe(false)
})

test('who turned a second factor on without seeing the answer is told that its codes are to be made anew', async ({ open, app, clock }) => {
  const shop = await app.merchant()
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/orders` })
  await visitor.heading('Orders')
  await visitor.go('account')
  await visitor.press('Set it up', { role: 'button' })
  await visitor.text('otpauth://totp/')
  const secret = String(await visitor.page.evaluate(`document.querySelector('.copyable code').textContent`))
  await losesOne(visitor, '/auth/totp/confirm')
  await visitor.fill('Code of the app', codeAt(secret, clock.now()))
  await visitor.press('Turn it on', { role: 'button' })
  await visitor.text('That did not work')
  visitor.expects('POST /auth/totp/confirm 409')
  await visitor.press('Turn it on', { role: 'button' })
  await visitor.text('its recovery codes were not shown here')
  await visitor.there('Turn it off', { role: 'button' })
  expect(await visitor.axe()).toEqual([])
})

test('what somebody in between answers in souk’s place says that nobody knows whether it was done', async ({ open, app }) => {
  const selling = await sellingIn(app)
  const visitor = await open({ as: selling, at: `s/${selling.shop.name}/discounts/new` })
  await visitor.heading(/./)
  await visitor.page.evaluate(`{
    const before = globalThis.fetch
    globalThis.fetch = async (request, ...more) =>
      request.method === 'POST' ? new Response('<h1>Bad Gateway</h1>', { status: 502, statusText: 'Bad Gateway' }) : before(request, ...more)
  }`)
  await visitor.fill('Name', 'Autumn')
  await visitor.fill('Code', 'AUTUMN')
  await visitor.fill('Percent off', '10')
  await visitor.press('Create', { role: 'button' })
  await visitor.text('it may have done it or not')
  expect(await visitor.has('Bad Gateway')).toBe(false)
})
