/** The nodes of a chain, as this process knows them: who is asked next, who is left alone for how long, and how many blocks at once. */
import type { Block, ChainNode, Header, NodeError } from '../../../core/chain.ts'
import { type Breaker, closed, failed, isToProbe, lets, probed, probing, succeeded } from '../../../lib/breaker.ts'
import type { ChainSetting } from '../../../lib/chain-settings.ts'
import { confirmationsOf, type Reach, type Read, reachAfter, reachAfterRefusal, reachAtFirst, reachElsewhere } from './domain.ts'

/** How long a node is left alone that is behind, that is on another fork, and that fails for the first time. */
const pauses = { behindMs: 4_000, forkMs: 60_000, failedMs: 1_000, failedMaxMs: 60_000, limitedMs: 2_000 }

export type Tip = { readonly head: number; readonly target: number }

const restMaxMs = 200
/** So many failures of ranges in a row, whatever they were called, are taken for ranges that are too large. */
const failedRangesMax = 3

/** One node, and what is remembered of it. */
export type KnownNode = ChainNode & {
  breaker: Breaker
  /** Milliseconds: it is not asked before. */
  notBefore: number
  /** Failures and refusals without an answer between them, by which pauses grow. */
  failures: number
  knowsNoFinality: boolean
  /** How far it said that may be counted. */
  tip: Tip | undefined
  /** By what it contradicted what is here last, and how often. */
  contradicted: { readonly by: string; readonly times: number }
}

export type Nodes = ReturnType<typeof createNodes>
type Options = { readonly now: () => number /** From 0 to 1. */; readonly random: () => number }

export function createNodes(chain: ChainSetting, asked: readonly ChainNode[], { now, random }: Options) {
  const nodes = asked.map(
    (node): KnownNode => ({
      ...node,
      breaker: closed,
      notBefore: 0,
      failures: 0,
      knowsNoFinality: false,
      tip: undefined,
      contradicted: { by: '', times: 0 },
    }),
  )
  let current = 0
  let reach = reachAtFirst
  /** Ranges that failed since the last one that was read. */
  let failedRanges = 0

  const mayAsk = (node: KnownNode) =>
    node.notBefore <= now() && (lets(node.breaker) || isToProbe(node.breaker, now())) && (isByDepth() || !node.knowsNoFinality)
  /** Blocks are read once they are so deep, rather than final. */
  const isByDepth = () => chain.confirmations !== undefined || nodes.every(({ knowsNoFinality }) => knowsNoFinality)
  const inTurn = () => nodes.map((_, nth) => nodes[(current + nth) % nodes.length] as KnownNode)

  function pause(node: KnownNode, ms: number): void {
    node.notBefore = now() + Math.round(ms * (1 + random() / 4))
    node.tip = undefined
    if (nodes[current] !== node || nodes.length === 1) return
    current = (current + 1) % nodes.length
    reach = reachElsewhere(reach)
  }

  return {
    all: nodes as readonly KnownNode[],
    isByDepth,
    /** How deep a block must lie. */
    confirmations: () => chain.confirmations ?? confirmationsOf(chain.chainId),
    /** By which a node says how far may be counted. */
    tag: (): Block => (isByDepth() ? 'latest' : 'finalized'),
    /** The one to ask: the one that was asked last, unless it is to be left alone. A node whose breaker is open is asked as its probe. */
    next(): KnownNode | undefined {
      const node = inTurn().find(mayAsk)
      if (!node) return undefined
      current = nodes.indexOf(node)
      node.breaker = probing(node.breaker, now())
      return node
    },
    /** Another one than that which reads on, or than one that was asked already, and one of that host; undefined where there is none. */
    nextBesides(asked?: KnownNode, host?: string): KnownNode | undefined {
      const besides = asked ?? nodes[current]
      const node = inTurn().find((one) => one !== besides && one.host !== host && mayAsk(one))
      if (node) node.breaker = probing(node.breaker, now())
      return node
    },
    /** When one may be asked again at the earliest, if none may now. */
    nextAt: () => Math.min(...nodes.map(({ notBefore, breaker }) => Math.max(notBefore, breaker.state === 'OPEN' ? breaker.probeAt : 0))),
    /** Others of whom there is something to hope. */
    others: (node: KnownNode): readonly KnownNode[] => nodes.filter((one) => one !== node && lets(one.breaker)),
    answered(node: KnownNode): void {
      node.breaker = node.breaker.state === 'HALF_OPEN' ? probed(node.breaker, true, now()) : succeeded(node.breaker)
      node.failures = 0
    },
    /** It did not give what was asked for. @param asked how many blocks of logs were asked for, if any were */
    refused(node: KnownNode, { kind, hint, message }: NodeError, asked: number | undefined): void {
      if (kind === 'RANGE' && asked !== undefined && asked > 1) {
        this.answered(node)
        reach = reachAfterRefusal(asked, hint.blocks)
        return
      }
      if (kind === 'FAULT') {
        node.breaker = node.breaker.state === 'HALF_OPEN' ? probed(node.breaker, false, now(), random()) : failed(node.breaker, now())
        // What takes too long may be too much.
        if (asked !== undefined && asked > 1 && /timeout/.test(message)) reach = reachAfterRefusal(asked, undefined)
      } else this.answered(node)
      const first = kind === 'BEHIND' ? pauses.behindMs : kind === 'RATE_LIMITED' ? pauses.limitedMs : pauses.failedMs
      if (asked !== undefined && ++failedRanges >= failedRangesMax) {
        failedRanges = 0
        if (asked > 1) reach = reachAfterRefusal(asked, undefined)
      }
      node.failures++
      pause(node, hint.retryAfterMs ?? (kind === 'BEHIND' ? first : Math.min(first * 2 ** (node.failures - 1), pauses.failedMaxMs)))
    },
    /** It contradicts what is here. @returns whether all who answer do so by the same, and at least twice */
    contradicted(node: KnownNode, by: string): boolean {
      const timesOf = (one: KnownNode) => (one.contradicted.by === by ? one.contradicted.times : 0)
      node.contradicted = { by, times: timesOf(node) + 1 }
      const answering = nodes.filter((one) => one === node || lets(one.breaker))
      return answering.every((one) => timesOf(one) > 0) && answering.reduce((sum, one) => sum + timesOf(one), 0) > 1
    },
    /** It is on another fork than the others. */
    strayed: (node: KnownNode): void => pause(node, pauses.forkMs),
    /** How many ranges were read. */
    chunks: 0,
    /** How often one of them was asked, and gave what it was asked for. */
    calls: { asked: 0, answered: 0 },
    reach: (): Reach => reach,
    /** After a range that was read, and kept. */
    hasRead(read: Read): void {
      failedRanges = 0
      reach = reachAfter(reach, read)
      this.restMs = read.isWanted ? Math.min(read.ms / 2, restMaxMs) : 0
    },
    /** How long to leave the thread to those who wanted it, besides what they had between the pieces. */
    restMs: 0,
    /** How far a node says that may be counted, by the header under its tag and that of its newest block. */
    tipOf(node: KnownNode, tagged: Header | undefined, head: number | undefined): Tip | undefined {
      if (!tagged) return undefined
      const target = isByDepth() ? tagged.number - this.confirmations() : tagged.number
      node.tip = { target, head: Math.max(head ?? node.tip?.head ?? tagged.number, tagged.number) }
      return node.tip
    },
  }
}
