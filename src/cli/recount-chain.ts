/** Counts the attestations of a chain from its logs and a registry of grants only. */
import { createNode } from '../clients/chain/rpc.ts'
import { type BlockHeader, type ChainLog, type ChainNode, type NodeAnswer, NodeError } from '../core/chain.ts'
import { OperatorError } from '../core/errors.ts'
import { type SchemaName, schemaNames, schemaUids } from '../lib/eas.ts'
import {
  allSchemaUids,
  initialRangeSize,
  nextRangeSize,
  type RangeSize,
  rangeSizeAfterRefusal,
} from '../modules/trust/attestation/domain.ts'
import { type Grant, isGranted } from '../modules/trust/fabric/domain.ts'
import { safeFetch, type Target } from './chain-target.ts'

type Counts = Record<SchemaName, number>
type RecountResult = { readonly counts: Counts; readonly from: number; readonly to: BlockHeader; readonly host: string }

export const emptyCounts = (): Counts => ({ A: 0, B: 0, C: 0, D: 0 })

/** Nothing else competes for the nodes. */
const noPause = { enter: async () => ({ rest: async () => false, leave: () => undefined }) }
/** Block headers per request. */
const headersMax = 49
/** Consecutive failures of all nodes before giving up. */
const failuresMax = 6
const waitMs = { least: 500, most: 30_000 }

/** Counts attestations by a registry. Logs may arrive in any order. */
export function createTally(grants: readonly Grant[]) {
  const ofAddress = Map.groupBy(grants, ({ address }) => address)
  const schemaOf = new Map<string, SchemaName>(schemaNames.map((name) => [schemaUids[name], name]))
  const schemaByUid = new Map<string, SchemaName>()
  const revoked = new Set<string>()
  return {
    /** Returns whether a log can affect the counts. */
    concerns: ({ attester }: ChainLog): boolean => ofAddress.has(attester),
    /** @param blockAt the time of its block in milliseconds */
    take({ kind, uid, schemaUid, attester, recipient }: ChainLog, blockAt: number): void {
      const schema = schemaOf.get(schemaUid)
      if (kind === 'REVOKED') revoked.add(uid)
      else if (schema && !(schema === 'D' && attester === recipient) && isGranted(ofAddress.get(attester) ?? [], schema, blockAt))
        schemaByUid.set(uid, schema)
    },
    counts(): Counts {
      const counts = emptyCounts()
      for (const [uid, schema] of schemaByUid) if (!revoked.has(uid)) counts[schema]++
      return counts
    },
  }
}

type Options = {
  /** The last block; undefined for the newest finalized one. */
  readonly to: number | undefined
  /** Called after each range. */
  readonly progress: (from: number, to: number, at: number) => void
}

/**
 * Counts the granted attestations of a chain from its first relevant block.
 * @throws OperatorError if the nodes do not respond or the chain changes meanwhile
 */
export async function recount(target: Target, grants: readonly Grant[], { to: requested, progress }: Options): Promise<RecountResult> {
  const nodes = createNodeRotation(target)
  // Does not wait for a block that no node has.
  const to = await nodes.inTurn((node) => lastBlock(node, requested), requested === undefined ? failuresMax : target.urls.length)
  const tally = createTally(grants)
  const { contract, startBlock } = target
  let reach = initialRangeSize
  for (let from = startBlock; from <= to.number; ) {
    const end = Math.min(to.number, from + reach.blocks - 1)
    const read = await nodes.inTurn((node) => readRange(node, { contract, schemaUids: allSchemaUids, from, to: end }, tally, reach))
    reach = read.reach
    if (!read.isDone) continue
    from = end + 1
    progress(startBlock, to.number, end)
  }
  const after = await nodes.inTurn((node) => lastBlock(node, to.number))
  if (after.hash !== to.hash)
    throw new OperatorError(`${nodes.host()}: block ${to.number} was replaced (reorg). Run it again, or use an older block with --to`)
  return { counts: tally.counts(), from: startBlock, to, host: nodes.host() }
}

async function lastBlock(node: ChainNode, number: number | undefined): Promise<BlockHeader> {
  const { headers, lacksFinality } = await node.ask({ blocks: number === undefined ? ['finalized'] : [number, 'latest'] }, noPause)
  if (lacksFinality) throw new OperatorError(`${node.host} doesn't report finalized blocks: use --to BLOCK`)
  if (!headers[0])
    throw new NodeError(
      'BEHIND',
      number === undefined ? 'no finalized block yet' : `block ${number} is missing: the newest is ${headers[1]?.number ?? 'none'}`,
    )
  return headers[0]
}

type Filter = { contract: string; schemaUids: readonly string[]; from: number; to: number }
type Tally = ReturnType<typeof createTally>

/** Reads a range. If it is too large, the next one is smaller. */
async function readRange(node: ChainNode, filter: Filter, tally: Tally, reach: RangeSize): Promise<{ isDone: boolean; reach: RangeSize }> {
  const blocks = filter.to - filter.from + 1
  const startedAt = performance.now()
  let answer: NodeAnswer
  try {
    answer = await node.ask({ blocks: [], logs: filter }, noPause)
  } catch (error) {
    if (!(error instanceof NodeError) || error.kind !== 'RANGE' || blocks === 1) throw error
    return { isDone: false, reach: rangeSizeAfterRefusal(blocks, error.hint.blocks) }
  }
  const ms = performance.now() - startedAt
  const logs = answer.logs.filter(tally.concerns)
  const times = await readBlockTimes(node, logs)
  // Counts only complete ranges: a failed range is read again.
  for (const log of logs) tally.take(log, times.get(log.blockNumber) ?? 0)
  return { isDone: true, reach: nextRangeSize(reach, { blocks, logs: answer.logs.length, bytes: answer.bytes, ms, isContended: false }) }
}

/** Returns the times of attestations' blocks by their headers, which must match the logs. */
async function readBlockTimes(node: ChainNode, logs: readonly ChainLog[]): Promise<Map<number, number>> {
  const hashes = new Map(logs.filter(({ kind }) => kind === 'ATTESTED').map(({ blockNumber, blockHash }) => [blockNumber, blockHash]))
  const times = new Map<number, number>()
  const numbers = [...hashes.keys()]
  for (let at = 0; at < numbers.length; at += headersMax) {
    const batch = numbers.slice(at, at + headersMax)
    const { headers } = await node.ask({ blocks: batch }, noPause)
    for (const [nth, number] of batch.entries()) {
      const header = headers[nth]
      if (header?.hash !== hashes.get(number))
        throw new NodeError('BEHIND', `block ${number} of a log differs or is missing when it is read separately`)
      times.set(number, header?.at ?? 0)
    }
  }
  return times
}

/** Uses the first node until it fails, then the next one. */
function createNodeRotation({ chainId, urls }: Target) {
  const nodes = urls.map((url) => createNode({ url, chainId, safeFetch: safeFetch, now: Date.now }))
  let turn = 0
  const current = () => nodes[turn % nodes.length] as ChainNode
  return {
    host: () => current().host,
    /**
     * @param behindMax stops after this many failures if the last node is behind
     * @throws OperatorError with the reason of the last failure
     */
    async inTurn<T>(work: (node: ChainNode) => Promise<T>, behindMax = failuresMax): Promise<T> {
      for (let failures = 1; ; failures++) {
        try {
          return await work(current())
        } catch (error) {
          if (!(error instanceof NodeError)) throw error
          if (failures >= (error.kind === 'BEHIND' ? behindMax : failuresMax) || isPermanent(error))
            throw new OperatorError(`${current().host}: ${error.report}`)
          turn++
          await Bun.sleep(Math.min(waitMs.most, error.hint.retryAfterMs ?? waitMs.least * 2 ** Math.floor(failures / nodes.length)))
        }
      }
    },
  }
}

/** A single block with too many logs cannot be split. */
const isPermanent = ({ kind }: NodeError) => kind === 'RANGE'
