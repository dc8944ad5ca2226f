/** Counts the attestations of a chain from its logs and a registry of grants only. */
import { createNode } from '../clients/chain/rpc.ts'
import { type BlockHeader, type ChainLog, type ChainNode, type LogFilter, NodeError } from '../core/chain.ts'
import { OperatorError } from '../core/errors.ts'
import type { SchemaName } from '../lib/eas.ts'
import { allSchemaUids, schemaOf } from '../modules/trust/attestation/domain.ts'
import { createNodes, type NodeState, type Nodes, withBlockTimes } from '../modules/trust/attestation/index.ts'
import { type Grant, isGranted } from '../modules/trust/fabric/domain.ts'
import { safeFetch, type Target } from './chain-target.ts'

type Counts = Record<SchemaName, number>
type RecountResult = { readonly counts: Counts; readonly from: number; readonly to: BlockHeader; readonly host: string }

/** Creates counts of zero for each schema. */
export const emptyCounts = (): Counts => ({ A: 0, B: 0, C: 0, D: 0 })

/** Nothing else competes for the nodes. */
const noPause = { enter: async () => ({ rest: async () => false, leave: () => undefined }) }
/** Consecutive failures of all nodes before giving up. */
const failuresMax = 6

/** Counts attestations by a registry. Logs may arrive in any order. */
export function createTally(grants: readonly Grant[]) {
  const ofAddress = Map.groupBy(grants, ({ address }) => address)
  const schemaByUid = new Map<string, SchemaName>()
  const revoked = new Set<string>()
  return {
    /** Returns whether a log can affect the counts. */
    isRelevant: ({ attester }: ChainLog): boolean => ofAddress.has(attester),
    /** @param blockAt the time of its block in milliseconds */
    take({ kind, uid, schemaUid, attester, recipient }: Omit<ChainLog, 'blockHash'>, blockAt: number): void {
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
  const { chainId, contract, startBlock, rpc } = target
  const chainNodes = rpc.map((url) => createNode({ url, chainId, safeFetch, now: Date.now }))
  const nodes = createNodes({ ...target, confirmations: undefined }, chainNodes, { now: Date.now, random: Math.random })
  // Does not wait for a block that no node has.
  const to = await inTurn(nodes, (node) => lastBlock(node, requested), requested === undefined ? failuresMax : rpc.length)
  const tally = createTally(grants)
  for (let from = startBlock; from <= to.number; ) {
    const end = Math.min(to.number, from + nodes.rangeSize().blocks - 1)
    const filter = { contract, schemaUids: allSchemaUids, from, to: end }
    if (!(await inTurn(nodes, (node) => readRange(nodes, node, filter, tally)))) continue
    from = end + 1
    progress(startBlock, to.number, end)
  }
  const { hash, host } = await inTurn(nodes, (node) => lastBlock(node, to.number))
  if (hash !== to.hash)
    throw new OperatorError(`${host}: block ${to.number} was replaced (reorg). Run it again, or use an older block with --to`)
  return { counts: tally.counts(), from: startBlock, to, host }
}

async function lastBlock(node: ChainNode, number: number | undefined): Promise<BlockHeader & { host: string }> {
  const { headers, lacksFinality } = await node.ask({ blocks: number === undefined ? ['finalized'] : [number, 'latest'] }, noPause)
  if (lacksFinality) throw new OperatorError(`${node.host} doesn't report finalized blocks: use --to BLOCK`)
  if (!headers[0])
    throw new NodeError(
      'BEHIND',
      number === undefined ? 'no finalized block yet' : `block ${number} is missing: the newest is ${headers[1]?.number ?? 'none'}`,
    )
  return { ...headers[0], host: node.host }
}

/** Reads a range. Returns false if it is too large; the next one is then smaller. */
async function readRange(nodes: Nodes, node: NodeState, filter: LogFilter, tally: ReturnType<typeof createTally>): Promise<boolean> {
  const blocks = filter.to - filter.from + 1
  const startedAt = performance.now()
  const answer = await node.ask({ blocks: [], logs: filter }, noPause).catch((error: unknown) => {
    if (!(error instanceof NodeError) || error.kind !== 'RANGE' || blocks === 1) throw error
    nodes.recordFailure(node, error, blocks)
  })
  if (!answer) return false
  const ms = performance.now() - startedAt
  const logs = answer.logs.filter(tally.isRelevant)
  const attested = logs.filter(({ kind }) => kind === 'ATTESTED')
  const timedLogs = await withBlockTimes((query) => node.ask(query, noPause), attested)
  // Counts only complete ranges: a failed range is read again.
  for (const log of timedLogs) tally.take(log, log.blockAt)
  for (const log of logs) if (log.kind === 'REVOKED') tally.take(log, 0)
  nodes.recordRange({ blocks, logs: answer.logs.length, bytes: answer.bytes, ms, isContended: false })
  return true
}

/**
 * Asks the nodes until one answers.
 * @param behindMax stops after this many failures if the last node is behind
 * @throws OperatorError with the reason of the last failure
 */
async function inTurn<T>(nodes: Nodes, work: (node: NodeState) => Promise<T>, behindMax = failuresMax): Promise<T> {
  for (let failures = 1; ; ) {
    const node = nodes.next()
    if (!node) {
      await Bun.sleep(Math.max(1, nodes.nextAt() - Date.now()))
      continue
    }
    try {
      const result = await work(node)
      nodes.recordAnswer(node)
      return result
    } catch (error) {
      if (!(error instanceof NodeError)) throw error
      // A single block with too many logs cannot be split.
      if (error.kind === 'RANGE' || failures++ >= (error.kind === 'BEHIND' ? behindMax : failuresMax))
        throw new OperatorError(`${node.host}: ${error.report}`)
      nodes.recordFailure(node, error, undefined)
    }
  }
}
