import { expect, test } from 'bun:test'
import { AppError } from '../../../../src/core/errors.ts'
import { isOpen, resolveStatus, type ShopStatus, shopStatuses, shopTransitions } from '../../../../src/modules/shop/shop/domain.ts'

const outcome = (status: ShopStatus, requested: ShopStatus, isApproved: boolean): ShopStatus | 409 => {
  try {
    return resolveStatus({ status }, requested, { isApproved })
  } catch (error) {
    expect(error).toBeInstanceOf(AppError)
    expect((error as AppError).kind).toBe('CONFLICT')
    return 409
  }
}

test('a shop has exactly the defined status changes, and only a suspended shop is closed', () => {
  const allowed = shopStatuses.flatMap((from) => shopTransitions[from].map((to) => `${from} → ${to}`))
  expect(allowed.sort()).toEqual(
    ['ACTIVE → KYB_VERIFIED', 'ACTIVE → SUSPENDED', 'KYB_VERIFIED → SUSPENDED', 'SUSPENDED → ACTIVE', 'SUSPENDED → KYB_VERIFIED'].sort(),
  )
  expect(shopStatuses.filter((status) => !isOpen({ status }))).toEqual(['SUSPENDED'])
})

test('an operator can only keep, suspend or restore a shop, and a restored shop gets the status of its KYB record', () => {
  const cases = (isApproved: boolean) =>
    Object.fromEntries(
      shopStatuses.map((status) => [
        status,
        Object.fromEntries(shopStatuses.map((requested) => [requested, outcome(status, requested, isApproved)])),
      ]),
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
