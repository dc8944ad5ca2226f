import { centsOf, usdOf } from '../../../lib/usd.ts'
import { textOfEnvelope } from './assessment.ts'
import { type Assessment, type CreditTier, creditTiers, type Envelope, type LendingRules, versionOfRules } from './domain.ts'
import { judge } from './envelope.ts'
import type { CreditDeps } from './providers.ts'
import { rulesOf } from './rules-file.ts'
import type { JudgedDecision } from './store.ts'

type AgainDeps = Pick<CreditDeps, 'creditStore'>
const atOnce = 500

async function* judgedDecisions({ creditStore }: AgainDeps): AsyncGenerator<JudgedDecision> {
  for (let after = ''; ; ) {
    const rows = await creditStore.judged(after, atOnce)
    yield* rows
    const last = rows.at(-1)
    if (!last) return
    after = last.id
  }
}

/** A decision that was judged again by the rules that it was made by; `problem` says what is not as it was. */
export type Replayed = { readonly decisionId: string; readonly applicationId: string; readonly problem?: string }

/** Judges every decision again by the rules of its version, and compares to the byte. Writes nothing. */
export async function* replay(deps: AgainDeps): AsyncGenerator<Replayed> {
  const versions = new Map<string, LendingRules | string>()
  for await (const { id: decisionId, applicationId, assessment, envelope, ruleVersion } of judgedDecisions(deps)) {
    const rules = versions.get(ruleVersion) ?? (await keptRules(deps, ruleVersion))
    versions.set(ruleVersion, rules)
    const problem = typeof rules === 'string' ? rules : differenceIn(assessment, envelope, rules)
    yield { decisionId, applicationId, ...(problem === undefined ? {} : { problem }) }
  }
}

/** The rules of a version, or what is wrong with them. */
async function keptRules({ creditStore }: AgainDeps, version: string): Promise<LendingRules | string> {
  const text = await creditStore.rulesOf(version)
  if (text === undefined) return `its rules, ${version}, are not kept`
  if (versionOfRules(text) !== version) return `its rules are not those of ${version} any more`
  const read = rulesOf(text)
  return 'rules' in read ? read.rules : `this version of souk does not know its rules, ${version}: ${read.problems[0]}`
}

function differenceIn(assessment: string, envelope: string, rules: LendingRules): string | undefined {
  let again: string
  try {
    again = textOfEnvelope(judge(JSON.parse(assessment) as Assessment, rules))
  } catch {
    return 'its figures cannot be judged'
  }
  return again === envelope ? undefined : `was ${envelope}, and is ${again}`
}

/** What other rules say of a decision. Amounts are dollars. */
export type BacktestCase = {
  readonly decisionId: string
  readonly applicationId: string
  readonly decision: string
  readonly requestedUsd: number | null
  readonly before: Envelope
  readonly after: Envelope
}

/** What other rules come to over all decisions that were judged. */
export type Backtest = {
  readonly decisions: number
  readonly changed: number
  readonly raised: number
  readonly lowered: number
  /** All together, in cents: of each application by its last decision, since it is lent to once. */
  readonly ceilings: { readonly before: number; readonly after: number }
  /** How many applications moved from one tier to which, by the same. */
  readonly tiers: Readonly<Record<CreditTier, Readonly<Record<CreditTier, number>>>>
  /** Approvals of more than the ceiling, before and after. */
  readonly approvedOverCeiling: { readonly before: number; readonly after: number }
}

/**
 * Judges every decision by other rules than it was made by. Writes nothing.
 * @param tell called with each case, changed or not, in the order of the decisions
 */
export async function backtest(deps: AgainDeps, rules: LendingRules, tell: (one: BacktestCase) => Promise<void> | void): Promise<Backtest> {
  const sums = { decisions: 0, changed: 0, raised: 0, lowered: 0 }
  const ceilings = { before: 0, after: 0 }
  const over = { before: 0, after: 0 }
  const none = () => Object.fromEntries(creditTiers.map((tier) => [tier, 0])) as Record<CreditTier, number>
  const tiers = Object.fromEntries(creditTiers.map((tier) => [tier, none()])) as Record<CreditTier, Record<CreditTier, number>>
  for await (const { id, applicationId, decision, requested, isLast, ...kept } of judgedDecisions(deps)) {
    const before = JSON.parse(kept.envelope) as Envelope
    const after = judge(JSON.parse(kept.assessment) as Assessment, rules)
    const requestedUsd = requested === null ? null : usdOf(Number(requested))
    sums.decisions++
    if (textOfEnvelope(before) !== textOfEnvelope(after)) sums.changed++
    if (after.ceilingUsd > before.ceilingUsd) sums.raised++
    if (after.ceilingUsd < before.ceilingUsd) sums.lowered++
    if (Number(isLast) === 1) {
      // Exact up to 9 million applications at the highest cap there is.
      ceilings.before += centsOf(before.ceilingUsd) ?? 0
      ceilings.after += centsOf(after.ceilingUsd) ?? 0
      tiers[before.tier][after.tier]++
    }
    if (decision === 'APPROVED' && requestedUsd !== null) {
      if (requestedUsd > before.ceilingUsd) over.before++
      if (requestedUsd > after.ceilingUsd) over.after++
    }
    await tell({ decisionId: id, applicationId, decision, requestedUsd, before, after })
  }
  return { ...sums, ceilings, tiers, approvedOverCeiling: over }
}
