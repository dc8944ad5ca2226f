/** Tests the forms of decisions and repayments, their request bodies, and the display of the audit trail. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { differencesOf, pageOf } from '../../src/console/screens/audit/audit.domain.ts'
import { isOwnDecision } from '../../src/console/screens/kyb/own-decision.domain.ts'
import { remainingShare } from '../../src/console/screens/kyb/shares.domain.ts'
import { decisionsIn, parseAssessment, parseUsd, withoutFile } from '../../src/console/screens/lending-queue/review.domain.ts'
import { blankRepayment, bodyOf } from '../../src/console/screens/repayments/repayment.domain.ts'
import { amountMax } from '../../src/lib/money.ts'
import { allowedIn, decisions, lendingStatuses } from '../../src/modules/lending/application/domain.ts'

describe('dollars', () => {
  test('are parsed exactly to the cent, and other texts are refused', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: amountMax }), (cents) => {
        const text = `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`
        expect(parseUsd(text)).toBe(Number(text))
      }),
    )
    expect(['1250,5', ' 7 ', '0'].map(parseUsd)).toEqual([1_250.5, 7, 0])
    for (const text of ['', '-1', '1.005', '1e3', '$5', '1 000', 'NaN']) expect([text, parseUsd(text)]).toEqual([text, undefined])
  })
})

describe('an application', () => {
  test('offers the decisions that souk allows in each state', () => {
    for (const status of lendingStatuses) {
      const allowed = decisions.filter(
        (one) => (allowedIn[one] as readonly string[]).includes(status) || (one === 'UNDER_REVIEW' && status === 'UNDER_REVIEW'),
      )
      expect([status, [...decisionsIn(status)].sort()]).toEqual([status, allowed.sort()])
    }
  })

  test('is decided with figures that are amounts, and invalid ones are named', () => {
    const figures = { cohort: 'US_COMPANY', revenue: '33000.5', collateral: '0', risk: 'LOW', flags: ['sanctions'] } as const
    expect(parseAssessment(figures)).toEqual({
      body: {
        cohort: 'US_COMPANY',
        monthlyAvgRevenueUsd: 33_000.5,
        verifiedCollateralUsd: 0,
        operationalRisk: 'LOW',
        hardComplianceFlags: ['sanctions'],
      },
    })
    expect(parseAssessment({ ...figures, revenue: '', collateral: 'much' })).toEqual({ wrongFields: ['revenue', 'collateral'] })
  })

  test('names the documents without a file, whatever the form of the merchant’s list', () => {
    const listed = { items: [{ key: 'a', status: 'UPLOADED' }, { key: 'b', status: 'LATER' }, { key: 'c' }, null, 'd', { key: 5 }] }
    expect(withoutFile(listed, ['a'])).toEqual([
      { key: 'b', status: 'LATER' },
      { key: 'c', status: '' },
    ])
    for (const other of [null, {}, { items: {} }, { items: 'a' }]) expect(withoutFile(other, [])).toEqual([])
  })
})

describe('a repayment', () => {
  const typed = { ...blankRepayment, loanRef: ' HL-1 ', amount: '100.10', due: '2026-01-31', settled: '2026-02-01' }
  const of = { merchantId: 'mer_1', lenderId: 'lend_1' }

  test('is sent with days that begin in UTC', () => {
    expect(bodyOf(typed, of)).toEqual({
      body: {
        ...of,
        loanRef: 'HL-1',
        outcome: 'ON_TIME',
        amountUsd: 100.1,
        dueAt: '2026-01-31T00:00:00.000Z',
        settledAt: '2026-02-01T00:00:00.000Z',
      },
    })
  })

  test('without a settlement date is a default', () => {
    expect(bodyOf({ ...typed, settled: '' }, of)).toEqual({ errors: { settled: 'required' } })
    expect(bodyOf({ ...typed, settled: '', outcome: 'DEFAULT' }, of)).toMatchObject({ body: { settledAt: null } })
  })

  test('names missing fields', () => {
    expect(bodyOf({ ...blankRepayment, amount: '0' }, {})).toEqual({
      errors: { merchant: 'required', lender: 'required', loanRef: 'required', amount: 'amount', due: 'required', settled: 'required' },
    })
  })
})

describe('the audit trail', () => {
  test('shows old and new values by field', () => {
    expect(
      differencesOf({
        before: { status: 'PENDING', owners: [1], left: true },
        after: { status: 'APPROVED', owners: [1, 2], left: null, made: 0 },
      }),
    ).toEqual([
      { name: 'status', before: 'PENDING', after: 'APPROVED' },
      { name: 'owners', before: '[1]', after: '[1,2]' },
      { name: 'left', before: 'true', after: undefined },
      { name: 'made', before: undefined, after: '0' },
    ])
    expect(differencesOf({ before: null, after: null })).toEqual([])
  })

  test('links to a page if operators have one', () => {
    expect([pageOf('loan_1'), pageOf('shop_9')]).toEqual(['/net/lending/loan_1', '/net/shops/shop_9'])
    // Subjects without a page, and names of properties that every object has.
    for (const subject of ['order_1', 'ses_1', 'constructor_1', '../x']) expect([subject, pageOf(subject)]).toEqual([subject, undefined])
  })
})

test('a decision counts as the user’s own if the last event is the same decision by this user', () => {
  const filed = { type: 'FILED', at: '2026-01-05T10:00:00Z', actor: 'mer_1', reason: null } as const
  const by = (actor: string, type: 'APPROVED' | 'REJECTED', reason: string | null) => ({
    events: [filed, { type, at: '2026-01-05T11:00:00Z', actor, reason }],
  })
  const ownDecision = { actor: 'usr_1', decision: 'APPROVED', reason: null } as const
  expect(isOwnDecision(by('usr_1', 'APPROVED', null), ownDecision)).toBe(true)
  for (const other of [
    by('usr_2', 'APPROVED', null),
    by('usr_1', 'REJECTED', null),
    by('usr_1', 'APPROVED', 'Before'),
    { events: [filed] },
  ])
    expect(isOwnDecision(other, ownDecision)).toBe(false)
  expect(isOwnDecision({ events: [] }, { ...ownDecision, actor: undefined })).toBe(false)
})

test('the share that owners leave of a business is exact', () => {
  expect([remainingShare([33.3333, 33.3333, 33.3333]), remainingShare([60, 40]), remainingShare([0.0001]), remainingShare([])]).toEqual([
    0.0001, 0, 99.9999, 100,
  ])
})
