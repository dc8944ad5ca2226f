/** Types of outgoing HTTP and DNS requests. `clients/safe-fetch.ts` implements them. */

export type SafeFetchOptions = {
  /** Default: GET. */
  method?: string
  headers?: Readonly<Record<string, string>>
  body?: string
  /** Time limit of the whole exchange, including the DNS lookup. */
  timeoutMs: number
  /** Time limit of connecting, which ends with the handshake of TLS. Default: none of its own. */
  connectTimeoutMs?: number
  /** Limit of the response body. */
  bytesMax: number
  httpsOnly?: boolean
  /** The operator chose the address, so private networks are allowed. */
  trusted?: boolean
  /** Aborts early. The failure is also `timeout`. */
  signal?: AbortSignal
}
/** A complete response with any status. */
export type SafeResponse = { status: number; headers: Headers; bytes: Uint8Array }

/**
 * Calls an http or https URL and reads the whole response. Follows no redirects, sends no credentials and uses no
 * proxy.
 * @throws OutgoingError for every failure
 */
export type SafeFetch = (url: string, options: SafeFetchOptions) => Promise<SafeResponse>

/** Why a request failed, in words that callers may see. */
export type OutgoingFailure =
  | 'address not allowed'
  | 'port not allowed'
  | 'timeout'
  | 'connection failed'
  | 'certificate not trusted'
  | 'redirect'
  | 'answer too large'

/**
 * An outgoing request failed. The message may be shown to the caller who chose the address; the cause is for the log.
 */
export class OutgoingError extends Error {
  override readonly name = 'OutgoingError'
  constructor(
    readonly kind: OutgoingFailure,
    /** Status of the response, if one arrived. */
    readonly status?: number,
    { message = kind, ...options }: ErrorOptions & { readonly message?: string | undefined } = {},
  ) {
    super(message, options)
  }
}

/**
 * TXT records of a name, or why there are none. Bun does not separate the strings of one record (RFC 1035: at most 255
 * bytes each) from other records. `absent` means NXDOMAIN or no TXT records; `failed` and `late` say nothing about the
 * name.
 */
export type TxtAnswer = { readonly strings: readonly string[] } | { readonly failure: 'absent' | 'failed' | 'late' }
/** Queries the DNS. Never rejects. */
export type TxtLookup = (name: string) => Promise<TxtAnswer>
