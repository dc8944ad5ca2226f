/**
 * The nodes of a chain as this process knows them: which one is asked next, how long each rests, and how many blocks
 * are requested.
 */
import type { BlockHeader, BlockTag, ChainNode, NodeError } from '../../../core/chain.ts'
import {
  afterFailure,
  afterProbe,
  afterSuccess,
  type Breaker,
  closedBreaker,
  isClosed,
  isProbeDue,
  startProbe,
} from '../../../lib/breaker.ts'
import type { ChainSetting } from '../../../lib/chain-settings.ts'
import { confirmationsOf, initialRangeSize, nextRangeSize, type RangeSize, type RangeStats, rangeSizeAfterRefusal } from './domain.ts'

/** How long a node rests after it was behind, on another fork, failed or rate limited. */
const pauses = { behindMs: 4_000, forkMs: 60_000, failedMs: 1_000, failedMaxMs: 60_000, limitedMs: 2_000 }

export type Tip = { readonly head: number; readonly target: number }

const restMaxMs = 200
/** After this number of failed ranges in a row, the range is considered too large. */
const failedRangesMax = 3

/** A node and its state. */
export type NodeState = ChainNode & {
  breaker: Breaker
  /** Milliseconds; the node is not asked before. */
  notBefore: number
  /** Failures in a row. The pauses grow with them. */
  failures: number
  lacksFinality: boolean
  /** How far the node said that blocks may be counted. */
  tip: Tip | undefined
  /** The last contradiction with stored rows, and how often it occurred. */
  contradicted: { readonly by: string; readonly times: number }
}

export type Nodes = ReturnType<typeof createNodes>
type Options = {
  readonly now: () => number
  /** From 0 to 1. */
  readonly random: () => number
}

/**
 * Creates the state of a chain's nodes. It asks none of them.
 * @param chainNodes in the order of use
 */
export function createNodes(chain: ChainSetting, chainNodes: readonly ChainNode[], { now, random }: Options) {
  const nodes = chainNodes.map(
    (node): NodeState => ({
      ...node,
      breaker: closedBreaker,
      notBefore: 0,
      failures: 0,
      lacksFinality: false,
      tip: undefined,
      contradicted: { by: '', times: 0 },
    }),
  )
  let current = 0
  let rangeSize = initialRangeSize
  /** Failed ranges since the last successful one. */
  let failedRanges = 0

  const mayAsk = (node: NodeState) =>
    node.notBefore <= now() && (isClosed(node.breaker) || isProbeDue(node.breaker, now())) && (isByDepth() || !node.lacksFinality)
  /** Whether blocks are counted by their depth instead of by finality. */
  const isByDepth = () => chain.confirmations !== undefined || nodes.every(({ lacksFinality }) => lacksFinality)
  const inTurn = () => nodes.map((_, nth) => nodes[(current + nth) % nodes.length] as NodeState)

  function pause(node: NodeState, ms: number): void {
    node.notBefore = now() + Math.round(ms * (1 + random() / 4))
    node.tip = undefined
    if (nodes[current] !== node || nodes.length === 1) return
    current = (current + 1) % nodes.length
    // The limits of the other node are unknown.
    rangeSize = { ...initialRangeSize, blocks: rangeSize.blocks }
  }

  return {
    all: nodes as readonly NodeState[],
    isByDepth,
    /** How deep a block must be before it is counted. */
    confirmations: () => chain.confirmations ?? confirmationsOf(chain.chainId),
    /** The block tag that tells how far blocks may be counted. */
    tag: (): BlockTag => (isByDepth() ? 'latest' : 'finalized'),
    /** Returns the node to ask: the current one unless it rests. A node with an open breaker is asked as its probe. */
    next(): NodeState | undefined {
      const node = inTurn().find(mayAsk)
      if (!node) return undefined
      current = nodes.indexOf(node)
      node.breaker = startProbe(node.breaker, now())
      return node
    },
    /** Returns a node other than the current one, or than `excluded`, and not on `host`. Undefined if there is none. */
    nextOther(excluded?: NodeState, host?: string): NodeState | undefined {
      const skipped = excluded ?? nodes[current]
      const node = inTurn().find((candidate) => candidate !== skipped && candidate.host !== host && mayAsk(candidate))
      if (node) node.breaker = startProbe(node.breaker, now())
      return node
    },
    /** When the next node may be asked. */
    nextAt: () => Math.min(...nodes.map(({ notBefore, breaker }) => Math.max(notBefore, breaker.state === 'OPEN' ? breaker.probeAt : 0))),
    /** Returns the other nodes whose breaker is closed. */
    otherNodes: (node: NodeState): readonly NodeState[] => nodes.filter((candidate) => candidate !== node && isClosed(candidate.breaker)),
    recordAnswer(node: NodeState): void {
      node.breaker = afterSuccess(afterProbe(node.breaker, true, now()))
      node.failures = 0
    },
    /**
     * Records a failed query.
     * @param blocksRequested how many blocks of logs were requested, if any
     */
    recordFailure(node: NodeState, { kind, hint, message }: NodeError, blocksRequested: number | undefined): void {
      if (kind === 'RANGE' && blocksRequested !== undefined && blocksRequested > 1) {
        this.recordAnswer(node)
        rangeSize = rangeSizeAfterRefusal(blocksRequested, hint.blocks)
        return
      }
      if (kind === 'FAULT') {
        node.breaker = afterFailure(afterProbe(node.breaker, false, now(), random()), now())
        // A timeout may mean that the range is too large.
        if (blocksRequested !== undefined && blocksRequested > 1 && /timeout/.test(message))
          rangeSize = rangeSizeAfterRefusal(blocksRequested, undefined)
      } else this.recordAnswer(node)
      const first = kind === 'BEHIND' ? pauses.behindMs : kind === 'RATE_LIMITED' ? pauses.limitedMs : pauses.failedMs
      if (blocksRequested !== undefined && ++failedRanges >= failedRangesMax) {
        failedRanges = 0
        if (blocksRequested > 1) rangeSize = rangeSizeAfterRefusal(blocksRequested, undefined)
      }
      node.failures++
      pause(node, hint.retryAfterMs ?? (kind === 'BEHIND' ? first : Math.min(first * 2 ** (node.failures - 1), pauses.failedMaxMs)))
    },
    /**
     * Records a contradiction with stored rows.
     * @returns whether all responding nodes agree on it, with at least two answers
     */
    recordContradiction(node: NodeState, contradiction: string): boolean {
      const timesOf = (candidate: NodeState) => (candidate.contradicted.by === contradiction ? candidate.contradicted.times : 0)
      node.contradicted = { by: contradiction, times: timesOf(node) + 1 }
      const answering = nodes.filter((candidate) => candidate === node || isClosed(candidate.breaker))
      return answering.every((candidate) => timesOf(candidate) > 0) && answering.reduce((sum, candidate) => sum + timesOf(candidate), 0) > 1
    },
    /** Rests a node that is on another fork than the others. */
    pauseOnFork: (node: NodeState): void => pause(node, pauses.forkMs),
    /** Ranges that were read. */
    chunks: 0,
    /** Queries sent to these nodes, and those that succeeded. */
    calls: { asked: 0, answered: 0 },
    rangeSize: (): RangeSize => rangeSize,
    /** Adapts the range size after a range was read and stored. */
    recordRange(stats: RangeStats): void {
      failedRanges = 0
      rangeSize = nextRangeSize(rangeSize, stats)
      this.restMs = stats.isContended ? Math.min(stats.ms / 2, restMaxMs) : 0
    },
    /** How long the main thread is left to requests after a range, in milliseconds. */
    restMs: 0,
    /** Returns how far blocks may be counted, from the header of the tag and the number of the newest block. */
    tipOf(node: NodeState, tagged: BlockHeader | undefined, head: number | undefined): Tip | undefined {
      if (!tagged) return undefined
      const target = isByDepth() ? tagged.number - this.confirmations() : tagged.number
      node.tip = { target, head: Math.max(head ?? node.tip?.head ?? tagged.number, tagged.number) }
      return node.tip
    },
  }
}
