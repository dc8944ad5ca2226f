/** Calls to addresses outside: what they look like from here, and how they fail. `clients/safe-fetch.ts` makes them. */

export type SafeFetchOptions = {
  /** Default GET. */
  method?: string
  headers?: Readonly<Record<string, string>>
  body?: string
  /** For the whole exchange, from the look-up of the name to the last byte. */
  timeoutMs: number
  /** Of the answer's body. */
  bytesMax: number
  /** Refuses plain http. */
  httpsOnly?: boolean
  /** The operator chose the address: it may lie in any network. */
  trusted?: boolean
  /** Gives up before the time is over: the failure is a time-out all the same. */
  signal?: AbortSignal
}
export type SafeAnswer = { status: number; headers: Headers; bytes: Uint8Array }

/**
 * Calls an http or https URL and reads the whole answer. Follows no redirects, sends no credentials, and asks no proxy.
 * @throws OutgoingError that says what kind of failure it was, for every failure there is
 */
export type SafeFetch = (url: string, options: SafeFetchOptions) => Promise<SafeAnswer>

export type OutgoingFailure =
  | 'address not allowed'
  | 'port not allowed'
  | 'timeout'
  | 'connection failed'
  | 'certificate not trusted'
  | 'redirect'
  | 'answer too large'

/** An outgoing call failed. The message may be shown to the caller who chose the address; the cause is for the log. */
export class OutgoingError extends Error {
  override readonly name = 'OutgoingError'
  constructor(
    readonly kind: OutgoingFailure,
    /** Of the answer, when the other side had come so far. */
    readonly status?: number,
    { message = kind, ...options }: ErrorOptions & { readonly message?: string | undefined } = {},
  ) {
    super(message, options)
  }
}

/**
 * What the DNS says of the TXT records of a name: their strings in order, where those that are parts of one record (RFC 1035 lets none be
 * longer than 255) are not told from records of their own, since Bun does not tell; else why there are none. `absent` (NXDOMAIN, or a
 * name without such records: not told either) is an answer; `failed` (SERVFAIL, REFUSED, what cannot be read) and `late` say nothing of
 * the name.
 */
export type TxtAnswer = { readonly strings: readonly string[] } | { readonly failure: 'absent' | 'failed' | 'late' }
/** Asks the DNS; never rejects. */
export type TxtLookup = (name: string) => Promise<TxtAnswer>
