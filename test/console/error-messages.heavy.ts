/** Tests errors of souk beside the fields of a form. */
import { expect, setDefaultTimeout } from 'bun:test'
import { usd } from '../support/catalog.ts'
import { consoleTests } from '../support/console-tests.ts'
import { ok, sellingIn } from '../support/selling.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const { test } = consoleTests({ fill: async ({ app }) => ({ selling: await sellingIn(app, { onHand: 10 }) }) })

test('a refused field shows the error with its visible label, until it is changed', async ({ open, data: { selling } }) => {
  ok(await selling.post('/discounts', { title: 'First', code: 'TWICE', kind: 'FREE_SHIPPING' }), 201)
  const { handle } = (await selling.add({ title: 'One of a kind', variants: [{ price: usd(100) }] })) as { handle: string }
  const other = (await selling.add({ title: 'Another', variants: [{ price: usd(100) }] })) as { id: string }
  const second = ok(await selling.post('/discounts', { title: 'Second', code: 'OTHER', kind: 'FREE_SHIPPING' }), 201).body.id
  ok(await selling.post('/customer', { email: 'ann@example.com' }), 201)
  const at = `s/${selling.shop.name}`
  for (const { path, label, typed, refused, request, submit = 'Save' } of [
    {
      path: `discounts/${second}`,
      label: /^Discount code/,
      typed: 'TWICE',
      refused: /Discount code: .*discount/,
      request: `PATCH /discounts/${second} 409`,
    },
    {
      path: `products/${other.id}`,
      label: /^Handle/,
      typed: handle,
      refused: /Handle: another product/,
      request: `PATCH /product-v2/${other.id} 409`,
    },
    { path: 'settings', label: /order/i, typed: 'ftp://shop.example/', refused: /: must be a URL/, request: 'PATCH /shops/v2 400' },
    {
      ...{ path: 'settings/staff', label: /^Email/, typed: selling.email, submit: 'Send invitation' },
      ...{ refused: /Email: this person already works/, request: 'POST /shops/v2/staff 409' },
    },
    {
      ...{ path: 'customers?new=1', label: /^Email/, typed: 'ann@example.com', submit: 'Create' },
      ...{ refused: /Email: another customer/, request: 'POST /customer 409' },
    },
  ]) {
    const visitor = await open({ as: selling, at: `${at}/${path}` })
    await visitor.fill(label, typed, { role: 'textbox' })
    visitor.expects(request)
    await visitor.keyPress(submit, { role: 'button' })
    await visitor.until(`document.querySelector('[aria-invalid=true]') !== null`, `a field of ${path} that is marked`)
    const formMessage = String(await visitor.page.evaluate(`document.querySelector('.form-problem').innerText`))
    expect(formMessage).toMatch(refused)
    expect(formMessage).not.toMatch(/\(body\)|Something went wrong/)
    const fieldError = (await visitor.page.evaluate(`(() => {
      const field = document.querySelector('[aria-invalid=true]')
      const id = field.getAttribute('aria-describedby').split(' ').at(-1)
      return [field.value, document.getElementById(id).innerText]
    })()`)) as [string, string]
    expect([fieldError[0], formMessage.includes(fieldError[1])]).toEqual([typed, true])
    expect(await visitor.axe()).toEqual([])
    await visitor.page.evaluate(`document.querySelector('[aria-invalid=true]').focus()`)
    await visitor.type('x')
    await visitor.until(`document.querySelector('[aria-invalid=true]') === null`, 'nothing is marked any more')
  }
})

test('an error dismisses an earlier success message', async ({ open, data: { selling } }) => {
  const visitor = await open({ as: selling, at: `s/${selling.shop.name}/settings` })
  await visitor.fill('Shop name', 'Another title')
  await visitor.press('Save', { role: 'button' })
  await visitor.notice('Saved')
  await visitor.fill(/order/i, 'ftp://shop.example/', { role: 'textbox' })
  visitor.expects('PATCH /shops/v2 400')
  await visitor.press('Save', { role: 'button' })
  await visitor.text('must be a URL')
  expect(await visitor.has('Saved')).toBe(false)
})
