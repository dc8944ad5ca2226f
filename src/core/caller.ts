/** Who sends a request, as far as the request itself tells. */
export type Caller = {
  /** What limits count by: the address, or the /64 of an IPv6 one. */
  readonly limitKey: string
  /** The address; undefined where it cannot be told. */
  readonly address: string | undefined
  /** What the caller says it is (`user-agent`), at most 200 characters. */
  readonly agent: string | undefined
  readonly requestId: string | undefined
}
