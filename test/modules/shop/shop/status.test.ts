import { expect, test } from 'bun:test'
import { AppError } from '../../../../src/core/errors.ts'
import { isOpen, resolveStatus, type ShopStatus, shopStatuses, shopTransitions } from '../../../../src/modules/shop/shop/domain.ts'

const outcome = (status: ShopStatus, asked: ShopStatus, isApproved: boolean): ShopStatus | 409 => {
  try {
    return resolveStatus({ status }, asked, { isApproved })
  } catch (error) {
    expect(error).toBeInstanceOf(AppError)
    expect((error as AppError).kind).toBe('CONFLICT')
    return 409
  }
}

test('a shop changes as the contract says, and in no other way', () => {
  const allowed = shopStatuses.flatMap((from) => shopTransitions[from].map((to) => `${from} → ${to}`))
  expect(allowed.sort()).toEqual(
    ['ACTIVE → KYB_VERIFIED', 'ACTIVE → SUSPENDED', 'KYB_VERIFIED → SUSPENDED', 'SUSPENDED → ACTIVE', 'SUSPENDED → KYB_VERIFIED'].sort(),
  )
  expect(shopStatuses.filter((status) => !isOpen({ status }))).toEqual(['SUSPENDED'])
})

test('whatever an operator asks for, a shop stays, is suspended, or is restored to what KYB says: every case', () => {
  const cases = (isApproved: boolean) =>
    Object.fromEntries(
      shopStatuses.map((status) => [status, Object.fromEntries(shopStatuses.map((asked) => [asked, outcome(status, asked, isApproved)]))]),
    )
  expect(cases(false)).toEqual({
    ACTIVE: { ACTIVE: 'ACTIVE', KYB_VERIFIED: 409, SUSPENDED: 'SUSPENDED' },
    KYB_VERIFIED: { ACTIVE: 409, KYB_VERIFIED: 'KYB_VERIFIED', SUSPENDED: 'SUSPENDED' },
    SUSPENDED: { ACTIVE: 'ACTIVE', KYB_VERIFIED: 409, SUSPENDED: 'SUSPENDED' },
  })
  expect(cases(true)).toEqual({
    ...cases(false),
    SUSPENDED: { ACTIVE: 'KYB_VERIFIED', KYB_VERIFIED: 'KYB_VERIFIED', SUSPENDED: 'SUSPENDED' },
  })
})
