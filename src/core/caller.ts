import type { Origin } from './command-context.ts'

/** What a request tells about its sender. */
export type Caller = Origin & {
  /** Key of rate limits: the IPv4 address, or the /64 of an IPv6 address. */
  readonly limitKey: string
  /** The `user-agent` header, at most 200 characters. */
  readonly agent: string | undefined
}
