/** A real node of Ethereum, of the test alone: anvil on a free port. */
import { describe } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

type Hex = `0x${string}`

const platforms: Readonly<Record<string, string>> = { linux: 'linux', darwin: 'darwin', win32: 'win32' }
const processors: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }
/** Not its starter in JavaScript, which would outlive being killed. */
const binary = join(
  import.meta.dir,
  '../../../node_modules/@foundry-rs',
  `anvil-${platforms[process.platform]}-${processors[process.arch]}`,
  process.platform === 'win32' ? 'bin/anvil.exe' : 'bin/anvil',
)

/** Why there is none; undefined when there is. */
export const whyNoAnvil = existsSync(binary) ? undefined : `@foundry-rs/anvil has no binary for ${process.platform} on ${process.arch}`

/** Tests that need a node; where there is none they say so, and are skipped. */
export function describeChain(name: string, tests: () => void): void {
  if (whyNoAnvil !== undefined) process.stderr.write(`skipped: ${name} (${whyNoAnvil})\n`)
  describe.skipIf(whyNoAnvil !== undefined)(name, tests)
}

export type Anvil = Awaited<ReturnType<typeof startAnvil>>

/** What a node said no to. */
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
  /** Seconds from block to block; by default blocks are mined when the test says so. */
  blockTime?: number
  /** `finalized` is two of these behind the head. */
  slotsInAnEpoch?: number
}

/** Whoever is named as sender may send, whatever they have: nothing needs a key, and nothing costs. */
export async function startAnvil({ chainId = 31_337, blockTime, slotsInAnEpoch = 1 }: AnvilOptions = {}) {
  const mining = blockTime === undefined ? ['--no-mining'] : ['--block-time', String(blockTime)]
  const free = ['--auto-impersonate', '--disable-block-gas-limit', '--block-base-fee-per-gas', '0', '--disable-pool-balance-checks']
  const options = ['--port', '0', '--chain-id', String(chainId), '--slots-in-an-epoch', String(slotsInAnEpoch), ...mining, ...free]
  const child = Bun.spawn([binary, ...options], { stdout: 'pipe', stderr: 'inherit', env: { HOME: '/nonexistent' } })
  const url = await listening(child.stdout)

  async function post(body: unknown): Promise<unknown> {
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    return response.json()
  }

  /** Several calls at once; their answers in the same order. */
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
    /** The newest block, or one by its number. */
    block: async (number?: number) => {
      const tag = number === undefined ? 'latest' : hexOf(number)
      const block = await rpc<{ number: Hex; hash: Hex; timestamp: Hex; parentHash: Hex }>('eth_getBlockByNumber', tag, false)
      return { number: Number(block.number), hash: block.hash, at: Number(block.timestamp), parentHash: block.parentHash }
    },
    /** @param seconds from one to the next, where more are mined */
    mine: (blocks = 1, seconds = 1) => rpc('anvil_mine', hexOf(blocks), hexOf(seconds)),
    /** From now on a transaction is in a block of its own as soon as it is sent. */
    mineAtOnce: () => rpc('evm_setAutomine', true),
    /** When the next block is, in seconds. Later ones go on from there. */
    nextBlockAt: (seconds: number) => rpc('evm_setNextBlockTimestamp', hexOf(seconds)),
    snapshot: () => rpc<Hex>('evm_snapshot'),
    /** Back to it; it is used up. */
    revert: (snapshot: Hex) => rpc<boolean>('evm_revert', snapshot),
    /** So many of the newest blocks are others now: empty ones, but for transactions given with the place, from 0, of their block. */
    reorg: (depth: number, transactions: readonly (readonly [transaction: unknown, at: number])[] = []) =>
      rpc('anvil_reorg', depth, transactions),
    /** It is there and says nothing. */
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

/** Its URL, once it listens. What it prints later, a line a call, is read and dropped: a full pipe would stop it. */
async function listening(stream: ReadableStream<Uint8Array>): Promise<string> {
  const reader = stream.getReader()
  const decoder = new TextDecoder()
  let told = ''
  for (;;) {
    const { value, done } = await reader.read()
    if (done) throw new Error(`anvil ended: ${told}`)
    told += decoder.decode(value, { stream: true })
    const [, address] = /Listening on ([\d.:]+)\n/.exec(told) ?? []
    if (address === undefined) continue
    void (async () => {
      while (!(await reader.read()).done);
    })()
    return `http://${address}`
  }
}
