/** Tests the list of abandoned carts and the setting of their mail, in a browser. */
import { expect, setDefaultTimeout } from 'bun:test'
import { consoleTests } from '../support/console-tests.ts'
import { ok, type Selling, sellingIn } from '../support/selling.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const evil = '"><img src=x onerror=alert(1)> <b>bold</b>'
const { test } = consoleTests({
  settings: { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'shop@souk.example', ACCESS_TOKEN_SECONDS: '86400' },
  fill: async ({ app }) => {
    const selling = await sellingIn(app, { onHand: 100 })
    const cap = await selling.add({ title: evil, variants: [{ price: selling.money(3_200), onHand: 4 }] })
    return { selling, capId: cap.variants[0]?.id ?? '' }
  },
})
const at = ({ shop }: Selling, rest = '') => `s/${shop.name}${rest}`

test('carts are listed with their value and filtered, and the mail is turned on', async ({ open, clock, data: { selling, capId } }) => {
  await selling.cart({ email: 'ann@example.com', acceptsMarketing: true, variants: [capId] })
  await selling.cart({ email: `${'long'.repeat(14)}@example.com`, quantity: 3 })
  clock.advance(3_700_000)
  for (const width of ['phone', 'desk'] as const) {
    const visitor = await open({ as: selling, at: at(selling, '/orders/abandoned'), width })
    await visitor.heading('Abandoned carts')
    await visitor.text('ann@example.com')
    await visitor.text('$32.00')
    await visitor.text('<b>bold</b>')
    expect(await visitor.axe()).toEqual([])
    await visitor.go(at(selling, '/orders/abandoned?mailed=true'))
    await visitor.text('No results')
  }
  const visitor = await open({ as: selling, at: at(selling, '/settings/mail') })
  await visitor.press('Email shoppers who left items in their cart')
  await visitor.press('Save', { role: 'button' })
  await visitor.notice('Saved')
  const { body } = ok(await selling.app.call('GET', '/shops/v2/mail', { token: selling.token }))
  expect(body.abandonedCartMail).toEqual({ enabled: true, afterHours: 10 })
  expect(await visitor.axe()).toEqual([])
})
