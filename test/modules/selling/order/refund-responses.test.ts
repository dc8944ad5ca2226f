/** The outcome of a refund for every state, purpose and processor response. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { refundArrivesMs } from '../../../../src/modules/payments/payment/domain.ts'
import { type Refund, refundTransitions } from '../../../../src/modules/selling/order/domain.ts'
import {
  bankFailuresMax,
  decideOutcome,
  nextClaimQueryAt,
  nextWatchAt,
  type RefundResponse,
  refusalsMax,
  unaccountedAmount,
  waitingFields,
} from '../../../../src/modules/selling/order/refunds/refund-responses.ts'

const hourMs = 60 * 60_000
const dayMs = 24 * hourMs
const now = 100 * dayMs
const purposes = ['REFUND', 'CANCEL', 'COMPENSATE', 'LATE_CAPTURE', 'ELSEWHERE'] as const satisfies readonly Refund['purpose'][]
const statuses = ['PENDING', 'CLAIMABLE', 'SUCCEEDED', 'MANUAL', 'FAILED'] as const satisfies readonly Refund['status'][]
const mustBeReturned = (purpose: Refund['purpose']) => purpose === 'COMPENSATE' || purpose === 'LATE_CAPTURE'

type RefundInput = Parameters<typeof decideOutcome>[0]
const refundOf = (fields: Partial<RefundInput>): RefundInput & { updatedAt: number } => ({
  status: 'PENDING',
  purpose: 'REFUND',
  processorReference: null,
  attempts: 0,
  failureCode: null,
  sentAt: now,
  createdAt: now,
  updatedAt: now,
  ...fields,
})
const outcome = (refund: RefundInput, response: RefundResponse, failedBefore = 0) => decideOutcome(refund, response, { now, failedBefore })
const failed = { reference: 're_1', state: 'FAILED', failureCode: 'closed_account' } as const
const refused = { reference: undefined, state: 'FAILED', failureCode: 'too_early' } as const
const unable = { reference: undefined, state: 'FAILED', failureCode: 'refund_not_supported' } as const
const succeeded = { reference: 're_1', state: 'SUCCEEDED' } as const
const claimable = { reference: 'pp_1', state: 'CLAIMABLE', claimUrl: 'https://pay.example.com/c' } as const

test('allows only the defined state transitions of a refund for every response', () => {
  const state = fc.constantFrom('PENDING', 'SUCCEEDED', 'FAILED', 'CLAIMABLE')
  const code = fc.constantFrom('refund_not_supported', 'refused')
  const answer = fc.record({ reference: fc.option(fc.constant('re_1'), { nil: undefined }), state, failureCode: code })
  const response: fc.Arbitrary<RefundResponse> = fc.oneof(
    answer as fc.Arbitrary<Exclude<RefundResponse, string>>,
    fc.constantFrom('notFound' as const, undefined),
  )
  const refund = fc.record({
    status: fc.constantFrom(...statuses),
    purpose: fc.constantFrom(...purposes),
    processorReference: fc.option(fc.constant('re_1')),
    attempts: fc.nat(20),
    failureCode: fc.option(fc.constant('refused')),
    sentAt: fc.constantFrom(null, now, now - 2 * refundArrivesMs),
  })
  fc.assert(
    fc.property(refund, response, fc.nat(5), (fields, what, failedBefore) => {
      const { kind } = outcome(refundOf(fields), what, failedBefore)
      if (kind === 'wait') return
      const to = kind === 'again' ? 'FAILED' : kind
      expect(refundTransitions[fields.status] as readonly string[]).toContain(to)
    }),
  )
})

describe.each(purposes)('responses to a refund for %s', (purpose) => {
  const refundWith = (fields: Partial<RefundInput>) => refundOf({ ...fields, purpose })

  test('decides a pending refund: succeeded, claimable, waiting, or by hand if the processor cannot refund', () => {
    expect(outcome(refundWith({}), succeeded)).toEqual({ kind: 'SUCCEEDED' })
    expect(outcome(refundWith({}), claimable)).toEqual({ kind: 'CLAIMABLE' })
    expect(outcome(refundWith({}), { reference: 're_1', state: 'PENDING' })).toEqual({ kind: 'wait' })
    expect(outcome(refundWith({}), undefined)).toEqual({ kind: 'wait' })
    expect(outcome(refundWith({}), unable)).toEqual({ kind: 'MANUAL', code: 'refund_not_supported' })
  })

  test('fails a refused refund, but retries a due refund and finally leaves it for payment by hand', () => {
    if (!mustBeReturned(purpose)) {
      expect(outcome(refundWith({}), refused)).toEqual({ kind: 'FAILED', code: 'too_early' })
      expect(outcome(refundWith({}), failed)).toEqual({ kind: 'FAILED', code: 'closed_account' })
      return
    }
    expect(outcome(refundWith({}), refused)).toEqual({ kind: 'wait', refused: 'too_early' })
    // Attempts without an answer do not count as refusals.
    expect(outcome(refundWith({ attempts: refusalsMax }), refused)).toEqual({ kind: 'wait', refused: 'too_early' })
    const refusedOften = { attempts: refusalsMax - 1, failureCode: 'too_early' }
    expect(outcome(refundWith(refusedOften), refused)).toEqual({ kind: 'MANUAL', code: 'too_early' })
    expect(outcome(refundWith({}), failed, bankFailuresMax - 2)).toEqual({ kind: 'again', code: 'closed_account' })
    expect(outcome(refundWith({}), failed, bankFailuresMax - 1)).toEqual({ kind: 'MANUAL', code: 'closed_account' })
  })

  test('ends a claimable refund only when it is claimed or can no longer be claimed', () => {
    const claim = refundWith({ status: 'CLAIMABLE', processorReference: 'pp_1' })
    expect(outcome(claim, succeeded)).toEqual({ kind: 'SUCCEEDED' })
    expect(outcome(claim, { reference: 'pp_1', state: 'FAILED', failureCode: 'archived' })).toEqual({ kind: 'MANUAL', code: 'archived' })
    for (const response of [claimable, { reference: 'pp_1', state: 'PENDING' }, undefined] as const)
      expect(outcome(claim, response)).toEqual({ kind: 'wait' })
  })

  test('leaves a succeeded refund that fails later for payment by hand, and ignores responses to ended refunds', () => {
    const succeededRefund = refundWith({ status: 'SUCCEEDED', processorReference: 're_1' })
    expect(outcome(succeededRefund, failed)).toEqual({ kind: 'MANUAL', code: 'closed_account' })
    for (const response of [succeeded, undefined, 'notFound'] as const) expect(outcome(succeededRefund, response)).toEqual({ kind: 'wait' })
    for (const status of ['MANUAL', 'FAILED'] as const) expect(outcome(refundWith({ status }), succeeded)).toEqual({ kind: 'wait' })
  })

  test('leaves a refund that cannot be repeated or found for payment by hand after an hour', () => {
    expect(outcome(refundWith({ sentAt: now - refundArrivesMs + 1 }), 'notFound')).toEqual({ kind: 'wait' })
    expect(outcome(refundWith({ sentAt: now - refundArrivesMs }), 'notFound')).toEqual({ kind: 'MANUAL', code: 'not_found' })
    // The refund has a reference at the processor, so one "not found" is not final.
    const withReference = refundWith({ sentAt: now - refundArrivesMs, processorReference: 're_1' })
    expect(outcome(withReference, 'notFound')).toEqual({ kind: 'wait', refused: 'not_found' })
  })
})

test('counts consecutive refusals, ignores silence between them, and clears the refusal on any other response', () => {
  const first = waitingFields(refundOf({ attempts: 7 }), { response: refused, refused: 'too_early', now })
  expect(first).toMatchObject({ attempts: 1, failureCode: 'too_early' })
  const second = waitingFields(refundOf(first), { response: undefined, now })
  expect(second).toMatchObject({ attempts: 1, failureCode: 'too_early' })
  expect(waitingFields(refundOf(second), { response: refused, refused: 'too_early', now })).toMatchObject({ attempts: 2 })
  expect(waitingFields(refundOf(second), { response: { reference: 're_1', state: 'PENDING' }, now })).toMatchObject({
    attempts: 2,
    failureCode: null,
  })
})

test('queries a claim at growing intervals up to a day, and a refund that may fail daily for a week', () => {
  const pauses = [0, 2, 7, 24, 240].map((hours) => (nextClaimQueryAt(now - hours * hourMs, now) - now) / hourMs)
  expect(pauses).toEqual([1, 2, 7, 24, 24])
  let [at, queries]: [number | null, number] = [nextWatchAt(now, now), 0]
  for (; at !== null; at = nextWatchAt(now, at)) queries++
  expect(queries).toBe(7)
})

test('subtracts known refunds from the amount refunded at the processor, and failed ones only with a reference', () => {
  const baseRefund: Pick<Refund, 'paymentId' | 'amount' | 'processorReference'> = {
    paymentId: 'pay_1',
    amount: 300,
    processorReference: 're_1',
  }
  const unaccounted = (...refunds: (Pick<Refund, 'status'> & Partial<typeof baseRefund>)[]) =>
    unaccountedAmount(
      { id: 'pay_1' },
      refunds.map((refund) => ({ ...baseRefund, ...refund })),
      1_000,
    )
  expect(unaccounted()).toBe(1_000)
  expect(unaccounted({ status: 'SUCCEEDED' }, { status: 'SUCCEEDED', paymentId: 'pay_2' })).toBe(700)
  expect(unaccounted({ status: 'FAILED' }, { status: 'MANUAL' })).toBe(400)
  expect(unaccounted({ status: 'FAILED', processorReference: null }, { status: 'MANUAL', processorReference: null })).toBe(1_000)
  expect(unaccounted({ status: 'SUCCEEDED', amount: 2_000 })).toBe(0)
})
