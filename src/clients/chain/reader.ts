/** Reads blocks, logs and contracts of a node in batches. Loads viem: import this by `await import()`. */
import { type Hex, numberToHex } from 'viem'
import {
  type BlockHeader,
  type BlockTag,
  type ChainLog,
  type ChainNode,
  type LogFilter,
  NodeError,
  type NodeQuery,
} from '../../core/chain.ts'
import type { ScheduledWork } from '../../core/limits/scheduler.ts'
import { attestedTopic, revokedTopic } from '../../lib/eas.ts'
import { headerOf, logReader, numberOf, topicOf } from './answers.ts'
import { missedBlocksOf } from './bloom.ts'
import { type ChainClient, createClient, type NodeSettings, nodeErrorIn, refusalIn } from './client.ts'
import { failureOf, mayBeTooMuch, type Refusal } from './failures.ts'

/** Logs decoded per turn on the main thread. */
const logsPerTurn = 100
/** How long a node gets smaller batches after it refused one. */
const smallBatchesMs = 60 * 60_000

type Request = (client: ChainClient) => Promise<unknown>
type Result = PromiseSettledResult<unknown>

/** A node refused a batch, for its size or its content. */
class BatchRefused extends Error {
  constructor(readonly refusal: Refusal) {
    super('the node refused a batch')
  }
}

/** Creates a reader of one node. Every query reads the chain id too, because a URL may lead to another node later. */
export function createReader({ chainId, ...settings }: NodeSettings): ChainNode['ask'] {
  const { url, now } = settings
  let batches = { max: Number.POSITIVE_INFINITY, until: 0 }

  /**
   * Sends requests in batches of `size`, one after the other: a header and its logs come from one node if they are in
   * one batch.
   */
  async function send(requests: readonly Request[], size: number, pace: Parameters<ChainNode['ask']>[1]) {
    const results: Result[] = []
    let bytes = 0
    for (let at = 0; at < requests.length; at += size) {
      const chunk = requests.slice(at, at + size)
      let turn: ScheduledWork | undefined
      const arrived = async (length: number) => {
        bytes += length
        const entered = await pace.enter()
        turn = entered
        return () => entered.rest()
      }
      const client = createClient(settings, { batch: chunk.length > 1, arrived })
      const settled = await Promise.allSettled(chunk.map((request) => request(client))).finally(() => turn?.leave())
      const refusals = settled.map((result) => (result.status === 'rejected' ? refusalIn(result.reason) : undefined))
      const unanswered = settled.find((result, nth) => result.status === 'rejected' && !refusals[nth])
      if (unanswered?.status === 'rejected' && nodeErrorIn(unanswered.reason, url)) throw nodeErrorIn(unanswered.reason, url)
      if (chunk.length > 1 && refusals[0] && refusals.every(Boolean)) throw new BatchRefused(refusals[0])
      results.push(...settled)
    }
    return { results, bytes }
  }

  return async (query, pace) => {
    const { blocks, logs, calls = [] } = query
    const blockCount = logs && logs.to - logs.from + 1
    const requests: Request[] = [
      (client) => client.request<{ Method: 'eth_chainId'; Parameters: []; ReturnType: Hex }>({ method: 'eth_chainId', params: [] }),
      ...blocks.map(headerRequest),
      ...(logs ? [logsRequest(logs), headerRequest(logs.to)] : []),
      ...calls.map(
        ({ to, data }): Request =>
          (client) =>
            client.call({ to: to as Hex, data: data as Hex }),
      ),
    ]
    for (let size = now() < batches.until ? Math.min(batches.max, requests.length) : requests.length; ; size = size >> 1) {
      try {
        const { results, bytes } = await send(requests, size, pace)
        if (size < requests.length) batches = { max: size, until: now() + smallBatchesMs }
        const id = numberOf(resultValue(results[0], blockCount, url), 'no chain id')
        if (id !== chainId)
          throw new NodeError('FAULT', `it is a node of chain ${id}`, {
            advice: `CHAINS names it for chain ${chainId}: correct its URL or the chain's id`,
          })
        return { ...(await answerOf(query, results.slice(1), pace, url)), bytes }
      } catch (error) {
        if (!(error instanceof BatchRefused)) throw error
        const failure = failureOf(error.refusal, blockCount, url)
        // Reduces the larger one first: the range of blocks or the batch.
        const isRange = blockCount !== undefined && (blockCount > size || failure.hint.blocks !== undefined)
        if (isRange || failure.kind === 'RATE_LIMITED' || failure.kind === 'BEHIND' || !mayBeTooMuch(error.refusal)) throw failure
      }
    }
  }
}

/** Not viem's `getBlock`, which merges equal requests. The header is read before and after the logs. */
const headerRequest =
  (block: BlockTag): Request =>
  (client) =>
    client.request({ method: 'eth_getBlockByNumber', params: [typeof block === 'number' ? numberToHex(block) : block, false] })

/** By topics, since viem's `getLogs` ignores arguments for several events. */
const logsRequest =
  ({ contract, schemaUids, attesters, from, to }: LogFilter): Request =>
  (client) =>
    client.request({
      method: 'eth_getLogs',
      params: [
        {
          address: contract as Hex,
          fromBlock: numberToHex(from),
          toBlock: numberToHex(to),
          topics: [[attestedTopic, revokedTopic], null, attesters?.map(topicOf) ?? null, schemaUids as Hex[]],
        },
      ],
    })

async function answerOf(
  { blocks, logs, calls = [] }: NodeQuery,
  results: readonly Result[],
  pace: Parameters<ChainNode['ask']>[1],
  url: string,
) {
  let lacksFinality = false
  const logResult = logs && resultValue(results[blocks.length], logs.to - logs.from + 1, url)
  const headers = blocks.map((block, nth): BlockHeader | undefined => {
    if (block === 'finalized' && isUnknownTag(results[nth])) lacksFinality = true
    else return headerAt(results[nth], block, url)
    return undefined
  })
  if (!logs) {
    const views = calls.map((_, nth) => viewOf(results[blocks.length + nth], url))
    return { headers, lacksFinality, logs: [], missedBlocks: [], results: views }
  }
  const before = headers[blocks.indexOf(logs.to)]
  const after = headerAt(results[blocks.length + 1], logs.to, url)
  if (!after) throw new NodeError('BEHIND', 'it does not have the blocks yet')
  if (before && before.hash !== after.hash) throw new NodeError('BEHIND', 'its chain changed while it was asked')
  if (!Array.isArray(logResult)) throw new NodeError('FAULT', 'it answered what was not asked for: logs that are no list')
  const read = logReader(logs)
  const checked: ChainLog[] = []
  const turn = await pace.enter()
  try {
    for (const log of logResult as unknown[]) {
      checked.push(read(log))
      if (checked.length % logsPerTurn === 0) await turn.rest()
    }
    return { headers, lacksFinality, logs: checked, missedBlocks: missedBlocksOf(headers, logs, checked), results: [] }
  } finally {
    turn.leave()
  }
}

/** @throws NodeError if the node returned an error */
function resultValue(result: Result | undefined, blockCount: number | undefined, url: string): unknown {
  if (result?.status === 'fulfilled') return result.value
  const refusal = refusalIn(result?.reason)
  throw refusal ? failureOf(refusal, blockCount, url) : new NodeError('FAULT', 'it answered what was not asked for')
}

/** Returns undefined for a block that the node does not have, which some nodes report as an error. */
function headerAt(result: Result | undefined, block: BlockTag, url: string): BlockHeader | undefined {
  try {
    const value = resultValue(result, undefined, url)
    return value === null || value === undefined ? undefined : headerOf(value, block)
  } catch (error) {
    if (error instanceof NodeError && error.kind === 'BEHIND') return undefined
    throw error
  }
}

const invalidParams = -32_602
const tagWords = /\b(?:tag|hex string|arguments?|param(?:eter)?s?|invalid block)\b/i

/** Returns whether the node does not know the tag `finalized`, rather than lacking the block or failing once. */
function isUnknownTag(result: Result | undefined): boolean {
  const refusal = result?.status === 'rejected' ? refusalIn(result.reason) : undefined
  if (!refusal || failureOf(refusal, undefined).kind !== 'FAULT' || /not found/i.test(refusal.message)) return false
  return refusal.code === invalidParams || tagWords.test(refusal.message)
}

/** A reverted call returns undefined. Any other failure fails the batch. @throws NodeError */
function viewOf(result: Result | undefined, url: string): string | undefined {
  const refusal = result?.status === 'rejected' ? refusalIn(result.reason) : undefined
  if (refusal && (refusal.code === 3 || /revert/i.test(refusal.message))) return undefined
  const { data } = resultValue(result, undefined, url) as { readonly data?: unknown }
  return typeof data === 'string' && /^0x(?:[0-9a-f]{2})*$/i.test(data) ? data.toLowerCase() : undefined
}
