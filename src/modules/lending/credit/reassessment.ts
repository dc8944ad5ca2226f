import { centsOf, usdOf } from '../../../lib/usd.ts'
import { envelopeText } from './assessment.ts'
import { type Assessment, type CreditTier, creditTiers, type Envelope, type LendingRules, versionOfRules } from './domain.ts'
import { computeEnvelope } from './envelope.ts'
import type { CreditDeps } from './providers.ts'
import { parseRules } from './rules-file.ts'
import type { AssessedDecision } from './store.ts'

type ReassessmentDeps = Pick<CreditDeps, 'creditStore'>
const pageRows = 500

async function* assessedDecisions({ creditStore }: ReassessmentDeps): AsyncGenerator<AssessedDecision> {
  for (let after = ''; ; ) {
    const rows = await creditStore.listAssessed(after, pageRows)
    yield* rows
    const last = rows.at(-1)
    if (!last) return
    after = last.id
  }
}

/** The result of a replay. `problem` is set if the result differs from the stored one. */
export type ReplayResult = { readonly decisionId: string; readonly applicationId: string; readonly problem?: string }

/** Recomputes every assessment with the rules of its version and compares the texts byte by byte. Writes nothing. */
export async function* replay(deps: ReassessmentDeps): AsyncGenerator<ReplayResult> {
  const versions = new Map<string, LendingRules | string>()
  for await (const { id: decisionId, applicationId, assessment, envelope, ruleVersion } of assessedDecisions(deps)) {
    const rules = versions.get(ruleVersion) ?? (await storedRules(deps, ruleVersion))
    versions.set(ruleVersion, rules)
    const problem = typeof rules === 'string' ? rules : differenceIn(assessment, envelope, rules)
    yield { decisionId, applicationId, ...(problem === undefined ? {} : { problem }) }
  }
}

/** Returns the rules of a version, or a problem. */
async function storedRules({ creditStore }: ReassessmentDeps, version: string): Promise<LendingRules | string> {
  const text = await creditStore.rulesOf(version)
  if (text === undefined) return `its rules, ${version}, are not stored`
  if (versionOfRules(text) !== version) return `the stored rules do not match their version ${version}`
  const read = parseRules(text)
  return 'rules' in read ? read.rules : `this version of souk does not know its rules, ${version}: ${read.problems[0]}`
}

function differenceIn(assessment: string, envelope: string, rules: LendingRules): string | undefined {
  let recomputed: string
  try {
    recomputed = envelopeText(computeEnvelope(JSON.parse(assessment) as Assessment, rules))
  } catch {
    return 'its assessment is invalid'
  }
  return recomputed === envelope ? undefined : `was ${envelope}, and is ${recomputed}`
}

/** The envelope of a decision under the stored and under other rules. Amounts are dollars. */
export type BacktestCase = {
  readonly decisionId: string
  readonly applicationId: string
  readonly decision: string
  readonly requestedUsd: number | null
  readonly before: Envelope
  readonly after: Envelope
}

/** The effect of other rules on all assessed decisions. */
export type Backtest = {
  readonly decisions: number
  readonly changed: number
  readonly raised: number
  readonly lowered: number
  /** Sums in cents. Each application counts once, by its last decision. */
  readonly ceilings: { readonly before: number; readonly after: number }
  /** How many applications move from one tier to another; each counts once. */
  readonly tiers: Readonly<Record<CreditTier, Readonly<Record<CreditTier, number>>>>
  /** Approvals above the ceiling. */
  readonly approvedOverCeiling: { readonly before: number; readonly after: number }
}

/**
 * Recomputes every assessment with other rules. Writes nothing.
 * @param onCase called for each decision, in order
 */
export async function backtest(
  deps: ReassessmentDeps,
  rules: LendingRules,
  onCase: (one: BacktestCase) => Promise<void> | void,
): Promise<Backtest> {
  const sums = { decisions: 0, changed: 0, raised: 0, lowered: 0 }
  const ceilings = { before: 0, after: 0 }
  const over = { before: 0, after: 0 }
  const emptyRow = () => Object.fromEntries(creditTiers.map((tier) => [tier, 0])) as Record<CreditTier, number>
  const tiers = Object.fromEntries(creditTiers.map((tier) => [tier, emptyRow()])) as Record<CreditTier, Record<CreditTier, number>>
  for await (const { id, applicationId, decision, requested, isLast, ...record } of assessedDecisions(deps)) {
    const before = JSON.parse(record.envelope) as Envelope
    const after = computeEnvelope(JSON.parse(record.assessment) as Assessment, rules)
    const requestedUsd = requested === null ? null : usdOf(Number(requested))
    sums.decisions++
    if (envelopeText(before) !== envelopeText(after)) sums.changed++
    if (after.ceilingUsd > before.ceilingUsd) sums.raised++
    if (after.ceilingUsd < before.ceilingUsd) sums.lowered++
    if (Number(isLast) === 1) {
      // Exact up to 9 million applications at the highest cap.
      ceilings.before += centsOf(before.ceilingUsd) ?? 0
      ceilings.after += centsOf(after.ceilingUsd) ?? 0
      tiers[before.tier][after.tier]++
    }
    if (decision === 'APPROVED' && requestedUsd !== null) {
      if (requestedUsd > before.ceilingUsd) over.before++
      if (requestedUsd > after.ceilingUsd) over.after++
    }
    await onCase({ decisionId: id, applicationId, decision, requestedUsd, before, after })
  }
  return { ...sums, ceilings, tiers, approvedOverCeiling: over }
}
