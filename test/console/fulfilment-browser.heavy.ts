/** Tests the fulfilment of many orders, in a browser. */
import { expect, setDefaultTimeout } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { consoleTests } from '../support/console-tests.ts'
import { temporaryDir } from '../support/database.ts'
import { ok, type Selling, sellingIn } from '../support/selling.ts'
import { staffOf } from '../support/staff.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const { test } = consoleTests({
  fill: async ({ app }) => ({ selling: await sellingIn(app, { onHand: 1_000 }) }),
})
const at = ({ shop }: Selling, rest = '') => `s/${shop.name}${rest}`

test('selected orders are fulfilled by keyboard on a phone, and leave the list', async ({ app, open, data: { selling } }) => {
  const [one, two] = [await selling.placeOrder(), await selling.placeOrder({ quantity: 2 })]
  const packer = await staffOf(app, selling, 'FULFILMENT')
  const visitor = await open({ as: packer, at: at(selling, '/orders'), width: 'phone' })
  await visitor.heading('Orders')
  await visitor.keyPress('To fulfil', { role: 'link' })
  await visitor.there(`Select order #${one.number}`, { role: 'checkbox' })
  await visitor.keyPress(`Select order #${two.number}`, { role: 'checkbox', key: 'Space' })
  await visitor.text('1 selected')
  expect(await visitor.axe()).toEqual([])
  await visitor.press('Select all on this page', { role: 'checkbox' })
  await visitor.text('2 selected')
  // Another person fulfils one of them in the meantime.
  await visitor.press('Fulfil', { role: 'button' })
  await visitor.there('Fulfil 2 orders', { role: 'dialog' })
  ok(await selling.post(`/v2/orders/${one.id}/fulfil`, {}))
  await visitor.fill('Carrier', 'Post')
  await visitor.press('Mark as fulfilled', { role: 'button' })
  await visitor.text('1 order fulfilled')
  await visitor.text('1 order could not be fulfilled')
  await visitor.text('Only a CONFIRMED order can be fulfilled')
  expect(await visitor.axe()).toEqual([])
  await visitor.press('Close', { role: 'button' })
  await visitor.text('No results')
  expect((await selling.order(two.id)).tracking).toEqual({ number: null, carrier: 'Post' })
})

test('packing slips of a selection have no prices, and one sheet per order', async ({ open, data: { selling } }) => {
  const [one, two] = [await selling.placeOrder(), await selling.placeOrder({ quantity: 3 })]
  const visitor = await open({ as: selling, at: at(selling, '/orders?toFulfil=true') })
  await visitor.press(`Select order #${one.number}`, { role: 'checkbox' })
  await visitor.press(`Select order #${two.number}`, { role: 'checkbox' })
  await visitor.press('Packing slips', { role: 'link' })
  await visitor.heading('Packing slips')
  await visitor.there(`Packing slip for order ${one.number}`, { role: 'heading' })
  await visitor.there(`Packing slip for order ${two.number}`, { role: 'heading' })
  expect(await visitor.has('$')).toBe(false)
  expect(await visitor.printedSheets()).toBe(2)
  expect(await visitor.axe()).toEqual([])
})

test('tracking numbers of a CSV file are previewed and then saved', async ({ open, data: { selling } }) => {
  const [one, two] = [await selling.placeOrder(), await selling.placeOrder()]
  const file = join(temporaryDir(), 'tracking.csv')
  writeFileSync(file, `Order number;Tracking number;Carrier\n#${one.number};T-1;Post\n${two.number};<b>T-2</b>;\n9999;T-3;\nx;T-4;\n`)
  const visitor = await open({ as: selling, at: at(selling, '/orders/tracking'), width: 'phone' })
  await visitor.heading('Tracking numbers from CSV')
  await visitor.upload(/^Choose CSV file/, [file])
  await visitor.text('No such orders: #9999')
  await visitor.text('Row 5 is skipped: it has no order number.')
  await visitor.text('<b>T-2</b>')
  expect(await visitor.axe()).toEqual([])
  await visitor.press('Fulfil 2 orders', { role: 'button' })
  await visitor.text('2 orders fulfilled')
  expect((await selling.order(one.id)).tracking).toEqual({ number: 'T-1', carrier: 'Post' })
  expect((await selling.order(two.id)).tracking).toEqual({ number: '<b>T-2</b>', carrier: null })
})

test('the list is sorted by its columns', async ({ open, data: { selling } }) => {
  const [small, big] = [await selling.placeOrder(), await selling.placeOrder({ quantity: 9 })]
  await selling.placeOrder()
  const visitor = await open({ as: selling, at: at(selling, '/orders') })
  await visitor.press(/^Total/, { role: 'link' })
  await visitor.there(`#${big.number}`, { role: 'link' })
  expect((await visitor.all('rowheader'))[0]).toContain(`#${big.number}`)
  await visitor.press(/^Total/, { role: 'link' })
  expect(await visitor.path()).toBe(`/console/${at(selling)}/orders?sort=total`)
  await visitor.there(`#${small.number}`, { role: 'link' })
})
