import { findDuplicateField, findRoundedNumber } from '../../../lib/exact-json.ts'
import { unitsOf } from '../../../lib/usd.ts'
import { currentRules, type LendingRules, operationalRisks, rungs } from './domain.ts'
import { factorDecimals } from './envelope.ts'

/** The limit of amounts and multiples. */
const figureEnd = 1e10

/**
 * Parses a complete file of rules, in the form that `souk lending rules` prints.
 * @returns the rules with their fields in the order of `currentRules`, so that equal rules have one version; or the
 * problems of the file
 */
export function parseRules(text: string): { rules: LendingRules } | { problems: string[] } {
  let value: unknown
  try {
    // Some editors write a byte order mark.
    value = JSON.parse(text.replace(/^\ufeff/, ''))
  } catch {
    return { problems: ['not valid JSON'] }
  }
  const problems = ambiguitiesIn(text)
  const rules = matchShape(currentRules, value, [], problems) as LendingRules
  if (problems.length === 0) problems.push(...nonMonotonicIn(rules))
  return problems.length > 0 ? { problems } : { rules }
}

/** Finds what JSON.parse hides: repeated fields and numbers with too many digits. */
function ambiguitiesIn(json: string): string[] {
  const [twice, rounded] = [findDuplicateField(json), findRoundedNumber(json.replace(/^\ufeff/, ''))]
  return [
    ...(twice ? [`${twice.join('.')}: given twice`] : []),
    ...(rounded ? [`${rounded.join('.')}: has too many digits to be exact`] : []),
  ]
}

/** Rebuilds `value` in the field order of `template` and collects what does not match, by path. */
function matchShape(template: unknown, value: unknown, path: readonly string[], problems: string[]): unknown {
  const say = (what: string) => void problems.push(`${path.join('.') || 'the file'}: ${what}`)
  if (typeof template === 'object' && template !== null) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return say('must be an object')
    for (const name of Object.keys(value)) if (!Object.hasOwn(template, name)) problems.push(`unknown field: ${[...path, name].join('.')}`)
    return Object.fromEntries(
      Object.entries(template).map(([name, field]) => [
        name,
        matchShape(field, Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined, [...path, name], problems),
      ]),
    )
  }
  const name = path.at(-1) ?? ''
  if (value === undefined) return say('is missing')
  if (name === 'method') return value === template ? value : say(`must be ${template}, the only method of this version`)
  if (name === 'defaultsOfMonths') return value === template ? value : say(`must be ${template}: defaults are counted for this period only`)
  if (name === 'highestTier') return rungs.some((rung) => rung === value) ? value : say(`must be one of ${rungs.join(', ')}`)
  if (typeof template === 'string') return typeof value === 'string' && value.trim() !== '' ? value : say('must be a text')
  return isFigure(name, value) ? value : say(`must be ${figureRule(name)}`)
}

const isCount = (name: string) => name === 'onTimeSettlements'
const decimalsOf = (name: string) => (isCount(name) ? 0 : name.endsWith('Usd') ? 2 : factorDecimals)
const isFigure = (name: string, value: unknown): boolean =>
  typeof value === 'number' && value < figureEnd && unitsOf(value, decimalsOf(name)) !== undefined
const figureRule = (name: string) =>
  isCount(name) ? 'a whole number from 0' : `a number from 0, below 10,000,000,000, with at most ${decimalsOf(name)} decimals`

/**
 * Checks that the rules are monotone: more revenue or collateral must not lower a ceiling, more risk must not raise
 * one.
 */
function nonMonotonicIn({ tiers, risks, roundDownToUsd }: LendingRules): string[] {
  const problems: string[] = []
  const requireRising = (name: string, ...values: number[]) => {
    if (values.some((value, nth) => value < (values[nth - 1] ?? 0))) problems.push(`${name}: must not fall from one to the next`)
  }
  const requireFalling = (name: string, ...values: number[]) => {
    if (values.some((value, nth) => value > (values[nth - 1] ?? value))) problems.push(`${name}: must not rise from one to the next`)
  }
  for (const name of ['minRevenueTimes', 'minCollateralTimes'] as const)
    if (tiers.T1[name] !== 0) problems.push(`tiers.T1.${name}: must be 0, since T1 is for all who are over the minimum of their cohort`)
  for (const name of ['revenueMonths', 'capUsd'] as const) requireRising(`tiers.T1..T3.${name}`, ...rungs.map((rung) => tiers[rung][name]))
  for (const name of ['revenueFactor', 'collateralRate'] as const)
    requireFalling(`risks.LOW..HIGH.${name}`, ...operationalRisks.map((risk) => risks[risk][name]))
  requireFalling('risks.LOW..HIGH.highestTier', ...operationalRisks.map((risk) => rungs.indexOf(risks[risk].highestTier)))
  if (roundDownToUsd === 0) problems.push('roundDownToUsd: must be more than 0')
  return problems
}
