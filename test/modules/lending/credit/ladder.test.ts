/** Tests the tier that a merchant earned by repayments. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { creditTiers, rungs, type Signals } from '../../../../src/modules/lending/credit/domain.ts'
import { effectiveTierOf, ladderPositionOf, windowStart } from '../../../../src/modules/lending/credit/ladder.ts'

const signals = (totalSettledOnTime: number, totalDefaults = 0, trailingTwelveMonthDefaults = 0): Signals => ({
  totalSettledOnTime,
  totalLate: 7,
  totalDefaults,
  trailingTwelveMonthDefaults,
  lenderCount: 1,
  mostRecentSettlementAt: 0,
})
/** Summarises the ladder position: the tier, and the target, needed settlements and blocking defaults of each gap. */
const summaryOf = (of: Signals) => {
  const { observedTier, nextTierGap, topTierGap } = ladderPositionOf(of)
  return [
    observedTier,
    ...[nextTierGap, topTierGap].map((gap) => gap && [gap.targetTier, gap.onTimeSettlementsNeeded, gap.blockingDefaultCount].join(' ')),
  ]
}

test('without a default the tiers begin at three and at ten on-time settlements', () => {
  expect(summaryOf(signals(0))).toEqual(['T1', 'T2 3 0', 'T3 10 0'])
  expect(summaryOf(signals(2))).toEqual(['T1', 'T2 1 0', 'T3 8 0'])
  expect(summaryOf(signals(3))).toEqual(['T2', 'T3 7 0', 'T3 7 0'])
  expect(summaryOf(signals(9))).toEqual(['T2', 'T3 1 0', 'T3 1 0'])
  expect(summaryOf(signals(10))).toEqual(['T3', null, null])
  expect(summaryOf(signals(100_000))).toEqual(['T3', null, null])
})

test('each tier has its own rule: any default closes T2 permanently, and one within twelve months closes T3', () => {
  // Ten on time and one default two years ago.
  expect(summaryOf(signals(10, 1, 0))).toEqual(['T3', null, null])
  expect(summaryOf(signals(9, 1, 0))).toEqual(['T1', 'T2 0 1', 'T3 1 0'])
  expect(summaryOf(signals(10, 1, 1))).toEqual(['T1', 'T2 0 1', 'T3 0 1'])
  expect(summaryOf(signals(2, 4, 1))).toEqual(['T1', 'T2 1 4', 'T3 8 1'])
})

test('the guidance names what is needed and what prevents a tier, and that a permanently closed tier stays closed', () => {
  const guidance = (of: Signals) => [ladderPositionOf(of).nextTierGap?.guidance, ladderPositionOf(of).topTierGap?.guidance]
  expect(guidance(signals(1))).toEqual(['On-time settlements still needed for T2: 2.', 'On-time settlements still needed for T3: 9.'])
  expect(guidance(signals(9, 2, 1))).toEqual([
    'Defaults on record: 2. T2 is for merchants who never had one, so it stays closed; T3 is not, it looks at the last 12 months.',
    'Defaults within the last 12 months: 1. T3 opens once there is none; each stops counting after 12 months. On-time settlements still needed for T3: 1.',
  ])
})

test('a tier is above the current one exactly while something is needed or prevents it', () => {
  const count = fc.nat({ max: 14 })
  fc.assert(
    fc.property(count, count, count, (onTime, lifetime, trailing) => {
      const { observedTier, nextTierGap, topTierGap } = ladderPositionOf(signals(onTime, Math.max(lifetime, trailing), trailing))
      expect(topTierGap?.targetTier ?? 'none').toBe(observedTier === 'T3' ? 'none' : 'T3')
      expect(nextTierGap?.targetTier).toBe(observedTier === 'T3' ? undefined : observedTier === 'T2' ? 'T3' : 'T2')
      for (const gap of [nextTierGap, topTierGap])
        if (gap)
          expect([gap.onTimeSettlementsNeeded + gap.blockingDefaultCount > 0, gap.guidance]).toEqual([
            true,
            expect.stringMatching(/^[^{}]+\.$/),
          ])
    }),
  )
})

test('the window begins twelve months before now to the millisecond, at the last day of a shorter month', () => {
  const startOf = (now: string) => new Date(windowStart(Date.parse(now))).toISOString()
  expect(startOf('2026-01-06T12:00:00.001Z')).toBe('2025-01-06T12:00:00.001Z')
  expect(startOf('2028-02-29T12:00:00.000Z')).toBe('2027-02-28T12:00:00.000Z')
})

test('the effective tier is the higher of base and earned, but T0 earns nothing', () => {
  expect(creditTiers.map((base) => rungs.map((earned) => effectiveTierOf(base, earned)).join())).toEqual([
    'T0,T0,T0',
    'T1,T2,T3',
    'T2,T2,T3',
    'T3,T3,T3',
  ])
})
