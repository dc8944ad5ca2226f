/** Refund totals stay correct for random processor responses and payments by hand. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { engine } from '../../../../db/columns.ts'
import { ProcessorRefused, ProcessorUnavailable, type RefundAnswer } from '../../../../src/clients/processors/processor.ts'
import { bookFindings } from '../../../../src/modules/payments/ledger/check-store.ts'
import { paymentsOf } from '../../../../src/modules/payments/payment/index.ts'
import { handleAnswer } from '../../../../src/modules/selling/order/saga/order-payments.ts'
import { newSagaContext } from '../../../../src/modules/selling/order/saga/saga-context.ts'
import { type Json, testApp } from '../../../support/app.ts'
import { booksOf, violationsOf } from '../../../support/books.ts'
import { ok } from '../../../support/selling.ts'
import { capabilities, paymentAnswer, sellingWithProcessor } from '../../../support/test-processor.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const hour = 60 * 60_000
const captured = 1_000

type Action =
  | { do: 'refund'; amount: number }
  | { do: 'cancel' }
  | { do: 'wait'; hours: number }
  | { do: 'message'; externalAmount: number }
  | { do: 'settle' }
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ do: fc.constant('refund' as const), amount: fc.integer({ min: 1, max: captured }) }),
  fc.record({ do: fc.constant('cancel' as const) }),
  fc.record({ do: fc.constant('wait' as const), hours: fc.integer({ min: 1, max: 30 }) }),
  fc.record({ do: fc.constant('message' as const), externalAmount: fc.integer({ min: 0, max: 400 }) }),
  fc.record({ do: fc.constant('settle' as const) }),
)
/** The behaviours of the processor for successive calls, repeated cyclically. */
const behaviour = fc.constantFrom('succeeds', 'claim', 'unable', 'refuses', 'silent', 'lost', 'pending', 'fails')
type Behaviour = typeof behaviour extends fc.Arbitrary<infer Value> ? Value : never

const states: Partial<Record<Behaviour, RefundAnswer['state']>> = {
  succeeds: 'SUCCEEDED',
  claim: 'CLAIMABLE',
  pending: 'PENDING',
  fails: 'FAILED',
}

test('holds every invariant of refunds after each action, and refunds all money in the end', async () => {
  const story = fc.record({
    batches: fc.array(fc.array(action, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 7 }),
    behaviours: fc.array(behaviour, { minLength: 1, maxLength: 8 }),
  })
  const seenStatuses = new Set<string>()
  const property = fc.asyncProperty(story, async ({ batches, behaviours }) => {
    await using app = await testApp()
    let calls = 0
    /** The refunds that the processor has created, by our ids. Its later answers may differ. */
    const createdRefunds = new Map<string, number>()
    let externalAmount = 0
    const answerOf = (refundId: string, amount: number): RefundAnswer => {
      const now = behaviours[calls++ % behaviours.length] ?? 'succeeds'
      if (now === 'unable') throw new ProcessorRefused('refund_not_supported')
      if (now === 'refuses') throw new ProcessorRefused('too_early')
      if (now === 'silent') throw new ProcessorUnavailable('silent', { neverSent: true })
      createdRefunds.set(refundId, amount)
      const state = states[now]
      if (!state) throw new ProcessorUnavailable('lost')
      return { reference: `re_${refundId}`, state, ...(state === 'CLAIMABLE' ? { claimUrl: 'https://pay.example.com/c' } : {}) }
    }
    const shop = await sellingWithProcessor(app, {
      capabilities: { ...capabilities, refundsMayFail: true, refundRepeatsMs: 24 * hour },
      create: async () => paymentAnswer('AUTHORIZED', { authorized: captured }),
      capture: async () => paymentAnswer('CAPTURED', { authorized: captured, captured }),
      retrieve: async () => paymentAnswer('CAPTURED', { authorized: captured, captured }),
      refund: async ({ refundId, amount }) => answerOf(refundId, amount),
      retrieveRefund: async ({ refundId, amount }) => (createdRefunds.has(refundId) ? answerOf(refundId, amount) : undefined),
    })
    const { order } = ok(await shop.buy()).body
    const run = async (one: Action): Promise<unknown> => {
      switch (one.do) {
        case 'refund':
          return shop.refund(order.id, { amount: shop.usd(one.amount) })
        case 'cancel':
          return shop.post(`/v2/orders/${order.id}/cancel`, {})
        case 'wait':
          app.clock.advance(one.hours * hour)
          return app.jobs.resume()
        case 'message': {
          externalAmount += one.externalAmount
          const [payment] = await paymentsOf(app.deps, order.id)
          if (!payment) throw new Error('no payment')
          const refunded = Math.min(
            captured,
            [...createdRefunds.values()].reduce((sum, amount) => sum + amount, externalAmount),
          )
          return handleAnswer(
            app.deps,
            payment,
            paymentAnswer('CAPTURED', { authorized: captured, captured, refunded }),
            newSagaContext(app.deps),
          )
        }
        case 'settle': {
          const { data } = (await shop.get('/v2/refunds?status=MANUAL')).body
          return Promise.all(
            data.map(({ id }: Json) => shop.post(`/v2/orders/${order.id}/refunds/${id}/settled`, { reference: `SEPA ${id}` })),
          )
        }
      }
    }
    const expectInvariants = async () => {
      expect(violationsOf(await booksOf(app))).toEqual([])
      for await (const { subject, problems, isWork } of bookFindings(app.deps.db))
        if (!isWork) expect([subject, problems]).toEqual([subject, []])
      const { capturedTotal, refundedTotal, paymentStatus, refunds, status } = await shop.order(order.id)
      expect(refundedTotal.amount).toBeGreaterThanOrEqual(0)
      expect(refundedTotal.amount).toBeLessThanOrEqual(capturedTotal.amount)
      if (paymentStatus === 'REFUNDED') expect(refundedTotal).toEqual(capturedTotal)
      seenStatuses.add(status)
      for (const refund of refunds as Json[]) seenStatuses.add(refund.status)
    }
    for (const batch of batches) {
      const answers = await Promise.all(batch.map(run))
      for (const answer of answers) expect((answer as { status?: number } | undefined)?.status ?? 200).toBeLessThan(500)
      await expectInvariants()
    }
    // The processor succeeds again, and the shop settles refunds by hand.
    behaviours.splice(0, behaviours.length, 'succeeds')
    for (let days = 0; days < 3; days++) {
      await run({ do: 'wait', hours: 30 })
      await run({ do: 'settle' })
    }
    await expectInvariants()
    const last = await shop.order(order.id)
    expect((last.refunds as Json[]).filter(({ status }) => !['SUCCEEDED', 'FAILED'].includes(status))).toEqual([])
    if (last.status === 'CANCELLED') expect(last.paymentStatus).toBe('REFUNDED')
    if (last.paymentStatus !== 'REFUNDED') ok(await shop.refund(order.id, { all: true }))
    expect(await shop.order(order.id)).toMatchObject({ paymentStatus: 'REFUNDED', refundedTotal: shop.usd(captured) })
  })
  await fc.assert(property, {
    seed: Number(Bun.env['FUZZ_SEED'] ?? 9),
    numRuns: Number(Bun.env['FUZZ_RUNS'] ?? (engine === 'sqlite' ? 25 : 8)),
  })
  expect(
    ['CONFIRMED', 'CANCELLED', 'PENDING', 'CLAIMABLE', 'MANUAL', 'SUCCEEDED', 'FAILED'].filter((one) => !seenStatuses.has(one)),
  ).toEqual([])
})
