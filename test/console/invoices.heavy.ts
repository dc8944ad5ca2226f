/** Tests invoices and credit notes in the console, in a browser. */
import { expect, setDefaultTimeout } from 'bun:test'
import { consoleTests } from '../support/console-tests.ts'
import { ok, type Selling, sellingIn } from '../support/selling.ts'
import { staffOf } from '../support/staff.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const { test } = consoleTests({
  fill: async ({ app }) => ({ selling: await sellingIn(app, { onHand: 1_000 }) }),
})
const at = ({ shop }: Selling, rest = '') => `s/${shop.name}${rest}`

test('an invoice asks for the legal name first, and prints with it on a phone', async ({ app, open, data: { selling } }) => {
  const { id, number } = await selling.placeOrder()
  ok(await selling.refund(id, { amount: selling.money(100) }))
  const manager = await staffOf(app, selling, 'MANAGER')
  const visitor = await open({ as: manager, at: at(selling, `/orders/${id}`), width: 'phone' })
  await visitor.press('Invoice', { role: 'link' })
  await visitor.text('Add the legal name of your business first')
  expect(await visitor.all('button', { within: 'main' })).not.toContain('Print')
  expect(await visitor.axe()).toEqual([])
  await visitor.press('Shop details', { role: 'link' })
  await visitor.fill('Legal name', 'Tea <i>& Cups</i> GmbH')
  await visitor.fill('Tax number', 'DE 1')
  await visitor.fill('Note on invoices', 'IBAN DE00')
  await visitor.press('Save', { role: 'button' })
  await visitor.notice('Saved')
  expect(await visitor.axe()).toEqual([])
  await visitor.go(at(selling, `/orders/invoices?ids=${id}`))
  await visitor.there(`Invoice ${number}`, { role: 'heading' })
  await visitor.there('Tea <i>& Cups</i> GmbH')
  await visitor.there('IBAN DE00')
  expect(await visitor.printedSheets()).toBe(1)
  expect(await visitor.axe()).toEqual([])
})

test('invoices and credit notes of a selection print, and packers see neither', async ({ app, open, data: { selling } }) => {
  ok(await app.call('PATCH', '/shops/v2', { token: selling.token, body: { legalName: 'Tea GmbH' } }))
  const [one, two] = [await selling.placeOrder(), await selling.placeOrder()]
  ok(await selling.refund(two.id, { amount: selling.money(100) }))
  const visitor = await open({ as: selling, at: at(selling, '/orders') })
  await visitor.press(`Select order #${one.number}`, { role: 'checkbox' })
  await visitor.there('Invoices', { role: 'link' })
  expect(await visitor.has('Credit notes')).toBe(false)
  await visitor.press(`Select order #${two.number}`, { role: 'checkbox' })
  await visitor.there('Credit notes', { role: 'link' })
  await visitor.press('Invoices', { role: 'link' })
  await visitor.there(`Invoice ${one.number}`, { role: 'heading' })
  await visitor.there(`Invoice ${two.number}`, { role: 'heading' })
  expect(await visitor.printedSheets()).toBe(2)
  await visitor.go(at(selling, `/orders/${two.id}`))
  await visitor.press('Credit notes', { role: 'link' })
  await visitor.there(/^Credit note \d+$/, { role: 'heading' })
  await visitor.there(new RegExp(`^For invoice ${two.number} of `))
  expect(await visitor.axe()).toEqual([])
  const packer = await staffOf(app, selling, 'FULFILMENT')
  const packing = await open({ as: packer, at: at(selling, `/orders/${two.id}`) })
  await packing.there('Packing slip', { role: 'link' })
  expect([await packing.has('Invoice'), await packing.has('Credit notes')]).toEqual([false, false])
})
