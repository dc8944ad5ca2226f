/** `souk chain verify`: counts attestations again from a souk's registry and the chains, without a database. */
import { readFileSync, statSync } from 'node:fs'
import { NodeError } from '../core/chain.ts'
import { OperatorError } from '../core/errors.ts'
import { OutgoingError } from '../core/outgoing.ts'
import { isWebUrl } from '../lib/chain-settings.ts'
import { schemaNames, schemaUids } from '../lib/eas.ts'
import { withChecksum } from '../lib/evm.ts'
import { isRecord } from '../lib/json.ts'
import type { Progress } from '../lib/progress.ts'
import type { Proof, Stats } from '../modules/trust/fabric/index.ts'
import { contractOf, deploymentOf, print, rpcUrlsOf, safeFetch, type Target, withContract } from './chain-target.ts'
import type { Input } from './command.ts'
import { failureStatus, integerFlag, UsageError } from './failure.ts'
import { createProgress } from './progress.ts'
import { emptyCounts, recount } from './recount-chain.ts'
import { readRegistry } from './registry-file.ts'

const fileMaxBytes = 256 * 1024 * 1024
const answerMaxBytes = 1024 * 1024
const timeoutMs = 20_000
/** Attempts to get a consistent answer from a souk that counts meanwhile. */
const soukTries = 5

/** What a souk reports at one moment. The attestations are summed over all chains. */
type SoukCounts = { readonly host: string } & Pick<Proof, 'registryHash' | 'chains'> & Pick<Stats, 'attestations'>

/**
 * Counts all chains and compares the sums with a souk, if `--against` names one.
 * @returns the exit code: 0 if nothing differs
 * @throws UsageError for contradicting flags; OperatorError if a node or the souk does not respond
 */
export async function verify(input: Input): Promise<number> {
  const { values } = input
  const file = values.get('registry')
  if (file === undefined) throw new UsageError('--registry is missing: the output file of `souk chain registry`')
  const [to, from] = [integerFlag(input.values, 'to'), integerFlag(input.values, 'from')]
  if (from !== undefined && to !== undefined && from > to) throw new UsageError('--from must not be after --to')
  const against = parseBaseUrl(values.get('against'))
  if (against && to !== undefined)
    throw new UsageError("--to can't be combined with --against, which uses the last block that the server has counted")
  const registry = readRegistryFile(file)
  if ('problem' in registry) return printProblems([`${file}: ${registry.problem}`])
  print(`Registry ${registry.hash}, ${registry.grants.length} grants`)
  const soukCounts = against === undefined ? undefined : await fetchSoukCounts(against)
  const targets = (await targetsOf(input)).map((target) => ({ ...target, startBlock: from ?? target.startBlock }))
  const problems = soukCounts ? findDifferences(soukCounts, registry.hash, targets) : []
  if (problems.length > 0) return printProblems(problems)
  const sum = emptyCounts()
  for (const target of targets) {
    const countedTo = soukCounts?.chains.find(({ chainId }) => chainId === target.chainId)?.countedTo
    if (countedTo === null) continue
    let bar: Progress | undefined
    const result = await recount(target, registry.grants, {
      to: countedTo?.number ?? to,
      progress: (first, last, at) => {
        bar ??= createProgress({ total: last - first + 1, label: `Chain ${target.chainId}`, stream: process.stderr, unit: 'blocks' })
        bar.at(at - first + 1)
      },
    }).finally(() => bar?.end())
    print(
      `Chain ${target.chainId} via ${result.host}: EAS ${withChecksum(target.contract)}, blocks ${result.from} to ${result.to.number} ${result.to.hash}`,
    )
    for (const name of schemaNames) {
      print(`  ${name} ${result.counts[name]}`)
      sum[name] += result.counts[name]
    }
    if (countedTo && countedTo.hash !== result.to.hash)
      problems.push(
        `Chain ${target.chainId}: block ${countedTo.number} is ${result.to.hash}, but the server counted to ${countedTo.hash}: the histories differ`,
      )
  }
  if (!soukCounts) return 0
  for (const name of schemaNames)
    if (soukCounts.attestations[`schema${name}`] !== sum[name])
      problems.push(`Schema ${name}: the server counts ${String(soukCounts.attestations[`schema${name}`])}, the chains have ${sum[name]}`)
  if (problems.length > 0)
    return printProblems([
      ...problems,
      ...(from === undefined ? [] : [`Attestations before block ${from} were skipped (--from), but the server may have counted them`]),
      'If a wallet was added recently, the server may still be reading older blocks: try again later',
    ])
  print(`${soukCounts.host} has the same counts`)
  return 0
}

function printProblems(problems: readonly string[]): number {
  process.stderr.write(problems.map((problem) => `FAIL  ${problem}\n`).join(''))
  return failureStatus
}

function readRegistryFile(file: string) {
  const stats = statSync(file)
  if (!stats.isFile() || stats.size > fileMaxBytes) throw new OperatorError(`${file} must be a file of at most 256 MB`)
  return readRegistry(readFileSync(file, 'utf8'))
}

function parseBaseUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  if (!isWebUrl(text)) throw new UsageError('--against must be the http or https URL of a souk server')
  return new URL(text).href.replace(/\/+$/, '')
}

/** Returns the chains to count: those of --rpc, identified by their nodes, or of CHAINS; all or only --chain. */
async function targetsOf(input: Input): Promise<Target[]> {
  const urls = rpcUrlsOf(input)
  const contract = contractOf(input)
  const only = integerFlag(input.values, 'chain', 1)
  const all = urls
    ? [...(await groupByChain(urls))].map(([chainId, rpc]) => ({ chainId, rpc, ...deploymentOf(chainId, contract) }))
    : input.config().chains.map((chain) => withContract(chain, contract))
  const targets = all.filter(({ chainId }) => only === undefined || chainId === only)
  if (targets.length === 0)
    throw new OperatorError(
      only !== undefined ? `No node is configured for chain ${only}` : 'No node is configured: use --rpc URL, or set CHAINS',
    )
  const single = ['contract', 'from', 'to'].find((flag) => input.values.has(flag))
  if (single !== undefined && targets.length > 1) throw new UsageError(`--${single} needs --chain; use CHAINS for several chains`)
  return targets
}

async function groupByChain(urls: readonly string[]): Promise<Map<number, string[]>> {
  const { connect } = await import('../clients/chain/client.ts')
  const found = new Map<number, string[]>()
  for (const url of urls) {
    const node = connect({ url, safeFetch, now: Date.now })
    const chainId = await node
      .ask((client) => client.getChainId())
      .catch((error: unknown) => {
        throw error instanceof NodeError ? new OperatorError(`${node.host}: ${error.report}`) : error
      })
    found.set(chainId, [...(found.get(chainId) ?? []), url])
  }
  return found
}

/** Returns differences that make counting pointless. */
function findDifferences(serverCounts: SoukCounts, hash: string, targets: readonly Target[]): string[] {
  const problems: string[] = []
  if (serverCounts.registryHash !== hash) problems.push(`The server uses the registry ${serverCounts.registryHash}: export it again`)
  for (const { chainId, contract, schemas } of serverCounts.chains) {
    const target = targets.find((one) => one.chainId === chainId)
    if (!target) problems.push(`The server also counts chain ${chainId}, for which no node is configured: its counts include all chains`)
    else if (target.contract !== contract.toLowerCase())
      problems.push(`Chain ${chainId}: the server reads EAS at ${contract}, this command at ${withChecksum(target.contract)}`)
    if (schemaNames.some((name) => schemas[name] !== schemaUids[name])) problems.push(`Chain ${chainId}: the server counts other schemas`)
  }
  for (const { chainId } of targets)
    if (!serverCounts.chains.some((chain) => chain.chainId === chainId))
      problems.push(`The server doesn't count chain ${chainId}: leave it out`)
  return problems
}

/** Fetches the proof and the statistics of a souk for one moment. */
async function fetchSoukCounts(base: string): Promise<SoukCounts> {
  const proof = () => fetchJson(base, '/v2/trust-fabric/proof')
  let before = await proof()
  for (let tries = 0; tries < soukTries; tries++) {
    const stats = await fetchJson(base, '/v2/trust-fabric/stats')
    const after = await proof()
    const { registryHash, chains } = after
    if (before['registryHash'] === registryHash && JSON.stringify(before['chains']) === JSON.stringify(chains))
      return parseSoukCounts(base, after, stats)
    before = after
  }
  throw new OperatorError(`${new URL(base).host} changes its counts too fast to compare. Try again`)
}

async function fetchJson(base: string, path: string): Promise<Record<string, unknown>> {
  const { host } = new URL(base)
  try {
    const { status, bytes } = await safeFetch(`${base}${path}`, {
      timeoutMs,
      bytesMax: answerMaxBytes,
      trusted: true,
      headers: { 'cache-control': 'no-cache' },
    })
    if (status !== 200) throw new OperatorError(`${host}${path} returned status ${status}`)
    const answer: unknown = JSON.parse(new TextDecoder().decode(bytes))
    if (isRecord(answer)) return answer
  } catch (error) {
    if (error instanceof OperatorError) throw error
    if (error instanceof OutgoingError) throw new OperatorError(`No answer from ${host}${path}: ${error.message}`)
  }
  throw new OperatorError(`${host}${path} didn't return a JSON object`)
}

function parseSoukCounts(
  base: string,
  { registryHash, chains }: Record<string, unknown>,
  { attestations }: Record<string, unknown>,
): SoukCounts {
  if (typeof registryHash === 'string' && Array.isArray(chains) && chains.every(isChain) && isRecord(attestations))
    return {
      host: new URL(base).host,
      registryHash,
      chains: chains as SoukCounts['chains'],
      attestations: attestations as SoukCounts['attestations'],
    }
  throw new OperatorError(`${new URL(base).host} didn't return a valid proof`)
}

function isChain(value: unknown): boolean {
  if (!isRecord(value)) return false
  const { chainId, contract, schemas, countedTo } = value
  const isBlock =
    countedTo === null || (isRecord(countedTo) && Number.isSafeInteger(countedTo['number']) && typeof countedTo['hash'] === 'string')
  return Number.isSafeInteger(chainId) && typeof contract === 'string' && isRecord(schemas) && isBlock
}
