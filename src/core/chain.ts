/** Types of chain nodes and their failures; see `clients/chain/reader.ts`. Hex is in lower case, with 0x. */
import type { Pace } from '../lib/cooperative-scheduler.ts'

/** A block, as far as we look at it. */
export type Header = {
  readonly number: number
  readonly hash: string
  /** Milliseconds. */
  readonly at: number
  /** Of its logs, 512 hex digits; undefined where the node tells none. */
  readonly bloom?: string | undefined
}

/** That an attestation was made, or revoked. */
export type ChainLog = {
  readonly kind: 'ATTESTED' | 'REVOKED'
  readonly uid: string
  readonly schemaUid: string
  readonly attester: string
  readonly recipient: string
  readonly blockNumber: number
  readonly blockHash: string
}

export type LogFilter = {
  readonly contract: string
  readonly schemaUids: readonly string[]
  /** Undefined: of anybody. */
  readonly attesters?: readonly string[] | undefined
  /** Block numbers, both included. */
  readonly from: number
  readonly to: number
}

export type Block = number | 'latest' | 'finalized'

export type NodeQuery = {
  /** Blocks of which the headers are asked. */
  readonly blocks: readonly Block[]
  readonly logs?: LogFilter
  /** Calls of views: data as hex. */
  readonly calls?: readonly { readonly to: string; readonly data: string }[]
}

/** All of one node and one batch. */
export type NodeAnswer = {
  /** In the order of the blocks that were asked for; undefined: the node has none such, or not yet. */
  readonly headers: readonly (Header | undefined)[]
  /** Whether the node does not know what `finalized` is. */
  readonly knowsNoFinality: boolean
  /** None where none were asked for. */
  readonly logs: readonly ChainLog[]
  /** Blocks of `headers` that may hold such logs by their blooms, and of which none came: they were left out, or it is chance. */
  readonly doubted: readonly number[]
  /** What the calls gave, as hex; undefined where one failed. */
  readonly results: readonly (string | undefined)[]
  /** How long the answer was. */
  readonly bytes: number
}

export type ChainNode = {
  /** All of its URL that may be shown. */
  readonly host: string
  /**
   * Asks in one batch. What comes back is what was asked for: of that chain, that contract, those blocks; headers of a last block of logs are
   * asked for before and after the logs, and are the same.
   * @throws NodeError for every failure there is
   */
  ask(query: NodeQuery, pace: Pick<Pace, 'enter'>): Promise<NodeAnswer>
}

export type NodeFailure =
  /** It answers too many of us already. */
  | 'RATE_LIMITED'
  /** More than it, or we, can take at once: ask for fewer blocks. */
  | 'RANGE'
  /** It has not come as far as it was asked about, or its chain changed while it was asked. */
  | 'BEHIND'
  /** No answer, or one that is not what was asked for. */
  | 'FAULT'

/** The failure of a node. The message says why. It contains no part of the node's URL except the host. */
export class NodeError extends Error {
  override readonly name = 'NodeError'
  constructor(
    readonly kind: NodeFailure,
    message: string,
    /**
     * When it may be asked again, in milliseconds from now; how many blocks it would answer about; and what an operator
     * can do, as a sentence without its full stop.
     */
    readonly hint: { readonly retryAfterMs?: number; readonly blocks?: number; readonly advice?: string } = {},
  ) {
    super(message)
  }

  /** The message and what to do. */
  get report(): string {
    return this.hint.advice === undefined ? this.message : `${this.message}. ${this.hint.advice}`
  }
}
