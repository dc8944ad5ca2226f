/** Tests replaying decisions by their own rules, and backtests by other rules. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { lendingDecisions, lendingRuleVersions } from '../../../../db/schema/lending.ts'
import {
  type Assessment,
  currentRules,
  type LendingRules,
  rulesText,
  ruleVersion,
  versionOfRules,
} from '../../../../src/modules/lending/credit/domain.ts'
import {
  assess,
  type BacktestCase,
  backtest,
  computeEnvelope,
  type ReplayResult,
  replay,
} from '../../../../src/modules/lending/credit/index.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { forgeDecision, insertDecision } from '../../../support/credit-decisions.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const figures = (monthlyAvgRevenueUsd: number, change: Partial<Assessment> = {}): Assessment => ({
  cohort: 'US_COMPANY',
  monthlyAvgRevenueUsd,
  verifiedCollateralUsd: 20_000.05,
  operationalRisk: 'LOW',
  ...change,
})
const problems = async ({ deps }: TestApp): Promise<ReplayResult[]> =>
  (await Array.fromAsync(replay(deps))).filter(({ problem }) => problem !== undefined)

test('a decision stores figures, envelope and version exactly, each version of the rules once, and replays identically', async () => {
  await using app = await testApp()
  const { id } = await app.merchant()
  await insertDecision(app, id, { assessment: figures(10_000.1) })
  await insertDecision(app, id, { assessment: figures(50_000, { hardComplianceFlags: ['PEP'] }), decision: 'REJECTED' })
  await insertDecision(app, id, { assessment: null })
  const rows = await app.deps.db.read.select().from(lendingDecisions).orderBy(lendingDecisions.id)
  expect(rows.map(({ assessment, envelope, ruleVersion }) => [assessment, envelope, ruleVersion])).toEqual([
    [
      '{"cohort":"US_COMPANY","monthlyAvgRevenueUsd":10000.1,"verifiedCollateralUsd":20000.05,"operationalRisk":"LOW","hardComplianceFlags":null}',
      '{"tier":"T1","ceilingUsd":23000,"reason":"FORMULA"}',
      ruleVersion,
    ],
    [
      '{"cohort":"US_COMPANY","monthlyAvgRevenueUsd":50000,"verifiedCollateralUsd":20000.05,"operationalRisk":"LOW","hardComplianceFlags":["PEP"]}',
      '{"tier":"T0","ceilingUsd":0,"reason":"HARD_COMPLIANCE_FLAG"}',
      ruleVersion,
    ],
    [null, null, null],
  ])
  expect(await app.deps.db.read.select().from(lendingRuleVersions)).toEqual([
    { version: ruleVersion, rules: rulesText(currentRules), firstUsedAt: app.deps.clock.now() },
  ])
  expect(await Array.fromAsync(replay(app.deps))).toHaveLength(2)
  expect(await problems(app)).toEqual([])
})

test('decisions by older rules are replayed by those rules, and differences are named', async () => {
  await using app = await testApp()
  const { id } = await app.merchant()
  const older: LendingRules = { ...currentRules, tiers: { ...currentRules.tiers, T1: { ...currentRules.tiers.T1, revenueMonths: 0.5 } } }
  const version = versionOfRules(rulesText(older))
  const [byOlder, changed, unknown, forged] = [
    await insertDecision(app, id, { assessment: figures(10_000) }),
    await insertDecision(app, id, { assessment: figures(10_000) }),
    await insertDecision(app, id, { assessment: figures(10_000) }),
    await insertDecision(app, id, { assessment: figures(10_000) }),
  ]
  const forge = (decisionId: string, fields: object) => forgeDecision(app, decisionId, fields)
  await app.deps.db.write((tx) =>
    tx.insert(lendingRuleVersions).values([
      { version, rules: rulesText(older), firstUsedAt: 0 },
      { version: 'rules-forged', rules: rulesText(older), firstUsedAt: 0 },
    ]),
  )
  await forge(byOlder.decisionId, { ruleVersion: version, envelope: JSON.stringify(computeEnvelope(figures(10_000), older)) })
  await forge(changed.decisionId, { envelope: '{"tier":"T1","ceilingUsd":23100,"reason":"FORMULA"}' })
  await forge(unknown.decisionId, { ruleVersion: 'rules-lost' })
  await forge(forged.decisionId, { ruleVersion: 'rules-forged' })
  expect(await problems(app)).toEqual([
    {
      ...changed,
      problem: 'was {"tier":"T1","ceilingUsd":23100,"reason":"FORMULA"}, and is {"tier":"T1","ceilingUsd":23000,"reason":"FORMULA"}',
    },
    { ...unknown, problem: 'its rules, rules-lost, are not stored' },
    { ...forged, problem: 'the stored rules do not match their version rules-forged' },
  ])
})

test('a backtest shows each decision under other rules with sums, and writes nothing', async () => {
  await using app = await testApp()
  const { id } = await app.merchant()
  const large = await insertDecision(app, id, { assessment: figures(100_000, { verifiedCollateralUsd: 40_000 }), requestedUsd: 250_000 })
  const small = await insertDecision(app, id, { assessment: figures(10_000), requestedUsd: 23_000 })
  const flagged = await insertDecision(app, id, {
    assessment: figures(1e6, { hardComplianceFlags: ['PEP'] }),
    decision: 'REJECTED',
    requestedUsd: 1_000,
  })
  await insertDecision(app, id, { assessment: null, requestedUsd: 1_000 })
  const stricter: LendingRules = {
    ...currentRules,
    tiers: { ...currentRules.tiers, T3: { ...currentRules.tiers.T3, minRevenueTimes: 11 } },
    risks: { ...currentRules.risks, LOW: { ...currentRules.risks.LOW, collateralRate: 0.7 } },
  }
  const { writes } = app.deps.db.stats
  const cases: BacktestCase[] = []
  const sums = await backtest(app.deps, stricter, (one) => void cases.push(one))
  const nothing = { tier: 'T0', ceilingUsd: 0, reason: 'HARD_COMPLIANCE_FLAG' } as const
  expect(cases).toEqual([
    {
      ...large,
      decision: 'APPROVED',
      requestedUsd: 250_000,
      before: { tier: 'T3', ceilingUsd: 276_000, reason: 'FORMULA' },
      after: { tier: 'T2', ceilingUsd: 178_000, reason: 'FORMULA' },
    },
    {
      ...small,
      decision: 'APPROVED',
      requestedUsd: 23_000,
      before: { tier: 'T1', ceilingUsd: 23_000, reason: 'FORMULA' },
      after: { tier: 'T1', ceilingUsd: 24_000, reason: 'FORMULA' },
    },
    { ...flagged, decision: 'REJECTED', requestedUsd: 1_000, before: nothing, after: nothing },
  ])
  const none = { T0: 0, T1: 0, T2: 0, T3: 0 }
  expect(sums).toEqual({
    decisions: 3,
    changed: 2,
    raised: 1,
    lowered: 1,
    ceilings: { before: 29_900_000, after: 20_200_000 },
    tiers: { T0: { ...none, T0: 1 }, T1: { ...none, T1: 1 }, T2: none, T3: { ...none, T2: 1 } },
    approvedOverCeiling: { before: 0, after: 1 },
  })
  expect(app.deps.db.stats.writes).toBe(writes)
})

test('an application assessed twice is two cases and counts once in the sums, by its last decision', async () => {
  await using app = await testApp()
  const { id } = await app.merchant()
  const review = await insertDecision(app, id, { assessment: figures(50_000), decision: 'UNDER_REVIEW' })
  const [row] = await app.deps.db.read.select().from(lendingDecisions)
  const second = { ...row, ...assess(figures(10_000)), id: app.deps.newId('lendingDecision'), decision: 'APPROVED' }
  await app.deps.db.write((tx) => tx.insert(lendingDecisions).values(second as typeof lendingDecisions.$inferInsert))
  const cases: string[] = []
  const sums = await backtest(app.deps, currentRules, ({ decision }) => void cases.push(decision))
  expect([cases, sums.decisions, sums.ceilings]).toEqual([['UNDER_REVIEW', 'APPROVED'], 2, { before: 2_300_000, after: 2_300_000 }])
  expect(sums.tiers.T1.T1 + sums.tiers.T2.T2).toBe(1)
  expect(review.applicationId).toBe(second.applicationId as string)
})

test('more decisions than one batch are all replayed once', async () => {
  await using app = await testApp()
  const { id } = await app.merchant()
  const { decisionId, applicationId } = await insertDecision(app, id, { assessment: figures(10_000) })
  const [row] = await app.deps.db.read.select().from(lendingDecisions)
  const many = Array.from(
    { length: 1_100 },
    (_, nth) => ({ ...row, id: `${decisionId}${String(nth).padStart(4, '0')}` }) as typeof lendingDecisions.$inferInsert,
  )
  await app.deps.db.write((tx) => tx.insert(lendingDecisions).values(many))
  const seen = await Array.fromAsync(replay(app.deps))
  expect([
    seen.length,
    new Set(seen.map((one) => one.decisionId)).size,
    seen.every((one) => one.applicationId === applicationId && !one.problem),
  ]).toEqual([1_101, 1_101, true])
})
