import { readFileSync, statSync } from 'node:fs'
import { OperatorError } from '../core/errors.ts'
import { usdOf } from '../lib/usd.ts'
import { creditTiers, currentRules, type Envelope, type LendingRules } from '../modules/lending/credit/domain.ts'
import { type Backtest, type BacktestCase, backtest, parseRules, replay } from '../modules/lending/credit/index.ts'
import type { Input } from './command.ts'
import { failureStatus, UsageError } from './failure.ts'
import { withExistingInstance } from './instance-command.ts'
import { onInterruption } from './interruption.ts'
import { createPrinter } from './printer.ts'
import { unknownText } from './suggestion.ts'

/** `souk lending`: shows the credit rules and their effect on past decisions. Writes nothing. */
export async function lending({ config, positionals: [what, file], switches }: Input): Promise<number> {
  if (what === 'backtest' ? file === undefined : file !== undefined)
    throw new UsageError(
      what === 'backtest' ? 'RULES.json is missing. Run `souk lending backtest RULES.json`' : 'Only `souk lending backtest` takes a file',
    )
  if (switches.has('all') && what !== 'backtest') throw new UsageError('--all can be used with backtest only')
  switch (what) {
    case 'rules':
      process.stdout.write(`${JSON.stringify(currentRules, null, 2)}\n`)
      return 0
    case 'replay':
      return withExistingInstance(config(), ({ deps }) => printReplay(deps))
    case 'backtest': {
      const rules = readRules(file ?? '')
      if (!rules) return failureStatus
      return withExistingInstance(config(), ({ deps }) => printBacktest(deps, rules, switches.has('all')))
    }
    default:
      throw new UsageError(`${unknownText('argument', what ?? '', ['rules', 'replay', 'backtest'])} Use rules, replay or backtest.`)
  }
}

/** Returns undefined and prints the problems if the file is invalid. */
function readRules(file: string): LendingRules | undefined {
  if (statSync(file).isDirectory()) throw new OperatorError(`Not a file, but a directory: ${file}`)
  const read = parseRules(readFileSync(file, 'utf8'))
  if ('rules' in read) return read.rules
  process.stderr.write(`${file} contains no valid credit rules:\n${read.problems.map((problem) => `  ${problem}\n`).join('')}`)
  return undefined
}

type LendingDeps = Parameters<typeof replay>[0]

async function printReplay(deps: LendingDeps): Promise<number> {
  const interruption = onInterruption(() => 'Stopped before the last decision. Nothing was changed. Run it again')
  let [decisions, different] = [0, 0]
  for await (const { decisionId, applicationId, problem } of replay(deps)) {
    decisions++
    if (problem === undefined) continue
    different++
    process.stderr.write(`FAIL  ${decisionId} of ${applicationId}: ${problem}\n`)
  }
  interruption.end()
  process.stdout.write(`${decisions} decisions recalculated: ${decisions - different} identical, ${different} different\n`)
  return different > 0 ? failureStatus : 0
}

async function printBacktest(deps: LendingDeps, rules: LendingRules, isAll: boolean): Promise<number> {
  const interruption = onInterruption(() => 'Stopped before the last decision. Nothing was changed. Run it again')
  const print = createPrinter(process.stdout)
  const sums = await backtest(deps, rules, async (one) => {
    const line = lineOf(one)
    if (isAll || line.isChanged) await print(line.text)
  })
  await print(textOf(sums))
  interruption.end()
  return 0
}

const tierText = ({ tier, ceilingUsd, reason }: Envelope): string => `${tier} ${amount(ceilingUsd)} ${reason}`
const amount = (usd: number): string => `$${usd.toLocaleString('en-US', { minimumFractionDigits: Number.isInteger(usd) ? 0 : 2 })}`

function lineOf({ decisionId, applicationId, decision, requestedUsd, before, after }: BacktestCase): { text: string; isChanged: boolean } {
  const isChanged = tierText(before) !== tierText(after)
  const requested = requestedUsd === null ? '' : ` for ${amount(requestedUsd)}`
  const text = `${decisionId} of ${applicationId}, ${decision}${requested}: ${isChanged ? `${tierText(before)} → ${tierText(after)}` : `${tierText(before)}, unchanged`}\n`
  return { text, isChanged }
}

function textOf({ decisions, changed, raised, lowered, ceilings, tiers, approvedOverCeiling }: Backtest): string {
  const moves = creditTiers.flatMap((from) =>
    creditTiers.flatMap((to) => (from !== to && tiers[from][to] > 0 ? [`${tiers[from][to]} from ${from} to ${to}`] : [])),
  )
  return `${[
    `${decisions} decisions with figures, ${changed} would change: ${raised} to a higher limit, ${lowered} to a lower limit`,
    `Tiers: ${moves.length === 0 ? 'unchanged' : moves.join(', ')}`,
    `Total of limits (last decision of each application): ${dollars(ceilings.before)} → ${dollars(ceilings.after)}`,
    `Approved above the limit: ${approvedOverCeiling.before} → ${approvedOverCeiling.after}`,
  ].join('\n')}\n`
}

const dollars = (cents: number): string => amount(usdOf(cents))
