/** A real Ethereum node for one test: anvil on a free port. */
import { describe } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

type Hex = `0x${string}`

const platforms: Readonly<Record<string, string>> = { linux: 'linux', darwin: 'darwin', win32: 'win32' }
const processors: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }
/** The binary itself. A kill of its JavaScript launcher would leave the node running. */
const binary = join(
  import.meta.dir,
  '../../../node_modules/@foundry-rs',
  `anvil-${platforms[process.platform]}-${processors[process.arch]}`,
  process.platform === 'win32' ? 'bin/anvil.exe' : 'bin/anvil',
)

/** Why anvil is not available; undefined if it is. */
export const whyNoAnvil = existsSync(binary) ? undefined : `@foundry-rs/anvil has no binary for ${process.platform} on ${process.arch}`

/** Defines tests that need a node. Without one they are skipped, with a message. */
export function describeChain(name: string, tests: () => void): void {
  if (whyNoAnvil !== undefined) process.stderr.write(`skipped: ${name} (${whyNoAnvil})\n`)
  describe.skipIf(whyNoAnvil !== undefined)(name, tests)
}

export type Anvil = Awaited<ReturnType<typeof startAnvil>>

/** An error response of the node. */
export class RpcError extends Error {
  constructor(
    message: string,
    readonly code: number,
    readonly data: unknown,
  ) {
    super(message)
  }
}

type AnvilOptions = {
  chainId?: number
  /** Seconds between blocks; by default the test mines each block. */
  blockTime?: number
  /** Slots per epoch. The `finalized` block is two epochs behind the head. */
  slotsInAnEpoch?: number
}

/** Starts a node on which every address can send transactions, without a key and without gas costs. */
export async function startAnvil({ chainId = 31_337, blockTime, slotsInAnEpoch = 1 }: AnvilOptions = {}) {
  const mining = blockTime === undefined ? ['--no-mining'] : ['--block-time', String(blockTime)]
  const free = ['--auto-impersonate', '--disable-block-gas-limit', '--block-base-fee-per-gas', '0', '--disable-pool-balance-checks']
  const options = ['--port', '0', '--chain-id', String(chainId), '--slots-in-an-epoch', String(slotsInAnEpoch), ...mining, ...free]
  const child = Bun.spawn([binary, ...options], { stdout: 'pipe', stderr: 'inherit', env: { HOME: '/nonexistent' } })
  const url = await listeningUrl(child.stdout)

  async function post(body: unknown): Promise<unknown> {
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    return response.json()
  }

  /** Sends several calls in one batch. Returns the results in the same order. */
  async function batch<T = unknown>(calls: readonly (readonly [method: string, params: readonly unknown[]])[]): Promise<T[]> {
    if (calls.length === 0) return []
    const answers = (await post(calls.map(([method, params], id) => ({ jsonrpc: '2.0', id, method, params })))) as Answer[]
    return answers.toSorted((one, other) => one.id - other.id).map((answer) => resultOf(answer) as T)
  }

  const rpc = async <T = unknown>(method: string, ...params: unknown[]): Promise<T> =>
    resultOf((await post({ jsonrpc: '2.0', id: 1, method, params })) as Answer) as T

  return {
    url,
    chainId,
    pid: child.pid,
    rpc,
    batch,
    /** Returns the newest block, or the block of this number. */
    block: async (number?: number) => {
      const tag = number === undefined ? 'latest' : hexOf(number)
      const block = await rpc<{ number: Hex; hash: Hex; timestamp: Hex; parentHash: Hex }>('eth_getBlockByNumber', tag, false)
      return { number: Number(block.number), hash: block.hash, at: Number(block.timestamp), parentHash: block.parentHash }
    },
    /** Mines blocks. @param seconds between two of them */
    mine: (blocks = 1, seconds = 1) => rpc('anvil_mine', hexOf(blocks), hexOf(seconds)),
    /** Mines a block for each transaction from now on. */
    mineAtOnce: () => rpc('evm_setAutomine', true),
    /** Sets the time of the next block, in seconds. Later blocks continue from it. */
    nextBlockAt: (seconds: number) => rpc('evm_setNextBlockTimestamp', hexOf(seconds)),
    snapshot: () => rpc<Hex>('evm_snapshot'),
    /** Restores a snapshot, which can be used once. */
    revert: (snapshot: Hex) => rpc<boolean>('evm_revert', snapshot),
    /**
     * Replaces the newest `depth` blocks by empty ones. Each transaction goes into the new block of its index, from 0.
     */
    reorg: (depth: number, transactions: readonly (readonly [transaction: unknown, at: number])[] = []) =>
      rpc('anvil_reorg', depth, transactions),
    /** Suspends the node: it accepts connections and does not respond. */
    hang: () => void process.kill(child.pid, 'SIGSTOP'),
    wake: () => void process.kill(child.pid, 'SIGCONT'),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}

type Answer = { id: number; result?: unknown; error?: { code: number; message: string; data?: unknown } }

function resultOf({ result, error }: Answer): unknown {
  if (error) throw new RpcError(error.message, error.code, error.data)
  return result
}

export const hexOf = (value: number | bigint): Hex => `0x${value.toString(16)}`

/** Returns the node's URL once it listens. Drains later output, because a full pipe would block the node. */
async function listeningUrl(stream: ReadableStream<Uint8Array>): Promise<string> {
  const reader = stream.getReader()
  const decoder = new TextDecoder()
  let output = ''
  for (;;) {
    const { value, done } = await reader.read()
    if (done) throw new Error(`anvil ended: ${output}`)
    output += decoder.decode(value, { stream: true })
    const [, address] = /Listening on ([\d.:]+)\n/.exec(output) ?? []
    if (address === undefined) continue
    void (async () => {
      while (!(await reader.read()).done);
    })()
    return `http://${address}`
  }
}
