import type { Connection } from '../clients/chain/client.ts'
import { createSafeFetch } from '../clients/safe-fetch.ts'
import { NodeError } from '../core/chain.ts'
import { OperatorError } from '../core/errors.ts'
import { type ChainSetting, deployments, isWebUrl } from '../lib/chain-settings.ts'
import { readAddress } from '../lib/evm.ts'
import type { Input } from './command.ts'
import { integerFlag, UsageError } from './failure.ts'

/** A chain and its nodes, from the settings or the command line. */
export type Target = Omit<ChainSetting, 'confirmations'>

/** For commands without an instance: the operator chose the addresses. */
export const safeFetch = createSafeFetch({ allowedNetworks: [] })

/** Writes a line to standard output and adds its line end. */
export const print = (line: string): void => void process.stdout.write(`${line}\n`)

/**
 * Returns the URLs of --rpc: one per chain, or all of one chain.
 * @throws UsageError
 */
export function rpcUrlsOf({ values }: Pick<Input, 'values'>): string[] | undefined {
  const urls = values
    .get('rpc')
    ?.split(',')
    .map((url) => url.trim())
  if (urls?.some((url) => !isWebUrl(url))) throw new UsageError('--rpc must be http or https URLs without user names, separated by commas')
  return urls
}

/**
 * Returns the address of --contract.
 * @throws UsageError
 */
export function contractOf({ values }: Pick<Input, 'values'>): string | undefined {
  const text = values.get('contract')
  if (text === undefined) return undefined
  const read = readAddress(text)
  if ('wrong' in read) throw new UsageError(`--contract must ${read.wrong}`)
  return read.address
}

/**
 * Returns the chain of --chain with the nodes of --rpc or CHAINS.
 * @throws UsageError, OperatorError
 */
export function targetOf(input: Pick<Input, 'values' | 'config'>): Target {
  const chainId = integerFlag(input.values, 'chain', 1)
  if (chainId === undefined) throw new UsageError('--chain is missing: the chain id, such as 8453')
  const rpc = rpcUrlsOf(input)
  const contract = contractOf(input)
  if (rpc) return { chainId, rpc, ...deploymentOf(chainId, contract) }
  const configured = input.config().chains.find((chain) => chain.chainId === chainId)
  if (!configured) throw new OperatorError(`CHAINS doesn't include chain ${chainId}: add it, or use --rpc URL`)
  return withContract(configured, contract)
}

/** Returns the chain with another contract, if one is given, which may be older than the configured one. */
export const withContract = (chain: Target, contract = chain.contract): Target =>
  contract === chain.contract ? chain : { ...chain, contract, startBlock: 0 }

/**
 * Returns where EAS is deployed on a chain and its first block.
 * @throws OperatorError if unknown
 */
export function deploymentOf(chainId: number, contract: string | undefined): Pick<Target, 'contract' | 'startBlock'> {
  const deployment = deployments.get(chainId)
  const address = contract ?? deployment?.contract
  if (address === undefined)
    throw new OperatorError(
      `The address of the Ethereum Attestation Service on chain ${chainId} is unknown: use --contract ADDRESS, or set it in CHAINS`,
    )
  return { contract: address, startBlock: address === deployment?.contract ? deployment.startBlock : 0 }
}

/**
 * Returns the first node that responds and belongs to the chain. Nothing is signed before this check.
 * @throws OperatorError if there is none
 */
export async function connectTo({ chainId, rpc }: Pick<Target, 'chainId' | 'rpc'>): Promise<Connection> {
  const { connect } = await import('../clients/chain/client.ts')
  const problems: string[] = []
  for (const url of rpc) {
    const node = connect({ url, safeFetch, now: Date.now })
    try {
      const nodeChainId = await node.ask((client) => client.getChainId())
      if (nodeChainId === chainId) return node
      problems.push(`${node.host}: node of another chain (${nodeChainId})`)
    } catch (error) {
      if (!(error instanceof NodeError)) throw error
      problems.push(`${node.host}: ${error.report}`)
    }
  }
  throw new OperatorError(`No node of chain ${chainId} answers:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
}
