/** Reads a chain on from where it is counted to: one step, one range of blocks, one write. */
import { isUniqueViolation } from '../../../../db/engine.ts'
import type { Block } from '../../../core/chain.ts'
import { hasAll } from './consensus-check.ts'
import { Contradiction } from './domain.ts'
import type { KnownNode, Tip } from './nodes.ts'
import { onContradiction, onOtherFork } from './reorg.ts'
import { keep, keepLogs } from './retention.ts'
import { again, ask, behind, filterOf, note, type Reading, registryNow, type Step, type SyncDeps, timed } from './rpc-reader.ts'

/** So often at most is a range filtered anew because the registry has changed meanwhile. */
const registryTries = 5
/** Of a range of at most so many blocks each header is asked, whose blooms tell what was left out: of a longer one that of its last alone. */
const headersMax = 16
/** Of so many chunks, after one the checkpoints are thinned. */
const thinEvery = 64

/** @returns what came of it; whoever calls has the lease of the chain */
export async function readOn(deps: SyncDeps, reading: Reading): Promise<Step> {
  const { nodes, sync } = reading
  const node = nodes.next()
  if (!node) return { kind: 'WAITING', until: nodes.nextAt() }
  if (!node.tip || node.tip.target <= sync.countedTo) {
    const step = await lookAhead(deps, reading, node)
    if (step) return step
  }
  return node.tip ? readRange(deps, reading, node, node.tip) : again
}

/** Asks a node how far it has come. @returns undefined where there is something to read */
async function lookAhead(deps: SyncDeps, reading: Reading, node: KnownNode): Promise<Step | undefined> {
  const { nodes, sync } = reading
  const tag = nodes.tag()
  const cursor = sync.countedToHash === null ? [] : [sync.countedTo]
  const blocks: Block[] = [...new Set<Block>(['latest', tag])]
  const answer = await ask(deps, reading, node, { blocks: [...blocks, ...cursor] })
  if (!answer) return again
  const [head, tagged, counted] = [answer.headers[0], answer.headers[blocks.indexOf(tag)], answer.headers[blocks.length]]
  if (answer.knowsNoFinality) return knowsNoFinality(deps, reading, node)
  if (!head) return behindAt(deps, reading, node, 'it has no newest block')
  const tip = nodes.tipOf(node, tagged, head.number)
  if (sync.countedToHash !== null) {
    if (!counted) return behindAt(deps, reading, node, `it does not have block ${sync.countedTo}, which is counted already`)
    if (counted.hash !== sync.countedToHash) return onOtherFork(deps, reading, node)
    if ((tip?.target ?? -1) < sync.countedTo && nodes.all.length > 1)
      return behindAt(deps, reading, node, `of its blocks, those up to ${tip?.target ?? 'none'} may be counted`)
  }
  if (tip && tip.target > sync.countedTo) return undefined
  await tell(deps, reading, node, { head: head.number, target: tip?.target ?? null })
  return { kind: 'IDLE' }
}

/** So often at most is noted how far a node has come, where there is nothing to read: each note is a commit. */
const tellEveryMs = 15_000

/** Notes how far a node has come. */
async function tell(deps: SyncDeps, { sync }: Reading, { host }: KnownNode, { head, target }: { head: number; target: number | null }) {
  const now = deps.clock.now()
  if (sync.syncedAt !== null && sync.target === target && Math.abs(now - sync.syncedAt) < tellEveryMs) return
  const fields = { head, target, provider: host, syncedAt: now }
  await deps.db.write((tx) => deps.attestationStore.change(tx, sync.chainId, fields), { isolation: 'locking' })
}

async function knowsNoFinality(deps: SyncDeps, { chain, nodes }: Reading, node: KnownNode): Promise<Step> {
  node.knowsNoFinality = true
  if (nodes.isByDepth()) {
    const { chainId } = chain
    deps.log.warn('chain.no_finality', {
      chainId,
      confirmations: nodes.confirmations(),
      advice: 'set `confirmations` of the chain in CHAINS',
    })
  } else await note(deps, chain, node, 'it does not know which blocks are final, and others do')
  return again
}

async function behindAt(deps: SyncDeps, reading: Reading, node: KnownNode, what: string): Promise<Step> {
  await behind(deps, reading, node, what)
  return again
}

async function readRange(deps: SyncDeps, reading: Reading, node: KnownNode, { target, head }: Tip): Promise<Step> {
  const { chain, nodes, sync } = reading
  const [from, to] = [sync.countedTo + 1, Math.min(target, sync.countedTo + nodes.reach().blocks)]
  const startedAt = deps.clock.monotonic()
  const isShort = to - from < headersMax
  const before = isShort ? Array.from({ length: to - from }, (_, nth) => from + nth) : []
  const blocks = [nodes.tag(), to, ...before, ...(sync.countedToHash === null ? [] : [sync.countedTo])]
  const logsAsked = filterOf(chain, from, to)
  const answer = await ask(deps, reading, node, { blocks, logs: logsAsked })
  if (!answer) return again
  const [tagged, end] = answer.headers
  const counted = answer.headers[2 + before.length]
  const within = answer.headers.slice(1, 2 + before.length).filter((header) => header !== undefined)
  if (answer.knowsNoFinality) return knowsNoFinality(deps, reading, node)
  if (sync.countedToHash !== null && counted && counted.hash !== sync.countedToHash) return onOtherFork(deps, reading, node)
  if (!tagged || !end || within.length <= before.length || (sync.countedToHash !== null && !counted))
    return behindAt(deps, reading, node, `it does not have blocks that it had before, up to ${to}`)
  const tip = nodes.tipOf(node, tagged, undefined)
  if (!tip || tip.target < to) return behindAt(deps, reading, node, `of its blocks, those up to ${tip?.target ?? 'none'} may be counted`)
  if (!(await hasAll(deps, reading, node, logsAsked, answer))) return again

  for (let nth = 0; nth < registryTries; nth++) {
    const registry = await registryNow(deps)
    const ours = answer.logs.filter(({ attester }) => registry.addresses.has(attester))
    const logs = await timed(deps, reading, node, ours, within)
    if (!logs) return again
    const paced = await deps.pace.enter()
    try {
      const write = (areNew: boolean) =>
        keep(deps, sync, registry, async (tx) => {
          await keepLogs(tx, deps, chain.chainId, logs, registry, areNew)
          await deps.attestationStore.insertCheckpoint(tx, {
            chainId: chain.chainId,
            blockNumber: to,
            blockHash: end.hash,
            blockAt: end.at,
          })
          const told = { head: Math.max(head, tip.head), target: tip.target, provider: node.host, syncedAt: deps.clock.now() }
          await deps.attestationStore.change(tx, chain.chainId, { countedTo: to, countedToHash: end.hash, countedToAt: end.at, ...told })
          if (nodes.chunks++ % thinEvery === thinEvery - 1) await deps.attestationStore.thinCheckpoints(tx, chain.chainId)
        })
      // Nearly always they are: to look each up would cost a sixth of the time.
      const kept = await write(true).catch((error: unknown) => {
        if (isUniqueViolation(error)) return write(false)
        throw error
      })
      if (kept === 'LOST') return { kind: 'BUSY' }
      if (kept === 'REGISTRY') continue
      const isWanted = await paced.rest()
      const ms = deps.clock.monotonic() - startedAt
      nodes.hasRead({ blocks: to - from + 1, logs: answer.logs.length, bytes: answer.bytes, ms, isWanted })
      deps.chainLogs.set(chain.chainId, (deps.chainLogs.get(chain.chainId) ?? 0) + logs.length)
      return { kind: 'READ', from, to, logs: answer.logs.length }
    } catch (error) {
      if (!(error instanceof Contradiction)) throw error
      return onContradiction(deps, reading, node, error)
    } finally {
      paced.leave()
    }
  }
  return again
}
