import type { Platform } from '../lib/ucp/call.ts'
import type { Attempt } from './idempotency.ts'
import type { ShopContext } from './principal.ts'

/** A request of a platform's agent, over either transport. */
export type AgentCall = {
  readonly shop: ShopContext
  /** Links that the shop shows to agents. */
  readonly policies: readonly { readonly type: string; readonly url: string }[]
  readonly platform: Platform
  /** The client's address as limits count it. */
  readonly address: string
  /** Stores the answer of a request with an idempotency key; see `once`. */
  readonly attempt: Attempt
}
