/** What of `souk chain` works on an instance: how far the chains are read, reading on, reading anew, and the registry as a file. */
import { OperatorError } from '../core/errors.ts'
import { withChecksum } from '../lib/evm.ts'
import { type ChainStatus, chainStatuses, resync, type Step, syncChains } from '../modules/trust/attestation/index.ts'
import { allGrants } from '../modules/trust/fabric/index.ts'
import { wholeOf } from './chain-target.ts'
import type { Input } from './command.ts'
import { UsageError } from './failure.ts'
import { withExistingInstance } from './instance-command.ts'
import { Interrupted } from './interruption.ts'
import { createPrinter } from './printer.ts'
import { createProgress } from './progress.ts'
import { textOfRegistry } from './registry-file.ts'

const failedStatus = 1
/** How often in a row no node may be asked, before it is given up. */
const waitsMax = 8
const waitMaxMs = 60_000
/** How often a chain that another process reads is asked for again: the server leaves it at once where there is nothing to read. */
const busy = { tries: 6, everyMs: 500 }
const lookEveryMs = 100

type Deps = Parameters<Parameters<typeof withExistingInstance>[1]>[0]['deps']

const say = (line: string) => void process.stdout.write(`${line}\n`)

/** `souk chain status`, `sync`, `resync` or `registry`. */
export async function runOnInstance(word: string, input: Input): Promise<number> {
  const chainId = wholeOf(input, 'chain', 1)
  const from = wholeOf(input, 'from')
  if (word === 'resync' && chainId === undefined) throw new UsageError('--chain is missing: the id of the chain that is read anew')
  return withExistingInstance(input.config(), async ({ deps }) => {
    if (word === 'status') return status(deps)
    if (word === 'sync') return sync(deps)
    if (word === 'resync') return resyncOne(deps, chainId ?? 0, from)
    const { grants } = await allGrants(deps)
    await createPrinter(process.stdout)(textOfRegistry(grants))
    return 0
  })
}

async function status(deps: Deps): Promise<number> {
  const statuses = await chainStatuses(deps)
  for (const one of statuses) say(textOf(one))
  for (const { chainId } of deps.config.chains)
    if (!statuses.some((one) => one.chainId === chainId)) say(`Chain ${chainId}\n  nothing is read yet`)
  if (statuses.length + deps.config.chains.length === 0) say('No chain is read: CHAINS names none')
  return statuses.some(({ isConfigured, haltedBecause }) => isConfigured && haltedBecause !== null) ? failedStatus : 0
}

const number = (value: number) => value.toLocaleString('en-US')
const time = (ms: number | null) => (ms === null ? 'never' : new Date(ms).toISOString())

function textOf(one: ChainStatus): string {
  const { rescan, lag, head } = one
  const found =
    rescan.missing === null && rescan.unknown === null
      ? ''
      : `: ${rescan.missing ?? 0} missing here, ${rescan.unknown ?? 0} known to nobody else`
  return [
    `Chain ${one.chainId}, EAS ${withChecksum(one.contract)}`,
    one.countedToHash === null
      ? `  counted to  nothing yet, from block ${number(one.startBlock)} on`
      : `  counted to  ${number(one.countedTo)} ${one.countedToHash} of ${time(one.countedToAt)}`,
    ...(one.isConfigured ? [] : ['  NOT READ    CHAINS does not name it: its attestations are kept, and no statistics tell of them']),
    ...(head === null ? [] : [`  head        ${number(head)}, ${number(lag ?? 0)} blocks further`]),
    `  answered    ${one.provider ?? 'nobody'}, ${time(one.syncedAt)}`,
    ...(one.lastError === null ? [] : [`  last error  ${one.lastError}, ${time(one.lastErrorAt)}`]),
    ...(one.backfills === 0 ? [] : [`  backfills   ${number(one.backfills)} addresses are read from older blocks`]),
    `  rescan      ${rescan.isUnderWay ? `under way since ${time(rescan.beganAt)}, at ${number(rescan.readTo ?? 0)}` : time(rescan.beganAt)}${found}`,
    ...(one.haltedBecause === null
      ? []
      : [`  HALTED      ${one.haltedBecause}, ${time(one.haltedAt)}. \`souk chain resync --chain ${one.chainId}\` goes on`]),
  ].join('\n')
}

/** Reads all chains on until all that may be counted is. */
async function sync(deps: Deps): Promise<number> {
  if (deps.config.chains.length === 0) throw new OperatorError('No chain is read: CHAINS names none')
  const interruption = stopOnInterruption(deps)
  const shown = createBlocks(deps)
  let last = new Map<number, Step>()
  try {
    for (let [waits, busyTries] = [0, 0]; ; ) {
      last = await syncChains(deps, {
        maxMs: Number.POSITIVE_INFINITY,
        onStep: async (step, { chainId }) => {
          if (step.kind === 'READ') waits = 0
          await shown.at(chainId, step)
        },
      })
      assertGoesOn(deps)
      if ([...last.values()].some(({ kind }) => kind === 'BUSY') && ++busyTries < busy.tries) {
        await waited(deps, busy.everyMs)
        assertGoesOn(deps)
        continue
      }
      const until = [...last.values()].flatMap((step) => (step.kind === 'WAITING' ? [step.until] : []))
      if (until.length === 0 || ++waits > waitsMax) break
      await waited(deps, Math.min(waitMaxMs, Math.min(...until) - Date.now()))
      assertGoesOn(deps)
    }
  } finally {
    shown.end()
    interruption.end()
  }
  const statuses = await chainStatuses(deps)
  for (const [chainId, step] of last)
    tellEnd(
      statuses.find((one) => one.chainId === chainId),
      chainId,
      step,
    )
  return [...last.values()].every(({ kind }) => kind === 'IDLE') ? 0 : failedStatus
}

function assertGoesOn({ life }: Deps): void {
  if (life.stopping) throw new Interrupted('Stopped: what is counted stays. Run it again to go on')
}

/** So many milliseconds, or until it is stopped. */
async function waited({ life }: Deps, ms: number): Promise<void> {
  for (const until = performance.now() + ms; performance.now() < until && !life.stopping; ) await Bun.sleep(lookEveryMs)
}

/** At Ctrl-C what is asked just now is given up, and each chain is left after the step that it is at: nothing stays held. */
function stopOnInterruption(deps: Deps) {
  const stop = () => {
    deps.life.stopping = true
    deps.stopChains()
  }
  process.on('SIGINT', stop).on('SIGTERM', stop)
  return { end: () => void process.off('SIGINT', stop).off('SIGTERM', stop) }
}

/** A bar of the blocks of all chains together. */
function createBlocks(deps: Deps) {
  const chains = new Map<number, { first: number; at: number; target: number }>()
  let bar: ReturnType<typeof createProgress> | undefined
  return {
    async at(chainId: number, step: Step): Promise<void> {
      if (step.kind !== 'READ') return
      const known = chains.get(chainId)
      if (known) known.at = step.to
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
  status && status.countedToHash !== null
    ? `counted to block ${number(status.countedTo)} ${status.countedToHash}`
    : 'nothing is counted yet'

function tellEnd(status: ChainStatus | undefined, chainId: number, { kind }: Step): void {
  const to = countedTo(status)
  const problems: Partial<Record<Step['kind'], string>> = {
    HALTED: `halted: ${status?.haltedBecause ?? 'CHAINS does not name it'}`,
    BUSY: 'another process is reading it, most likely the server: leave it to that one, or run this again',
    WAITING: `no node answers: ${status?.lastError ?? 'none was asked'}`,
  }
  const problem = problems[kind]
  if (problem === undefined) say(`Chain ${chainId}: ${to}`)
  else process.stderr.write(`Chain ${chainId}: ${problem}; ${to}\n`)
}

async function resyncOne(deps: Deps, chainId: number, from: number | undefined): Promise<number> {
  const { removed } = await resync(deps, chainId, from)
  const status = (await chainStatuses(deps)).find((one) => one.chainId === chainId)
  say(`Chain ${chainId}: ${countedTo(status)}; ${number(removed)} attestations were taken away, and are read again`)
  say('A running server reads on from there, or `souk chain sync`')
  return 0
}
