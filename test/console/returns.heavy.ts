/** Tests returns in the console, in a browser: the list, the approval, and the receipt with a refund. */
import { expect, setDefaultTimeout } from 'bun:test'
import { consoleTests } from '../support/console-tests.ts'
import { requestedReturnOf, returnableOf } from '../support/returns.ts'
import { ok, type Selling, sellingIn } from '../support/selling.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const evil = '=1+1 "><img src=x onerror=alert(1)> <b>bold</b>'
const { test } = consoleTests({ fill: async ({ app }) => ({ selling: await sellingIn(app, { onHand: 1_000 }) }) })
const at = ({ shop }: Selling, rest: string) => `s/${shop.name}/${rest}`

for (const width of ['desk', 'phone'] as const)
  test(`returns are listed by status and link to their order (${width})`, async ({ open, data: { selling } }) => {
    const { orderId, order, path } = await requestedReturnOf(selling, { quantity: 2 })
    const visitor = await open({ as: selling, at: at(selling, ''), width })
    await visitor.press(/to approve or reject/, { role: 'link' })
    await visitor.heading('Returns')
    await visitor.text('Too small')
    expect(await visitor.axe()).toEqual([])
    await visitor.press(new RegExp(`#${order.number}\\b`), { role: 'link' })
    await visitor.there('Approve', { role: 'link' })
    expect(await visitor.path()).toContain(orderId)
    ok(await selling.post(`${path}/reject`, {}))
    await visitor.go(at(selling, 'orders/returns?status=REQUESTED'))
    await visitor.text('Try changing the search or the filters.')
  })

for (const width of ['desk', 'phone'] as const)
  test(`a requested return is approved and received with its refund (${width})`, async ({ open, data: { selling } }) => {
    const { orderId, lineId, path } = await returnableOf(selling, { quantity: 3 })
    const { id } = ok(await selling.post(path, { lines: [{ lineId, quantity: 1, reason: evil }] }), 201).body
    const visitor = await open({ as: selling, at: at(selling, `orders/${orderId}`), width })
    await visitor.text(evil)
    expect(await visitor.axe()).toEqual([])
    await visitor.press('Approve', { role: 'link' })
    await visitor.there('Approve return', { role: 'dialog' })
    await visitor.press('Approve', { role: 'button' })
    await visitor.press('Mark as received', { role: 'link' })
    await visitor.there('Mark return as received', { role: 'dialog' })
    const { lines } = ok(await selling.get(`/v2/orders/${orderId}`)).body
    await visitor.text(`$${(lines[0].total.amount / 3 / 100).toFixed(2)}, without shipping`)
    expect(await visitor.axe()).toEqual([])
    await visitor.press('Mark as received', { role: 'button' })
    await visitor.text('Refund: Succeeded')
    expect(ok(await selling.get(path)).body.data).toMatchObject([
      { id, status: 'RECEIVED', restocked: true, refund: { status: 'SUCCEEDED' } },
    ])
    await visitor.press('Create return', { role: 'link' })
    await visitor.there('Create return', { role: 'dialog' })
    await visitor.fill(/^Quantity/, '2', { within: 'Create return' })
    await visitor.fill('Reason', 'Too small', { within: 'Create return' })
    expect(await visitor.axe()).toEqual([])
    await visitor.press('Create return', { role: 'button' })
    await visitor.text('Too small')
    expect(ok(await selling.get(path)).body.returnable).toEqual([{ lineId, quantity: 0 }])
  })
