/** Types of chain nodes and their failures; see `clients/chain/reader.ts`. Hex is in lower case, with 0x. */
import type { EasLog } from '../lib/eas.ts'
import type { Scheduler } from './limits/scheduler.ts'

/** The fields of a block header that souk uses. */
export type BlockHeader = {
  readonly number: number
  readonly hash: string
  /** Milliseconds. */
  readonly at: number
  /** Bloom filter of the block's logs: 512 hex digits. Undefined if the node omits it. */
  readonly bloom?: string | undefined
}

export type ChainLog = EasLog & { readonly blockHash: string }

/** Selects attestation and revocation logs of one contract. */
export type LogFilter = {
  readonly contract: string
  readonly schemaUids: readonly string[]
  /** Undefined: any attester. */
  readonly attesters?: readonly string[] | undefined
  /** First and last block number, both inclusive. */
  readonly from: number
  readonly to: number
}

/** A block by its number, or by a tag of Ethereum's JSON-RPC. */
export type BlockTag = number | 'latest' | 'finalized'

/** One batch for a node. */
export type NodeQuery = {
  /** Blocks whose headers are requested. */
  readonly blocks: readonly BlockTag[]
  readonly logs?: LogFilter
  /** `eth_call` requests; `data` is hex. */
  readonly calls?: readonly { readonly to: string; readonly data: string }[]
}

/** The response of one node to one batch. */
export type NodeAnswer = {
  /** In the order of the query. Undefined: the node does not have that block yet. */
  readonly headers: readonly (BlockHeader | undefined)[]
  /** Whether the node does not support the tag `finalized`. */
  readonly lacksFinality: boolean
  /** Empty if the query requested no logs. */
  readonly logs: readonly ChainLog[]
  /**
   * Blocks whose bloom filter matches, without a log in the response. The node omitted logs, or the match is a false
   * positive.
   */
  readonly missedBlocks: readonly number[]
  /** Results of the calls as hex; undefined if a call failed. */
  readonly results: readonly (string | undefined)[]
  /** Size of the response. */
  readonly bytes: number
}

/** A JSON-RPC node of one chain. */
export type ChainNode = {
  /** The part of the node's URL that may be shown. */
  readonly host: string
  /**
   * Sends one batch and validates the response: chain, contract and blocks must match the query. The last header is
   * read before and after the logs and must be equal.
   * @throws NodeError for every failure
   */
  ask(query: NodeQuery, scheduler: Pick<Scheduler, 'enter'>): Promise<NodeAnswer>
}

type NodeFailure =
  /** The node limits our requests. */
  | 'RATE_LIMITED'
  /** Too many blocks for the node or for us: request fewer. */
  | 'RANGE'
  /** The node has not reached the requested block, or its chain changed during the query. */
  | 'BEHIND'
  /** No response, or an invalid one. */
  | 'FAULT'

/** An error of a node. The message contains only the host of its URL. */
export class NodeError extends Error {
  override readonly name = 'NodeError'
  constructor(
    readonly kind: NodeFailure,
    message: string,
    /**
     * `retryAfterMs`: delay of a retry. `blocks`: the number of blocks that the node would accept.
     * `advice`: what an operator can do, as a sentence without a full stop.
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
