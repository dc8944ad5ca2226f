/** The commands of `souk chain` that need an instance: status, sync, resync and registry. */
import { OperatorError } from '../core/errors.ts'
import { withChecksum } from '../lib/evm.ts'
import { type ChainStatus, chainStatuses, resync, type Step, syncChains } from '../modules/trust/attestation/index.ts'
import { allGrants } from '../modules/trust/fabric/index.ts'
import { print } from './chain-target.ts'
import type { Input } from './command.ts'
import { failureStatus, integerFlag, UsageError } from './failure.ts'
import { withExistingInstance } from './instance-command.ts'
import { Interrupted } from './interruption.ts'
import { createPrinter } from './printer.ts'
import { createProgress } from './progress.ts'
import { formatRegistry } from './registry-file.ts'

/** How often in a row all nodes may be unavailable. */
const waitsMax = 8
const waitMaxMs = 60_000
/** Retries for a chain that another process holds; a server releases it when there is nothing to read. */
const busyRetries = { tries: 6, everyMs: 500 }
const pollEveryMs = 100

type Deps = Parameters<Parameters<typeof withExistingInstance>[1]>[0]['deps']

/** Runs `souk chain status`, `sync`, `resync` or `registry`. */
export async function runOnInstance(command: string, input: Input): Promise<number> {
  const chainId = integerFlag(input.values, 'chain', 1)
  const from = integerFlag(input.values, 'from')
  if (command === 'resync' && chainId === undefined) throw new UsageError('--chain is missing. Run `souk chain resync --chain ID`')
  return withExistingInstance(input.config(), async ({ deps }) => {
    if (command === 'status') return status(deps)
    if (command === 'sync') return sync(deps)
    if (command === 'resync') return resyncOne(deps, chainId ?? 0, from)
    const { grants } = await allGrants(deps)
    await createPrinter(process.stdout)(formatRegistry(grants))
    return 0
  })
}

async function status(deps: Deps): Promise<number> {
  const statuses = await chainStatuses(deps)
  for (const one of statuses) print(statusText(one))
  for (const { chainId } of deps.config.chains)
    if (!statuses.some((one) => one.chainId === chainId)) print(`Chain ${chainId}\n  nothing read yet`)
  if (statuses.length + deps.config.chains.length === 0) print('No chains configured: set CHAINS')
  return statuses.some(({ isConfigured, haltedBecause }) => isConfigured && haltedBecause !== null) ? failureStatus : 0
}

const number = (value: number) => value.toLocaleString('en-US')
const time = (ms: number | null) => (ms === null ? 'never' : new Date(ms).toISOString())

function statusText(one: ChainStatus): string {
  const { rescan, lag, head } = one
  const found =
    rescan.missing === null && rescan.unknown === null
      ? ''
      : `: ${rescan.missing ?? 0} missing here, ${rescan.unknown ?? 0} unknown to the nodes`
  return [
    `Chain ${one.chainId}, EAS ${withChecksum(one.contract)}`,
    one.countedToHash === null
      ? `  counted to  nothing yet, from block ${number(one.startBlock)} on`
      : `  counted to  ${number(one.countedTo)} ${one.countedToHash} of ${time(one.countedToAt)}`,
    ...(one.isConfigured ? [] : ['  NOT READ    not in CHAINS: its attestations are kept, but not counted']),
    ...(head === null ? [] : [`  head        ${number(head)}, ${number(lag ?? 0)} blocks ahead`]),
    `  answered    ${one.provider ?? 'none'}, ${time(one.syncedAt)}`,
    ...(one.lastError === null ? [] : [`  last error  ${one.lastError}, ${time(one.lastErrorAt)}`]),
    ...(one.backfills === 0 ? [] : [`  backfills   reading older blocks for ${number(one.backfills)} addresses`]),
    `  rescan      ${rescan.isUnderWay ? `running since ${time(rescan.beganAt)}, at ${number(rescan.readTo ?? 0)}` : time(rescan.beganAt)}${found}`,
    ...(one.haltedBecause === null
      ? []
      : [`  HALTED      ${one.haltedBecause}, ${time(one.haltedAt)}. Run \`souk chain resync --chain ${one.chainId}\` to continue`]),
  ].join('\n')
}

/** Reads all chains until everything final is counted. */
async function sync(deps: Deps): Promise<number> {
  if (deps.config.chains.length === 0) throw new OperatorError('No chains configured: set CHAINS')
  // On Ctrl-C, cancels running requests and stops each chain after its current step, so that no lease remains.
  const stop = () => {
    deps.life.stopping = true
    deps.stopChains()
  }
  process.on('SIGINT', stop).on('SIGTERM', stop)
  const progress = createBlockProgress(deps)
  let last = new Map<number, Step>()
  try {
    for (let [waits, busyTries] = [0, 0]; ; ) {
      last = await syncChains(deps, {
        maxMs: Number.POSITIVE_INFINITY,
        onStep: async (step, { chainId }) => {
          if (step.kind === 'READ') waits = 0
          await progress.at(chainId, step)
        },
      })
      assertNotStopped(deps)
      const steps = [...last.values()]
      const until = steps.flatMap((step) => (step.kind === 'WAITING' ? [step.until] : []))
      const isBusy = steps.some(({ kind }) => kind === 'BUSY') && ++busyTries < busyRetries.tries
      if (!isBusy && (until.length === 0 || ++waits > waitsMax)) break
      await wait(deps, isBusy ? busyRetries.everyMs : Math.min(waitMaxMs, Math.min(...until) - Date.now()))
    }
  } finally {
    progress.end()
    process.off('SIGINT', stop).off('SIGTERM', stop)
  }
  const statuses = new Map((await chainStatuses(deps)).map((one) => [one.chainId, one]))
  for (const [chainId, step] of last) printResult(statuses.get(chainId), chainId, step)
  return [...last.values()].every(({ kind }) => kind === 'IDLE') ? 0 : failureStatus
}

function assertNotStopped({ life }: Deps): void {
  if (life.stopping) throw new Interrupted('Stopped. Run it again to continue')
}

/** @throws Interrupted if it is stopped meanwhile */
async function wait(deps: Deps, ms: number): Promise<void> {
  for (const until = performance.now() + ms; performance.now() < until && !deps.life.stopping; ) await Bun.sleep(pollEveryMs)
  assertNotStopped(deps)
}

/** Shows one bar for the blocks of all chains. */
function createBlockProgress(deps: Deps) {
  const chains = new Map<number, { first: number; at: number; target: number }>()
  let bar: ReturnType<typeof createProgress> | undefined
  return {
    async at(chainId: number, step: Step): Promise<void> {
      if (step.kind !== 'READ') return
      const chain = chains.get(chainId)
      if (chain) chain.at = step.to
      else {
        const target = (await chainStatuses(deps)).find((one) => one.chainId === chainId)?.target ?? step.to
        chains.set(chainId, { first: step.from, at: step.to, target })
        bar?.end()
        bar = undefined
      }
      const all = [...chains.values()]
      const total = all.reduce((sum, one) => sum + one.target - one.first + 1, 0)
      bar ??= createProgress({ total, label: 'Reading chains', stream: process.stderr, unit: 'blocks' })
      bar.at(all.reduce((sum, one) => sum + one.at - one.first + 1, 0))
    },
    end: () => bar?.end(),
  }
}

const countedTo = (status: ChainStatus | undefined): string =>
  status && status.countedToHash !== null ? `counted to block ${number(status.countedTo)} ${status.countedToHash}` : 'nothing counted yet'

function printResult(status: ChainStatus | undefined, chainId: number, { kind }: Step): void {
  const to = countedTo(status)
  const problems: Partial<Record<Step['kind'], string>> = {
    HALTED: `halted: ${status?.haltedBecause ?? 'not in CHAINS'}`,
    BUSY: 'another process is reading it (usually the server). Try again later',
    WAITING: `no node answers: ${status?.lastError ?? 'none was called'}`,
  }
  const problem = problems[kind]
  if (problem === undefined) print(`Chain ${chainId}: ${to}`)
  else process.stderr.write(`Chain ${chainId}: ${problem}; ${to}\n`)
}

async function resyncOne(deps: Deps, chainId: number, from: number | undefined): Promise<number> {
  const { removed } = await resync(deps, chainId, from)
  const status = (await chainStatuses(deps)).find((one) => one.chainId === chainId)
  print(`Chain ${chainId}: ${countedTo(status)}; ${number(removed)} attestations removed, to be read again`)
  print('A running server continues from there, or run `souk chain sync`')
  return 0
}
