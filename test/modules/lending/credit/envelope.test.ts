/** Tests the envelope of a merchant's figures: exact at every threshold, and monotone. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { sha256 } from '../../../../src/lib/seal.ts'
import {
  type Assessment,
  currentRules,
  type LendingRules,
  operationalRisks,
  rulesText,
  ruleVersion,
  rungs,
  versionOfRules,
} from '../../../../src/modules/lending/credit/domain.ts'
import { computeEnvelope } from '../../../../src/modules/lending/credit/envelope.ts'
import { parseRules } from '../../../../src/modules/lending/credit/rules-file.ts'
import { kybCohorts } from '../../../../src/modules/shop/kyb/domain.ts'

const figures = (change: Partial<Assessment> = {}): Assessment => ({
  cohort: 'US_COMPANY',
  monthlyAvgRevenueUsd: 0,
  verifiedCollateralUsd: 0,
  operationalRisk: 'LOW',
  ...change,
})
/** Computes the envelope as a list of tier, ceiling and reason. */
const envelope = (change: Partial<Assessment>): (string | number)[] => Object.values(computeEnvelope(figures(change)))
const revenue = (monthlyAvgRevenueUsd: number, change: Partial<Assessment> = {}) => envelope({ monthlyAvgRevenueUsd, ...change })

test('a hard flag gives the tier T0 whatever the figures, and is reported first', () => {
  const rich = { monthlyAvgRevenueUsd: 1e12, verifiedCollateralUsd: 1e12 }
  expect(envelope({ ...rich, hardComplianceFlags: ['SANCTIONS_MATCH'] })).toEqual(['T0', 0, 'HARD_COMPLIANCE_FLAG'])
  expect(envelope({ hardComplianceFlags: [''] })).toEqual(['T0', 0, 'HARD_COMPLIANCE_FLAG'])
  expect(envelope({ ...rich, hardComplianceFlags: [] })).toEqual(['T3', 10_000_000, 'COHORT_CAP'])
  expect(envelope({ ...rich, hardComplianceFlags: null })).toEqual(['T3', 10_000_000, 'COHORT_CAP'])
})

describe('thresholds, one cent under, at and over', () => {
  test('below both minimums of a cohort the tier is T0, and at either one T1', () => {
    const none = ['T0', 0, 'BELOW_COHORT_FLOOR']
    for (const cohort of kybCohorts) {
      const { minRevenueUsd: r, minCollateralUsd: c } = currentRules.cohorts[cohort]
      const tier = (monthlyAvgRevenueUsd: number, verifiedCollateralUsd: number) =>
        envelope({ cohort, monthlyAvgRevenueUsd, verifiedCollateralUsd })
      expect(tier(r - 0.01, c - 0.01)).toEqual(none)
      expect(tier(0, 0)).toEqual(none)
      for (const [one, other] of [
        [r, c - 0.01],
        [r + 0.01, c - 0.01],
        [r - 0.01, c],
        [r - 0.01, c + 0.01],
        [r, 0],
        [0, c],
      ] as const)
        expect([cohort, one, other, tier(one, other)[0]]).toEqual([cohort, one, other, 'T1'])
    }
  })

  test('T2 begins at four times the revenue, T3 at ten times with twice the collateral, for each cohort', () => {
    for (const cohort of kybCohorts) {
      const { minRevenueUsd: r, minCollateralUsd: c } = currentRules.cohorts[cohort]
      const tier = (monthlyAvgRevenueUsd: number, verifiedCollateralUsd: number) =>
        envelope({ cohort, monthlyAvgRevenueUsd, verifiedCollateralUsd })[0]
      expect([4 * r - 0.01, 4 * r, 4 * r + 0.01].map((of) => tier(of, 0))).toEqual(['T1', 'T2', 'T2'])
      expect([10 * r - 0.01, 10 * r, 10 * r + 0.01].map((of) => tier(of, 2 * c))).toEqual(['T2', 'T3', 'T3'])
      expect([2 * c - 0.01, 2 * c, 2 * c + 0.01].map((of) => tier(10 * r, of))).toEqual(['T2', 'T3', 'T3'])
      expect(tier(1e12, 2 * c - 0.01)).toBe('T2')
    }
  })

  test('low, medium and high risk allow at most T3, T2 and T1', () => {
    const tiers = operationalRisks.map(
      (operationalRisk) => envelope({ operationalRisk, monthlyAvgRevenueUsd: 1e6, verifiedCollateralUsd: 1e6 })[0],
    )
    expect(tiers).toEqual(['T3', 'T2', 'T1'])
  })

  test('the formula adds revenue and collateral weighted by tier and risk, rounded down to a hundred dollars', () => {
    // T1: 10,000 × 1 × 1 + 20,000 × .65
    expect(revenue(10_000, { verifiedCollateralUsd: 20_000 })).toEqual(['T1', 23_000, 'FORMULA'])
    // T1, high: 10,000 × 1 × .5 + 20,000 × .25
    expect(revenue(10_000, { verifiedCollateralUsd: 20_000, operationalRisk: 'HIGH' })).toEqual(['T1', 10_000, 'FORMULA'])
    // T2, medium: 40,000 × 1.5 × .75 + 100,000 × .5
    expect(revenue(40_000, { verifiedCollateralUsd: 100_000, operationalRisk: 'MEDIUM' })).toEqual(['T2', 95_000, 'FORMULA'])
    // T3: 100,000 × 2.5 + 40,000 × .65
    expect(revenue(100_000, { verifiedCollateralUsd: 40_000 })).toEqual(['T3', 276_000, 'FORMULA'])
    expect([10_099.99, 10_100, 10_100.01].map((of) => revenue(of)[1])).toEqual([10_000, 10_100, 10_100])
    // From collateral alone: .65 × 20,153.85 is 13,100.0025, .65 × 20,153.84 is 13,099.996.
    expect([20_153.84, 20_153.85].map((of) => envelope({ verifiedCollateralUsd: of })[1])).toEqual([13_000, 13_100])
    // Floating point gets this product wrong: 1.1 × 1.5 and similar.
    expect(revenue(66_600, { operationalRisk: 'MEDIUM' })[1]).toBe(74_900)
  })

  test('the cap of a tier applies from where the formula reaches it', () => {
    // At high risk the tier is T1 and the factor is half of the revenue.
    const high = (of: number) => revenue(of, { operationalRisk: 'HIGH' })
    expect(high(99_999.99)).toEqual(['T1', 49_900, 'FORMULA'])
    expect(high(100_000)).toEqual(['T1', 50_000, 'TIER_CAP'])
    expect(high(100_000.01)).toEqual(['T1', 50_000, 'TIER_CAP'])
    // T2 at medium risk: the factor is 1.125.
    const medium = (of: number) => revenue(of, { operationalRisk: 'MEDIUM' })
    expect(medium(444_444.44)).toEqual(['T2', 499_900, 'FORMULA'])
    expect(medium(444_444.45)).toEqual(['T2', 500_000, 'TIER_CAP'])
    expect(medium(1e12)).toEqual(['T2', 500_000, 'TIER_CAP'])
  })

  test('the cap of a cohort applies if it is at most the tier’s', () => {
    for (const cohort of kybCohorts) {
      const { capUsd, minCollateralUsd } = currentRules.cohorts[cohort]
      const verifiedCollateralUsd = 2 * minCollateralUsd
      const rest = (verifiedCollateralUsd * 65) / 100
      // The formula of T3 at low risk is 2.5 times the revenue plus .65 of the collateral.
      const at = (capUsd - rest) / 2.5
      const of = (monthlyAvgRevenueUsd: number) => envelope({ cohort, monthlyAvgRevenueUsd, verifiedCollateralUsd })
      expect(of(Number((at - 0.01).toFixed(2)))).toEqual(['T3', capUsd - 100, 'FORMULA'])
      expect(of(at)).toEqual(['T3', capUsd, 'COHORT_CAP'])
      expect(of(at + 0.01)).toEqual(['T3', capUsd, 'COHORT_CAP'])
    }
    // The only cohort whose cap is below that of T2.
    expect(envelope({ cohort: 'MN_SOLE', monthlyAvgRevenueUsd: 1e9, operationalRisk: 'MEDIUM' })).toEqual(['T2', 250_000, 'COHORT_CAP'])
    expect(envelope({ cohort: 'MN_SOLE', monthlyAvgRevenueUsd: 1e9, operationalRisk: 'HIGH' })).toEqual(['T1', 50_000, 'TIER_CAP'])
  })
})

test('a figure that is not a whole number of cents, or not below ten trillion dollars, is refused by field', () => {
  for (const name of ['monthlyAvgRevenueUsd', 'verifiedCollateralUsd'] as const) {
    for (const value of [0.001, 10_000.005, 1e13, -0.01, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => computeEnvelope(figures({ [name]: value, hardComplianceFlags: ['ANY'] }))).toThrow(name)
    expect(computeEnvelope(figures({ [name]: 9_999_999_999_999.99 }))).toMatchObject({ reason: expect.stringMatching('CAP') })
  }
})

const amount = fc.oneof(
  fc.integer({ min: 0, max: 10 ** 15 - 1 }),
  fc.integer({ min: 0, max: 100_000_000 }),
  // Amounts around the minimums of the cohorts.
  fc.integer({ min: 0, max: 40 }).chain((times) => fc.integer({ min: -1, max: 1 }).map((cent) => Math.max(0, times * 500_000 + cent))),
)
const assessment = fc.record({
  cohort: fc.constantFrom(...kybCohorts),
  monthlyAvgRevenueUsd: amount.map((cents) => cents / 100),
  verifiedCollateralUsd: amount.map((cents) => cents / 100),
  operationalRisk: fc.constantFrom(...operationalRisks),
})
/** Generates rules with arbitrary figures. */
const anyRules = fc
  .record({
    factors: fc.array(fc.integer({ min: 0, max: 40_000 }), { minLength: 9, maxLength: 9 }),
    times: fc.array(fc.integer({ min: 0, max: 200_000 }), { minLength: 4, maxLength: 4 }),
    caps: fc.array(fc.integer({ min: 0, max: 10 ** 9 }), { minLength: 3, maxLength: 3 }),
    highest: fc.array(fc.constantFrom(...rungs), { minLength: 3, maxLength: 3 }),
    even: fc.boolean(),
  })
  .map(({ factors, times, caps, highest: highestTiers, even: isSorted }): LendingRules => {
    const sortIfEven = <T>(values: T[], order: (a: T, b: T) => number) => (isSorted ? values.toSorted(order) : values)
    const [months, revenueFactors, rates] = [factors.slice(0, 3), factors.slice(3, 6), factors.slice(6)].map((some) =>
      sortIfEven(some, (a, b) => a - b),
    )
    const risksDown = [
      sortIfEven(highestTiers, (a, b) => rungs.indexOf(b) - rungs.indexOf(a)),
      revenueFactors?.toReversed(),
      rates?.toReversed(),
    ] as const
    const tiers = rungs.map((rung, nth) => [
      rung,
      {
        minRevenueTimes: nth === 0 ? 0 : (times[nth - 1] ?? 0) / 10_000,
        minCollateralTimes: nth === 0 ? 0 : (times[nth + 1] ?? 0) / 10_000,
        revenueMonths: (months?.[nth] ?? 0) / 10_000,
        capUsd: sortIfEven(caps, (a, b) => a - b)[nth] ?? 0,
      },
    ])
    const risks = operationalRisks.map((risk, nth) => [
      risk,
      {
        highestTier: risksDown[0][nth] ?? 'T1',
        revenueFactor: (risksDown[1]?.[nth] ?? 0) / 10_000,
        collateralRate: (risksDown[2]?.[nth] ?? 0) / 10_000,
      },
    ])
    return { ...currentRules, tiers: Object.fromEntries(tiers), risks: Object.fromEntries(risks) }
  })
const isAtLeast = (more: Assessment, less: Assessment, rules: LendingRules) =>
  computeEnvelope(more, rules).ceilingUsd >= computeEnvelope(less, rules).ceilingUsd &&
  computeEnvelope(more, rules).tier >= computeEnvelope(less, rules).tier

function expectMonotone(one: Assessment, other: Assessment, rules: LendingRules) {
  for (const name of ['monthlyAvgRevenueUsd', 'verifiedCollateralUsd'] as const) {
    const [less, more] = [Math.min(one[name], other[name]), Math.max(one[name], other[name])]
    expect(isAtLeast({ ...one, [name]: more }, { ...one, [name]: less }, rules)).toBe(true)
  }
  const risks = operationalRisks.map((operationalRisk) => ({ ...one, operationalRisk }))
  for (const [nth, risk] of risks.slice(1).entries()) expect(isAtLeast(risks[nth] as Assessment, risk, rules)).toBe(true)
}

test('more revenue or collateral never lowers the envelope, more risk never raises it, and it stays within both caps in whole hundreds', () => {
  fc.assert(
    fc.property(assessment, assessment, (one, other) => {
      expectMonotone(one, other, currentRules)
      const { tier, ceilingUsd } = computeEnvelope(one)
      expect(ceilingUsd % 100).toBe(0)
      expect(ceilingUsd).toBeLessThanOrEqual(currentRules.cohorts[one.cohort].capUsd)
      if (tier !== 'T0') expect(ceilingUsd).toBeLessThanOrEqual(currentRules.tiers[tier].capUsd)
      else expect(ceilingUsd).toBe(0)
    }),
  )
})

test('valid rules of a file are monotone as well, and other rules are refused', () => {
  fc.assert(
    fc.property(anyRules, assessment, assessment, (rules, one, other) => {
      if ('rules' in parseRules(JSON.stringify(rules))) expectMonotone(one, other, rules)
    }),
  )
})

describe('the version of the rules', () => {
  test('any change of the table changes the version', () => {
    const changes: ((rules: Record<string, never>) => void)[] = [
      (rules: Record<string, never>) => Object.assign(rules['risks']?.['LOW'] ?? {}, { collateralRate: 0.6501 }),
      (rules: Record<string, never>) => Object.assign(rules['cohorts']?.['MN_SOLE'] ?? {}, { capUsd: 250_001 }),
      (rules: Record<string, never>) => Object.assign(rules['ladder']?.['T2'] ?? {}, { guidanceNeeded: 'More.' }),
    ]
    const versions = changes.map((change) => {
      const rules = JSON.parse(rulesText(currentRules))
      change(rules)
      return versionOfRules(rulesText(rules))
    })
    expect(new Set([ruleVersion, ...versions]).size).toBe(4)
    expect(versionOfRules(rulesText(JSON.parse(rulesText(currentRules))))).toBe(ruleVersion)
  })

  test('the envelope of the same figures changes only with the method', () => {
    const rules: LendingRules = { ...currentRules, ladder: {} as LendingRules['ladder'] }
    const answers = kybCohorts.flatMap((cohort) =>
      operationalRisks.flatMap((operationalRisk) =>
        [0, 999.99, 3_000, 12_345.67, 40_000, 100_000, 444_444.45, 6_000_000].flatMap((monthlyAvgRevenueUsd) =>
          [0, 1_999.99, 20_000, 40_000, 61_234.5, 30_000_000].map((verifiedCollateralUsd) =>
            JSON.stringify(computeEnvelope({ cohort, operationalRisk, monthlyAvgRevenueUsd, verifiedCollateralUsd }, rules)),
          ),
        ),
      ),
    )
    // The digest of these figures by method 1. If figures in the table change, both digests change: then update both
    // here.
    expect([sha256(JSON.stringify(rules)).slice(0, 16), sha256(answers.join('\n')).slice(0, 16)]).toEqual([
      '4372bd8107101e75',
      'd0a7a6938c92d0ce',
    ])
  })
})

describe('a file of rules', () => {
  const problemsOf = (change: (rules: Record<string, Record<string, Record<string, unknown>>>) => void) => {
    const rules = JSON.parse(rulesText(currentRules))
    change(rules)
    const read = parseRules(JSON.stringify(rules))
    return 'problems' in read ? read.problems : []
  }

  test('the current rules are valid in any order of fields, with the same version', () => {
    const { method, ...rest } = currentRules
    const read = parseRules(JSON.stringify({ ...rest, method }, null, 2))
    expect('rules' in read && versionOfRules(rulesText(read.rules))).toBe(ruleVersion)
  })

  test('unknown, missing and out-of-range fields are all named at once', () => {
    expect(parseRules('{')).toEqual({ problems: ['not valid JSON'] })
    const printed = JSON.stringify(currentRules)
    expect(parseRules(`\ufeff${printed}`)).toEqual(parseRules(printed))
    const { method } = currentRules
    expect(parseRules(printed.replace(`"method":${JSON.stringify(method)}`, `$&,$&`))).toEqual({ problems: ['method: given twice'] })
    const factor = `"revenueFactor":${currentRules.risks.LOW.revenueFactor}`
    expect(printed).toContain(factor)
    expect(parseRules(printed.replace(factor, `"revenueFactor":${currentRules.risks.LOW.revenueFactor}.00000000000000000001`))).toEqual({
      problems: ['risks.LOW.revenueFactor: has too many digits to be exact'],
    })
    expect(parseRules('[]')).toEqual({ problems: ['the file: must be an object'] })
    expect(
      problemsOf((rules) => {
        Object.assign(rules['cohorts']?.['MN_LLC'] ?? {}, { capusd: 1, capUsd: undefined, minRevenueUsd: 10.001, minCollateralUsd: -1 })
        Object.assign(rules['risks']?.['LOW'] ?? {}, { revenueFactor: 0.12345, highestTier: 'T4' })
        Object.assign(rules['ladder']?.['T3'] ?? {}, { onTimeSettlements: 1.5, guidanceNeeded: ' ', defaultsOfMonths: 6 })
        Object.assign(rules, { method: 2, extra: {} })
      }),
    ).toEqual([
      'unknown field: extra',
      'method: must be 1, the only method of this version',
      'unknown field: cohorts.MN_LLC.capusd',
      'cohorts.MN_LLC.minRevenueUsd: must be a number from 0, below 10,000,000,000, with at most 2 decimals',
      'cohorts.MN_LLC.minCollateralUsd: must be a number from 0, below 10,000,000,000, with at most 2 decimals',
      'cohorts.MN_LLC.capUsd: is missing',
      'risks.LOW.highestTier: must be one of T1, T2, T3',
      'risks.LOW.revenueFactor: must be a number from 0, below 10,000,000,000, with at most 4 decimals',
      'ladder.T3.onTimeSettlements: must be a whole number from 0',
      'ladder.T3.defaultsOfMonths: must be 12: defaults are counted for this period only',
      'ladder.T3.guidanceNeeded: must be a text',
    ])
  })

  test('rules that lend less for more revenue, or more for more risk, are refused', () => {
    const changes: [path: [string, string], change: object, problem: string][] = [
      [['tiers', 'T2'], { revenueMonths: 0.5 }, 'tiers.T1..T3.revenueMonths: must not fall from one to the next'],
      [['tiers', 'T3'], { capUsd: 499_999 }, 'tiers.T1..T3.capUsd: must not fall from one to the next'],
      [['risks', 'HIGH'], { revenueFactor: 0.76 }, 'risks.LOW..HIGH.revenueFactor: must not rise from one to the next'],
      [['risks', 'MEDIUM'], { collateralRate: 0.66 }, 'risks.LOW..HIGH.collateralRate: must not rise from one to the next'],
      [['risks', 'LOW'], { highestTier: 'T1' }, 'risks.LOW..HIGH.highestTier: must not rise from one to the next'],
      [
        ['tiers', 'T1'],
        { minRevenueTimes: 1 },
        'tiers.T1.minRevenueTimes: must be 0, since T1 is for all who are over the minimum of their cohort',
      ],
    ]
    for (const [[table, row], change, problem] of changes)
      expect(problemsOf((rules) => Object.assign(rules[table]?.[row] ?? {}, change))).toEqual([problem])
    expect(problemsOf((rules) => Object.assign(rules, { roundDownToUsd: 0 }))).toEqual(['roundDownToUsd: must be more than 0'])
  })
})
