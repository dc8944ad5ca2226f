/** Reads blocks, logs and contracts of a node in batches. Loads viem: import this by `await import()`. */
import { numberToHex } from 'viem'
import { type BlockHeader, type BlockTag, type ChainLog, type ChainNode, type LogFilter, NodeError } from '../../core/chain.ts'
import { attestedTopic, revokedTopic } from '../../lib/eas.ts'
import { headerOf, logReader, numberOf, topicOf } from './answers.ts'
import { missedBlocksOf } from './bloom.ts'
import { createClient, failureIn, type NodeSettings } from './client.ts'
import { failureOf, mayBeTooMuch, Refusal } from './failures.ts'

/** Logs decoded per turn on the main thread. */
const logsPerTurn = 100
/** How long a node gets smaller batches after it refused one. */
const smallBatchesMs = 60 * 60_000

/**
 * Not viem's `getBlock`, which merges equal requests, nor `getLogs`, which ignores arguments for several events.
 */
type Request = { readonly method: string; readonly params: readonly unknown[] }
type RpcSchema = { readonly Method: string; readonly Parameters: readonly unknown[]; readonly ReturnType: unknown }

/** Creates a reader of one node. Every query reads the chain id too, because a URL may lead to another node later. */
export function createReader({ chainId, ...settings }: NodeSettings): ChainNode['ask'] {
  const { url, now } = settings
  let batches = { max: Number.POSITIVE_INFINITY, until: 0 }

  /**
   * Sends requests in batches of `size`, one after the other: a header and its logs come from one node if they are in
   * one batch.
   * @returns a value or a Refusal per request; a Refusal alone if the node refused a whole batch
   * @throws NodeError
   */
  async function send(requests: readonly Request[], size: number): Promise<{ results: unknown[]; bytes: number } | Refusal> {
    const results: unknown[] = []
    let bytes = 0
    for (let at = 0; at < requests.length; at += size) {
      const batch = requests.slice(at, at + size)
      const client = createClient(settings, batch.length > 1, (length) => {
        bytes += length
      })
      const answers = await Promise.all(
        batch.map((request) =>
          client
            .request<RpcSchema>(request)
            .catch((error: unknown) => failureIn(error) ?? new NodeError('FAULT', 'its answer is not valid')),
        ),
      )
      for (const answer of answers) if (answer instanceof NodeError) throw answer
      if (batch.length > 1 && answers[0] instanceof Refusal && answers.every((answer) => answer instanceof Refusal)) return answers[0]
      results.push(...answers)
    }
    return { results, bytes }
  }

  /** @throws NodeError if the node refused the request */
  function valueIn(result: unknown, blockCount?: number): unknown {
    if (result instanceof Refusal) throw failureOf(result.response, blockCount, url)
    return result
  }

  /** Returns undefined for a block that the node does not have, which some nodes report as an error. */
  function headerAt(result: unknown, block: BlockTag): BlockHeader | undefined {
    if (result instanceof Refusal && failureOf(result.response, undefined, url).kind === 'BEHIND') return undefined
    const value = valueIn(result)
    return value === null || value === undefined ? undefined : headerOf(value, block)
  }

  /** A reverted call returns undefined. Any other failure fails the batch. */
  function callResultOf(result: unknown): string | undefined {
    if (result instanceof Refusal && (result.response.code === 3 || /revert/i.test(result.message))) return undefined
    const data = valueIn(result)
    return typeof data === 'string' && /^0x(?:[0-9a-f]{2})*$/i.test(data) ? data.toLowerCase() : undefined
  }

  return async ({ blocks, logs, calls = [] }, scheduler) => {
    const blockCount = logs && logs.to - logs.from + 1
    const requests: Request[] = [
      { method: 'eth_chainId', params: [] },
      ...blocks.map(headerRequest),
      // The header is read before and after the logs.
      ...(logs ? [logsRequest(logs), headerRequest(logs.to)] : []),
      ...calls.map(({ to, data }): Request => ({ method: 'eth_call', params: [{ to, data }, 'latest'] })),
    ]
    let size = now() < batches.until ? Math.min(batches.max, requests.length) : requests.length
    let sent = await send(requests, size)
    while (sent instanceof Refusal) {
      const failure = failureOf(sent.response, blockCount, url)
      // Reduces the larger one first: the range of blocks or the batch.
      const isRange = blockCount !== undefined && (blockCount > size || failure.hint.blocks !== undefined)
      if (isRange || failure.kind === 'RATE_LIMITED' || failure.kind === 'BEHIND' || !mayBeTooMuch(sent.response)) throw failure
      size = size >> 1
      sent = await send(requests, size)
    }
    if (size < requests.length) batches = { max: size, until: now() + smallBatchesMs }
    const {
      bytes,
      results: [idResult, ...results],
    } = sent
    const id = numberOf(valueIn(idResult, blockCount), 'no chain id')
    if (id !== chainId)
      throw new NodeError('FAULT', `it is a node of chain ${id}`, {
        advice: `CHAINS names it for chain ${chainId}: correct its URL or the chain's id`,
      })
    const rest = results.slice(blocks.length)
    const logResult = logs && valueIn(rest[0], blockCount)
    const lacksFinality = blocks.some((block, nth) => block === 'finalized' && isUnknownTag(results[nth]))
    const headers = blocks.map((block, nth) => (block === 'finalized' && lacksFinality ? undefined : headerAt(results[nth], block)))
    if (!logs) return { headers, lacksFinality, logs: [], missedBlocks: [], results: rest.map(callResultOf), bytes }
    const before = headers[blocks.indexOf(logs.to)]
    const after = headerAt(rest[1], logs.to)
    if (!after) throw new NodeError('BEHIND', 'it does not have the blocks yet')
    if (before && before.hash !== after.hash) throw new NodeError('BEHIND', 'its chain changed while it was asked')
    const read = await readLogs(logResult, logs, scheduler)
    return { headers, lacksFinality, logs: read, missedBlocks: missedBlocksOf(headers, logs, read), results: [], bytes }
  }
}

const headerRequest = (block: BlockTag): Request => ({
  method: 'eth_getBlockByNumber',
  params: [typeof block === 'number' ? numberToHex(block) : block, false],
})

function logsRequest({ contract, schemaUids, attesters, from, to }: LogFilter): Request {
  const topics = [[attestedTopic, revokedTopic], null, attesters?.map(topicOf) ?? null, schemaUids]
  const filter = { address: contract, fromBlock: numberToHex(from), toBlock: numberToHex(to), topics }
  return { method: 'eth_getLogs', params: [filter] }
}

async function readLogs(list: unknown, filter: LogFilter, scheduler: Parameters<ChainNode['ask']>[1]): Promise<ChainLog[]> {
  if (!Array.isArray(list)) throw new NodeError('FAULT', 'its answer is not valid: logs that are no list')
  const read = logReader(filter)
  const logs: ChainLog[] = []
  const turn = await scheduler.enter()
  try {
    for (const log of list as unknown[]) {
      logs.push(read(log))
      if (logs.length % logsPerTurn === 0) await turn.rest()
    }
    return logs
  } finally {
    turn.leave()
  }
}

const invalidParams = -32_602
const tagWords = /\b(?:tag|hex string|arguments?|param(?:eter)?s?|invalid block)\b/i

/** Returns whether the node does not know the tag `finalized`, rather than lacking the block or failing once. */
const isUnknownTag = (result: unknown): boolean =>
  result instanceof Refusal &&
  failureOf(result.response, undefined).kind === 'FAULT' &&
  !/not found/i.test(result.message) &&
  (result.response.code === invalidParams || tagWords.test(result.message))
