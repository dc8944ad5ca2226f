import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { AppError } from '../../../../src/core/errors.ts'
import { cohortRegions, kybCohorts, kybStatuses, kybTransitions, parseOwners } from '../../../../src/modules/shop/kyb/domain.ts'

test('a record changes as the contract says, and in no other way: a rejected one stays rejected', () => {
  const allowed = kybStatuses.flatMap((from) => kybTransitions[from].map((to) => `${from} → ${to}`))
  expect(allowed).toEqual(['PENDING → APPROVED', 'PENDING → REJECTED'])
})

test('there are twelve cohorts, of which the first eight have a region', () => {
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
  const of = (...shares: number[]) => parseOwners(shares.map((share) => ({ name: 'A', share }))).map(({ share }) => share)

  test('shares of owners add up exactly, where floating point would not: three thirds and a rest are the whole, and a hair more is refused', () => {
    expect(of(33.3333, 33.3333, 33.3334)).toEqual([333_333, 333_333, 333_334])
    expect(of(0.1, 0.2, 99.7)).toEqual([1_000, 2_000, 997_000])
    expect(of(...Array.from({ length: 10 }, () => 0.1))).toEqual(Array.from({ length: 10 }, () => 1_000))
    for (const shares of [
      [100, 0.0001],
      [33.3334, 33.3334, 33.3333],
      [50, 50, 50],
    ])
      expect(() => of(...shares)).toThrow(new AppError('INVALID', 'owners: must have shares that add up to at most 100'))
  })

  test('shares of owners that do not make up the whole are taken', () => {
    expect(of(0.0001)).toEqual([1])
    expect(of(25, 25)).toEqual([250_000, 250_000])
  })

  test('shares of owners of more than four decimals are refused, not rounded', () => {
    for (const share of [33.33333, 0.00001, 99.999999999, 1e-7, 50.00000000000001])
      expect(() => of(1, share)).toThrow(new AppError('INVALID', 'owners.1.share: must have at most 4 decimals'))
  })

  test('shares of owners of four decimals come back as they were sent, whichever they are', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), (units) => {
        const sent = Number(`${Math.floor(units / 10_000)}.${String(units % 10_000).padStart(4, '0')}`)
        const [kept = 0] = of(sent)
        expect([kept, kept / 10_000]).toEqual([units, sent])
      }),
    )
  })
})
