/** Tests state changes along a table of transitions. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { orders } from '../../db/schema/selling.ts'
import { createStateMachine } from '../../src/core/state-machine.ts'
import { orderTransitions } from '../../src/modules/selling/order/domain.ts'
import { testApp } from '../support/app.ts'
import { insertOrder } from '../support/order-rows.ts'
import { sellingIn } from '../support/selling.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const { change, move, moveThrough } = createStateMachine(orders, orderTransitions)

test("moveThrough moves a row by two steps at once, from the first step's state only", async () => {
  await using app = await testApp()
  const { shop } = await sellingIn(app)
  const { id: unpaidId } = await insertOrder(app, shop.id, { status: 'PENDING_PAYMENT' })
  const { id: paidId } = await insertOrder(app, shop.id, { status: 'PAID' })
  const confirm = (id: string) =>
    app.deps.db.write((tx) => moveThrough(tx, id, ['PENDING_PAYMENT'], 'PAID', 'CONFIRMED', { paymentStatus: 'CAPTURED' }))
  expect(await confirm(unpaidId)).toMatchObject({ id: unpaidId, status: 'CONFIRMED', paymentStatus: 'CAPTURED' })
  expect(await confirm(unpaidId)).toBeUndefined()
  expect(await confirm(paidId)).toBeUndefined()
  expect(await app.deps.db.write((tx) => move(tx, paidId, ['PAID'], 'CONFIRMED', {}))).toMatchObject({ status: 'CONFIRMED' })
})

test('change returns the row as it is stored, whether or not a value changed', async () => {
  await using app = await testApp()
  const { shop } = await sellingIn(app)
  const { id } = await insertOrder(app, shop.id, { status: 'PENDING_PAYMENT' })
  const stored = async () => app.deps.orderStore.find(id)
  const before = await stored()
  if (!before) throw new Error('no order')
  const changeOrder = (fields: Parameters<typeof change>[3]) =>
    app.deps.db.write(async (tx) => {
      const row = await app.deps.orderStore.lock(tx, id)
      if (!row) throw new Error('no order')
      return change(tx, row, ['PENDING_PAYMENT'], fields)
    })
  const changed = await changeOrder({
    capturedTotal: before.capturedTotal,
    attempts: 3,
    shippingMethod: { code: 'a', title: 'A' },
  })
  expect(changed).toEqual({ ...before, attempts: 3, shippingMethod: { code: 'a', title: 'A' } })
  expect(await stored()).toEqual(changed)
  expect(await changeOrder({ attempts: 3 })).toEqual(changed)
  expect(await stored()).toEqual(changed)
  expect(await app.deps.db.write((tx) => move(tx, before, ['PAID'], 'CONFIRMED', { attempts: 4 }))).toBeUndefined()
  expect(await stored()).toEqual(changed)
})

test('two steps that the table does not contain do not compile', () => {
  // @ts-expect-error EXPIRED does not lead to PAID
  const first = () => moveThrough({} as never, 'order', ['EXPIRED'], 'PAID', 'CONFIRMED', {})
  // @ts-expect-error EXPIRED does not lead to CONFIRMED
  const second = () => moveThrough({} as never, 'order', ['PENDING_PAYMENT'], 'EXPIRED', 'CONFIRMED', {})
  expect([first, second]).toHaveLength(2)
})
