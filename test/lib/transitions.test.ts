/** Tests tables of states, by their types and by stored rows. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import type { Writer } from '../../db/engine.ts'
import { payments, refunds } from '../../db/schema/payments.ts'
import { orders } from '../../db/schema/selling.ts'
import { assertReachable, type SourceOf, type StateOf, statesOf, type Transitions, transitionOf } from '../../src/lib/transitions.ts'
import { paymentTransitions } from '../../src/modules/payments/payment/domain.ts'
import { createPayment } from '../../src/modules/payments/payment/service.ts'
import { orderTransitions, refundTransitions } from '../../src/modules/selling/order/domain.ts'
import { createRefund } from '../../src/modules/selling/order/refunds/refunds.ts'
import type { OrderStore } from '../../src/modules/selling/order/store.ts'
import { type TestApp, testApp } from '../support/app.ts'
import { insertOrder } from '../support/order-rows.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

/** Compiles for two types that are the same, and no others. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <A, B>(are: Same<A, B>) => expect<boolean>(are).toBe(true)

/** The states from which `to` may be entered, found out from the table alone. */
const sourcesIn = (table: Transitions, to: string): string[] => Object.keys(table).filter((from) => table[from]?.includes(to) ?? false)

describe('state transitions', () => {
  const lamp = { NEW: ['LIT', 'BROKEN'], LIT: ['DARK', 'BROKEN'], DARK: ['LIT'], BROKEN: [] } as const satisfies Transitions
  type Lamp = typeof lamp

  test('assertReachable returns the table if every state is reachable, and names unreachable ones otherwise', () => {
    expect(assertReachable('NEW', lamp)).toBe(lamp)
    expect(() => assertReachable('DARK', lamp)).toThrow('unreachable states: NEW')
    expect(() => assertReachable('A', { A: ['B'], B: ['A'], C: ['A'], D: ['C'] })).toThrow('unreachable states: C, D')
  })

  test('statesOf lists the states, and transitionOf returns an allowed transition', () => {
    expect(statesOf(lamp)).toEqual(['NEW', 'LIT', 'DARK', 'BROKEN'])
    expect(transitionOf(lamp, 'DARK', 'LIT')).toEqual({ from: 'DARK', to: 'LIT' })
    // @ts-expect-error a broken lamp stays dark
    transitionOf(lamp, 'BROKEN', 'LIT')
    // @ts-expect-error no lamp becomes new
    transitionOf(lamp, 'LIT', 'NEW')
  })

  test('SourceOf gives the states from which each state can be entered', () => {
    same<StateOf<Lamp>, 'NEW' | 'LIT' | 'DARK' | 'BROKEN'>(true)
    same<SourceOf<Lamp, 'LIT'>, 'NEW' | 'DARK'>(true)
    same<SourceOf<Lamp, 'NEW'>, never>(true)
    // One of several: only from where each of them may follow.
    same<SourceOf<Lamp, 'LIT' | 'BROKEN'>, 'NEW'>(true)
    same<SourceOf<typeof orderTransitions, 'CANCELLED'>, 'PENDING_PAYMENT' | 'CONFIRMED' | 'COMPENSATING'>(true)
  })
})

/** Only the types of this count: nobody calls it. */
export async function whatCompiles(
  tx: Writer,
  { orderStore, paymentStore, lendingStore }: Pick<TestApp['deps'], 'orderStore' | 'paymentStore' | 'lendingStore'>,
): Promise<void> {
  await orderStore.move(tx, 'order_1', ['PAID'], 'CONFIRMED', { resumeAt: null })
  await orderStore.move(tx, 'order_1', ['PENDING_PAYMENT', 'CONFIRMED', 'COMPENSATING'], 'CANCELLED', {})
  // @ts-expect-error nothing follows CANCELLED
  await orderStore.move(tx, 'order_1', ['CANCELLED'], 'PAID', {})
  // @ts-expect-error CONFIRMED comes after PAID, and after nothing else
  await orderStore.move(tx, 'order_1', ['PAID', 'PENDING_PAYMENT'], 'CONFIRMED', {})
  // @ts-expect-error no order becomes PENDING_PAYMENT
  await orderStore.move(tx, 'order_1', ['PAID'], 'PENDING_PAYMENT', {})
  // @ts-expect-error there is no such state
  await orderStore.move(tx, 'order_1', ['PAID'], 'REFUNDED', {})
  // @ts-expect-error one of the two may not follow CONFIRMED
  await orderStore.move(tx, 'order_1', ['CONFIRMED'], 'CANCELLED' as 'CANCELLED' | 'EXPIRED', {})
  // @ts-expect-error a move has one state that it leads to
  await orderStore.move(tx, 'order_1', ['PAID'], 'CONFIRMED', { status: 'CANCELLED' })
  await orderStore.change(tx, 'order_1', ['PAID'], { carrier: 'Post' })
  // @ts-expect-error a change leaves the row in its state
  await orderStore.change(tx, 'order_1', ['PAID'], { status: 'CONFIRMED' })
  // @ts-expect-error and leaves it its id
  await orderStore.change(tx, 'order_1', ['PAID'], { id: 'order_2' })

  await paymentStore.move(tx, 'pay_1', ['PENDING', 'REQUIRES_ACTION', 'AUTHORIZED'], 'CAPTURED', { captured: 1 })
  await paymentStore.move(tx, 'pay_1', ['FAILED', 'VOIDED'], 'CAPTURED', {})
  await paymentStore.move(tx, 'pay_1', ['FAILED'], 'AUTHORIZED', {})
  // @ts-expect-error a payment that was given up is not authorized any more
  await paymentStore.move(tx, 'pay_1', ['VOIDED'], 'AUTHORIZED', {})
  // @ts-expect-error and does not go back
  await paymentStore.move(tx, 'pay_1', ['AUTHORIZED'], 'REQUIRES_ACTION', {})
  await paymentStore.change(tx, 'pay_1', ['FAILED'], { captured: 1 })
  // @ts-expect-error a change leaves the row in its state
  await paymentStore.change(tx, 'pay_1', ['AUTHORIZED'], { status: 'CAPTURED' })

  await orderStore.moveRefund(tx, 'ref_1', ['PENDING'], 'SUCCEEDED', {})
  // @ts-expect-error a refund that failed is not taken up again
  await orderStore.moveRefund(tx, 'ref_1', ['FAILED'], 'SUCCEEDED', {})
  // @ts-expect-error nor does it begin anew
  await orderStore.moveRefund(tx, 'ref_1', ['FAILED'], 'PENDING', {})
  await orderStore.changeRefund(tx, 'ref_1', ['PENDING'], { attempts: 1 })
  // @ts-expect-error a change leaves the row in its state
  await orderStore.changeRefund(tx, 'ref_1', ['PENDING'], { status: 'FAILED' })

  await lendingStore.move(tx, 'loan_1', ['SUBMITTED', 'UNDER_REVIEW'], 'APPROVED', {})
  // @ts-expect-error a draft is not decided about
  await lendingStore.move(tx, 'loan_1', ['DRAFT'], 'APPROVED', {})
  // @ts-expect-error a decision is final
  await lendingStore.move(tx, 'loan_1', ['APPROVED'], 'REJECTED', {})
  // @ts-expect-error what was withdrawn is not submitted again
  await lendingStore.move(tx, 'loan_1', ['WITHDRAWN'], 'SUBMITTED', {})
  // @ts-expect-error a change leaves the row in its state
  await lendingStore.change(tx, 'loan_1', ['DRAFT'], { status: 'SUBMITTED' })
}

type Row = { id: string; status: string }
/** A row, and what moves it, without what the types know of its states. */
type Subject = {
  transitions: Transitions
  force(status: string): Promise<unknown>
  move(from: readonly string[], to: string): Promise<Row | undefined>
  change(within: readonly string[]): Promise<Row | undefined>
  read(): Promise<Row | undefined>
}

async function subjectsIn(app: TestApp): Promise<Record<'orders' | 'payments' | 'refunds', Subject>> {
  const { db, orderStore, paymentStore } = app.deps
  const { shop } = await app.merchant()
  const order = await insertOrder(app, shop.id)
  const way = { method: 'card', processor: 'sandbox', accountId: '', mode: 'TEST' } as const
  const choice = { ...way, token: undefined, returnUrl: undefined, attemptKey: 'one' }
  const payment = await db.write((tx) => createPayment(tx, app.deps, { order, choice, holder: 'test' }))
  const parts = { amount: 1, giftCardAmount: 0, giftCards: [] }
  const refund = await db.write((tx) =>
    createRefund(tx, app.deps, { order, purpose: 'REFUND', attemptKey: 'one', payment, parts, holder: 'test' }),
  )
  const updatedAt = app.clock.now() + 1
  const subject = (
    transitions: Transitions,
    table: typeof orders | typeof payments | typeof refunds,
    id: string,
    { move, change }: { move: unknown; change: unknown },
  ): Subject => ({
    transitions,
    force: (status) =>
      db.write((tx) =>
        tx
          .update(table as typeof orders)
          .set({ status: status as 'PAID', updatedAt: 0 })
          .where(eq(table.id, id))
          .returning(),
      ),
    move: (from, to) => db.write((tx) => (move as OrderStore['move'])(tx, id, from as never, to as never, { updatedAt })),
    change: (within) => db.write((tx) => (change as OrderStore['change'])(tx, id, within as never, { updatedAt })),
    read: async () =>
      (
        await db.read
          .select()
          .from(table as typeof orders)
          .where(eq(table.id, id))
      )[0],
  })
  return {
    orders: subject(orderTransitions, orders, order.id, orderStore),
    payments: subject(paymentTransitions, payments, payment.id, paymentStore),
    refunds: subject(refundTransitions, refunds, refund.id, { move: orderStore.moveRefund, change: orderStore.changeRefund }),
  }
}

describe.each(['orders', 'payments', 'refunds'] as const)('state changes of a row of %s', (name) => {
  test('a row moves only from its allowed source states, and other changes keep its state', async () => {
    await using app = await testApp()
    const { transitions, ...row } = (await subjectsIn(app))[name]
    const states = statesOf(transitions)
    for (const state of states)
      for (const to of states) {
        const sources = sourcesIn(transitions, to)
        const allowed = transitions[state]?.includes(to) ?? false
        for (const from of [sources, [state], sources.filter((source) => source !== state), []]) {
          // Only what the types let through.
          if (!from.every((source) => sources.includes(source))) continue
          await row.force(state)
          const before = await row.read()
          const moved = await row.move(from, to)
          const moves = from.includes(state)
          expect([state, from, to, moved?.status]).toEqual([state, from, to, moves ? to : undefined])
          expect(await row.read()).toEqual(moved ?? before)
          expect(moves && !allowed).toBe(false)
        }
      }
    for (const state of states) {
      await row.force(state)
      expect(await row.change(states.filter((other) => other !== state))).toBeUndefined()
      expect(await row.read()).toMatchObject({ status: state, updatedAt: 0 })
      const changed = await row.change([state])
      expect(changed).toMatchObject({ status: state, updatedAt: app.clock.now() + 1 })
      expect(await row.read()).toEqual(changed)
    }
  })
})
