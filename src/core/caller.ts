import type { Origin } from './command-context.ts'

/** Who sends a request, as far as the request itself tells. */
export type Caller = Origin & {
  /** What limits count by: the address, or the /64 of an IPv6 one. */
  readonly limitKey: string
  /** What the caller says it is (`user-agent`), at most 200 characters. */
  readonly agent: string | undefined
}
