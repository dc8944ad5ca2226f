import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { AppError } from '../../../../src/core/errors.ts'
import { cohortRegions, kybCohorts, kybStatuses, kybTransitions, parseOwners } from '../../../../src/modules/shop/kyb/domain.ts'

test('a KYB record changes only from PENDING to APPROVED or REJECTED', () => {
  const allowed = kybStatuses.flatMap((from) => kybTransitions[from].map((to) => `${from} → ${to}`))
  expect(allowed).toEqual(['PENDING → APPROVED', 'PENDING → REJECTED'])
})

test('there are twelve cohorts, and the first eight have a region', () => {
  expect(kybCohorts).toHaveLength(12)
  expect(Map.groupBy(kybCohorts, (cohort) => cohortRegions[cohort])).toEqual(
    new Map([
      ['GULF', ['UAE_MAINLAND', 'UAE_FREEZONE', 'KSA_COMPANY', 'KUWAIT_WLL']],
      ['MONGOLIA', ['MN_LLC', 'MN_SOLE']],
      ['US', ['US_COMPANY', 'US_SOLE_PROP']],
      [null, ['UK_LTD', 'EU_COMPANY', 'SG_PTE', 'INTL_OTHER']],
    ]),
  )
})

describe('shares of owners', () => {
  const parsedShares = (...shares: number[]) => parseOwners(shares.map((share) => ({ name: 'A', share }))).map(({ share }) => share)

  test('shares of owners are added exactly without floating point, and a sum above 100 by any amount is refused', () => {
    expect(parsedShares(33.3333, 33.3333, 33.3334)).toEqual([333_333, 333_333, 333_334])
    expect(parsedShares(0.1, 0.2, 99.7)).toEqual([1_000, 2_000, 997_000])
    expect(parsedShares(...Array.from({ length: 10 }, () => 0.1))).toEqual(Array.from({ length: 10 }, () => 1_000))
    for (const shares of [
      [100, 0.0001],
      [33.3334, 33.3334, 33.3333],
      [50, 50, 50],
    ])
      expect(() => parsedShares(...shares)).toThrow(new AppError('INVALID', 'owners: must have shares that add up to at most 100'))
  })

  test('shares of owners may add up to less than 100', () => {
    expect(parsedShares(0.0001)).toEqual([1])
    expect(parsedShares(25, 25)).toEqual([250_000, 250_000])
  })

  test('shares of owners with more than four decimals are refused, not rounded', () => {
    for (const share of [33.33333, 0.00001, 99.999999999, 1e-7, 50.00000000000001])
      expect(() => parsedShares(1, share)).toThrow(new AppError('INVALID', 'owners.1.share: must have at most 4 decimals'))
  })

  test('shares of owners with up to four decimals are stored and returned exactly', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), (units) => {
        const sent = Number(`${Math.floor(units / 10_000)}.${String(units % 10_000).padStart(4, '0')}`)
        const [stored = 0] = parsedShares(sent)
        expect([stored, stored / 10_000]).toEqual([units, sent])
      }),
    )
  })
})
