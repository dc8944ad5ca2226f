/**
 * An Ethereum node with an invented chain that answers a sync like anvil 1.7: blocks with attestations by one wallet.
 * Anvil makes some thousand attestations a second and responds slower than souk reads.
 */
import { attestedTopic, schemaUids } from '../src/lib/eas.ts'

export const benchWallet = `0x${'b2'.repeat(20)}`
export const benchContract = `0x${'ea'.repeat(20)}`
const firstBlockAt = 1_700_000_000

const hex = (value: number) => `0x${value.toString(16)}`
const hash = (seed: string) => `0x${new Bun.CryptoHasher('sha256').update(seed).digest('hex')}`

function logOf(block: number, nth: number): string {
  const topics = [attestedTopic, `0x${'0'.repeat(64)}`, `0x${'0'.repeat(24)}${benchWallet.slice(2)}`, schemaUids.B]
  return JSON.stringify({
    address: benchContract,
    topics,
    data: hash(`attestation ${block} ${nth}`),
    blockHash: hash(`block ${block}`),
    blockNumber: hex(block),
    blockTimestamp: hex(firstBlockAt + 12 * block),
    transactionHash: hash(`transaction ${block} ${Math.floor(nth / 50)}`),
    transactionIndex: hex(Math.floor(nth / 50)),
    logIndex: hex(nth),
    removed: false,
  })
}

function headerOf(block: number, transactions: number): string {
  return JSON.stringify({
    hash: hash(`block ${block}`),
    parentHash: hash(`block ${block - 1}`),
    sha3Uncles: hash('uncles'),
    miner: `0x${'0'.repeat(40)}`,
    stateRoot: hash('state'),
    transactionsRoot: hash('transactions'),
    receiptsRoot: hash('receipts'),
    logsBloom: `0x${'00'.repeat(256)}`,
    difficulty: '0x0',
    number: hex(block),
    gasLimit: '0x1c9c380',
    gasUsed: '0x0',
    timestamp: hex(firstBlockAt + 12 * block),
    extraData: '0x',
    mixHash: hash('mix'),
    nonce: '0x0000000000000000',
    baseFeePerGas: '0x0',
    totalDifficulty: '0x0',
    size: '0x27f',
    uncles: [],
    transactions: Array.from({ length: transactions }, (_, nth) => hash(`transaction ${block} ${nth}`)),
  })
}

if (import.meta.main) {
  const [blocks = 0, logs = 0] = Bun.argv.slice(2).map(Number)
  const head = blocks + 2
  /** The last finalized block: 0 at first, then set by `GET /final/N`. */
  let final = 0
  const headers = Array.from({ length: head + 1 }, (_, block) => headerOf(block, block > 0 && block <= blocks ? Math.ceil(logs / 50) : 0))
  const texts = Array.from({ length: head + 1 }, (_, block) =>
    block > 0 && block <= blocks ? Buffer.from(Array.from({ length: logs }, (_, nth) => logOf(block, nth)).join()) : undefined,
  )
  const blockOf = (tag: string) => (tag === 'latest' ? head : tag === 'finalized' ? final : Number(tag))
  const answerOf = ({ id, method, params }: { id: number; method: string; params: [never, never] }): Uint8Array[] => {
    const wrapResult = (pieces: readonly (string | Uint8Array)[]) =>
      [`{"jsonrpc":"2.0","id":${id},"result":`, ...pieces, '}'].map((piece) => Buffer.from(piece as string))
    if (method === 'eth_chainId') return wrapResult(['"0x7a69"'])
    if (method === 'eth_getBlockByNumber') return wrapResult([headers[blockOf(params[0])] ?? 'null'])
    const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string }
    const found = texts.slice(Number(fromBlock), Number(toBlock) + 1).flatMap((text) => (text ? [text] : []))
    return wrapResult(['[', ...found.flatMap((text, nth) => (nth === 0 ? [text] : [',', text])), ']'])
  }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const [, finalBlock] = /\/final\/(\d+)$/.exec(request.url) ?? []
      if (finalBlock !== undefined) {
        final = Number(finalBlock)
        return new Response()
      }
      const calls = (await request.json()) as Parameters<typeof answerOf>[0][]
      const pieces = calls.flatMap((call, nth) => [Buffer.from(nth === 0 ? '[' : ','), ...answerOf(call)])
      return new Response(Buffer.concat([...pieces, Buffer.from(']')]), { headers: { 'content-type': 'application/json' } })
    },
  })
  process.stdout.write(`http://127.0.0.1:${server.port}\n`)
}
