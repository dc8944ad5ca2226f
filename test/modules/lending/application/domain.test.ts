import { expect, test } from 'bun:test'
import { AppError } from '../../../../src/core/errors.ts'
import { assertReachable } from '../../../../src/lib/transitions.ts'
import {
  type ApplicationChange,
  allowedIn,
  changesTo,
  type LendingApplication,
  lendingStatuses,
  lendingTransitions,
  requestedCents,
  tierOf,
} from '../../../../src/modules/lending/application/domain.ts'
import { kybCohorts } from '../../../../src/modules/shop/kyb/domain.ts'

test('an application changes only by the transitions of the contract, and final states stay', () => {
  const allowed = lendingStatuses.flatMap((from) => lendingTransitions[from].map((to) => `${from} → ${to}`))
  expect(allowed.sort()).toEqual(
    [
      ...['DRAFT → SUBMITTED', 'DRAFT → WITHDRAWN'],
      ...['SUBMITTED → UNDER_REVIEW', 'SUBMITTED → APPROVED', 'SUBMITTED → REJECTED', 'SUBMITTED → WITHDRAWN'],
      ...['UNDER_REVIEW → APPROVED', 'UNDER_REVIEW → REJECTED', 'UNDER_REVIEW → WITHDRAWN'],
    ].sort(),
  )
  expect(Object.fromEntries(Object.entries(allowedIn).map(([what, states]) => [what, states.join()]))).toEqual({
    update: 'DRAFT',
    submit: 'DRAFT',
    withdraw: 'DRAFT,SUBMITTED,UNDER_REVIEW',
    APPROVED: 'SUBMITTED,UNDER_REVIEW',
    REJECTED: 'SUBMITTED,UNDER_REVIEW',
    UNDER_REVIEW: 'SUBMITTED',
    upload: 'DRAFT,SUBMITTED,UNDER_REVIEW',
    removeDocument: 'DRAFT',
  })
})

test('a table with an unreachable state is refused at the start', () => {
  expect(() => assertReachable('DRAFT', { ...lendingTransitions, SUBMITTED: ['WITHDRAWN'] })).toThrow(
    'unreachable states: UNDER_REVIEW, APPROVED, REJECTED',
  )
})

test('cohorts of the Gulf, Mongolia and the US have Tier 1 partners, the others Tier 2', () => {
  const referred = kybCohorts.filter((cohort) => tierOf(cohort) === 'TIER_1_REFERRAL')
  expect(referred).toEqual(kybCohorts.slice(0, 8))
  expect(kybCohorts.slice(8).map(tierOf)).toEqual(Array(4).fill('TIER_2_PARTNER'))
})

test('an amount with a fraction of a cent is refused, not rounded', () => {
  expect(requestedCents(1_000.01)).toBe(100_001)
  expect(() => requestedCents(1_000.001)).toThrow(new AppError('INVALID', 'requestedAmountUsd: must have at most two decimals'))
})

test('a change ignores fields that already have the value', () => {
  const before = { requestedAmountUsd: 100_000, purposeCode: null, documentationCompleted: { items: [] } } as unknown as LendingApplication
  expect(changesTo(before, { requestedAmountUsd: 100_000, purposeCode: null, documentationCompleted: { items: [] } })).toEqual({})
  const change: Partial<ApplicationChange> = {
    requestedAmountUsd: null,
    purposeCode: 'EXPANSION',
    documentationCompleted: { items: [], more: 1 },
  }
  expect<object>(changesTo(before, change)).toEqual(change)
})
