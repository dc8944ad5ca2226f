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

/** Resolves to true for two identical types, and to false otherwise. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const expectSame = <A, B>(are: Same<A, B>) => expect<boolean>(are).toBe(true)

/** Returns the states from which `to` may be entered, read from the table. */
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
    // @ts-expect-error BROKEN has no next state
    transitionOf(lamp, 'BROKEN', 'LIT')
    // @ts-expect-error no state leads to NEW
    transitionOf(lamp, 'LIT', 'NEW')
  })

  test('SourceOf is the type of the states from which each state can be entered', () => {
    expectSame<StateOf<Lamp>, 'NEW' | 'LIT' | 'DARK' | 'BROKEN'>(true)
    expectSame<SourceOf<Lamp, 'LIT'>, 'NEW' | 'DARK'>(true)
    expectSame<SourceOf<Lamp, 'NEW'>, never>(true)
    // For a union: the states from which each of its states can be entered.
    expectSame<SourceOf<Lamp, 'LIT' | 'BROKEN'>, 'NEW'>(true)
    expectSame<SourceOf<typeof orderTransitions, 'CANCELLED'>, 'PENDING_PAYMENT' | 'CONFIRMED' | 'COMPENSATING'>(true)
  })
})

/** Contains the calls that must and must not compile. It is never called. */
export async function compileTimeChecks(
  tx: Writer,
  { orderStore, paymentStore, lendingStore }: Pick<TestApp['deps'], 'orderStore' | 'paymentStore' | 'lendingStore'>,
): Promise<void> {
  await orderStore.move(tx, 'order_1', ['PAID'], 'CONFIRMED', { resumeAt: null })
  await orderStore.move(tx, 'order_1', ['PENDING_PAYMENT', 'CONFIRMED', 'COMPENSATING'], 'CANCELLED', {})
  // @ts-expect-error CANCELLED has no next state
  await orderStore.move(tx, 'order_1', ['CANCELLED'], 'PAID', {})
  // @ts-expect-error only PAID leads to CONFIRMED
  await orderStore.move(tx, 'order_1', ['PAID', 'PENDING_PAYMENT'], 'CONFIRMED', {})
  // @ts-expect-error no state leads to PENDING_PAYMENT
  await orderStore.move(tx, 'order_1', ['PAID'], 'PENDING_PAYMENT', {})
  // @ts-expect-error unknown state
  await orderStore.move(tx, 'order_1', ['PAID'], 'REFUNDED', {})
  // @ts-expect-error CONFIRMED does not lead to EXPIRED
  await orderStore.move(tx, 'order_1', ['CONFIRMED'], 'CANCELLED' as 'CANCELLED' | 'EXPIRED', {})
  // @ts-expect-error a move may not set another status
  await orderStore.move(tx, 'order_1', ['PAID'], 'CONFIRMED', { status: 'CANCELLED' })
  await orderStore.change(tx, 'order_1', ['PAID'], { carrier: 'Post' })
  // @ts-expect-error a change may not set the status
  await orderStore.change(tx, 'order_1', ['PAID'], { status: 'CONFIRMED' })
  // @ts-expect-error a change may not set the id
  await orderStore.change(tx, 'order_1', ['PAID'], { id: 'order_2' })

  await paymentStore.move(tx, 'pay_1', ['PENDING', 'REQUIRES_ACTION', 'AUTHORIZED'], 'CAPTURED', { captured: 1 })
  await paymentStore.move(tx, 'pay_1', ['FAILED', 'VOIDED'], 'CAPTURED', {})
  await paymentStore.move(tx, 'pay_1', ['FAILED'], 'AUTHORIZED', {})
  // @ts-expect-error VOIDED does not lead to AUTHORIZED
  await paymentStore.move(tx, 'pay_1', ['VOIDED'], 'AUTHORIZED', {})
  // @ts-expect-error AUTHORIZED does not lead to REQUIRES_ACTION
  await paymentStore.move(tx, 'pay_1', ['AUTHORIZED'], 'REQUIRES_ACTION', {})
  await paymentStore.change(tx, 'pay_1', ['FAILED'], { captured: 1 })
  // @ts-expect-error a change may not set the status
  await paymentStore.change(tx, 'pay_1', ['AUTHORIZED'], { status: 'CAPTURED' })

  await orderStore.moveRefund(tx, 'ref_1', ['PENDING'], 'SUCCEEDED', {})
  // @ts-expect-error FAILED does not lead to SUCCEEDED
  await orderStore.moveRefund(tx, 'ref_1', ['FAILED'], 'SUCCEEDED', {})
  // @ts-expect-error FAILED does not lead to PENDING
  await orderStore.moveRefund(tx, 'ref_1', ['FAILED'], 'PENDING', {})
  await orderStore.changeRefund(tx, 'ref_1', ['PENDING'], { attempts: 1 })
  // @ts-expect-error a change may not set the status
  await orderStore.changeRefund(tx, 'ref_1', ['PENDING'], { status: 'FAILED' })

  await lendingStore.move(tx, 'loan_1', ['SUBMITTED', 'UNDER_REVIEW'], 'APPROVED', {})
  // @ts-expect-error DRAFT does not lead to APPROVED
  await lendingStore.move(tx, 'loan_1', ['DRAFT'], 'APPROVED', {})
  // @ts-expect-error APPROVED does not lead to REJECTED
  await lendingStore.move(tx, 'loan_1', ['APPROVED'], 'REJECTED', {})
  // @ts-expect-error WITHDRAWN does not lead to SUBMITTED
  await lendingStore.move(tx, 'loan_1', ['WITHDRAWN'], 'SUBMITTED', {})
  // @ts-expect-error a change may not set the status
  await lendingStore.change(tx, 'loan_1', ['DRAFT'], { status: 'SUBMITTED' })
}

type Row = { id: string; status: string }
/** A row and its state changes, without the types of its states. */
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
  const selection = { method: 'card', processor: 'sandbox', accountId: '', mode: 'TEST' } as const
  const choice = { ...selection, token: undefined, returnUrl: undefined, attemptKey: 'one' }
  const payment = await db.write((tx) => createPayment(tx, app.deps, { order, choice, holder: 'test' }))
  const amounts = { amount: 1, giftCardAmount: 0, giftCards: [] }
  const refund = await db.write((tx) =>
    createRefund(tx, app.deps, { order, purpose: 'REFUND', attemptKey: 'one', payment, parts: amounts, holder: 'test' }),
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
          // Skips source states that the types do not allow.
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
