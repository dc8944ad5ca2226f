/** Protocol errors: the HTTP status and the JSON-RPC code of each. */
const table = {
  invalid_profile_url: [400, -32001],
  profile_unreachable: [424, -32001],
  profile_malformed: [422, -32001],
  version_unsupported: [422, -32001],
  signature_missing: [401, -32000],
  signature_invalid: [401, -32000],
  key_not_found: [401, -32000],
  profile_not_trusted: [403, -32000],
  digest_mismatch: [400, -32600],
  algorithm_unsupported: [400, -32600],
  invalid_request: [400, -32602],
  request_too_large: [400, -32602],
  idempotency_key_missing: [400, -32602],
  raw_card_refused: [400, -32602],
  idempotency_conflict: [409, -32000],
  session_closed: [409, -32000],
  rate_limited: [429, -32000],
  unavailable: [503, -32000],
} as const satisfies Record<string, readonly [status: number, rpcCode: number]>

/** Codes of protocol errors, as responses show them. */
export type UcpErrorCode = keyof typeof table

/** A request that is refused before it reaches a session, cart, order or the catalog. */
export class UcpError extends Error {
  override readonly name = 'UcpError'
  readonly status: number
  readonly rpcCode: number
  readonly retryAfterSeconds: number | undefined

  /** @param content a fixed sentence without text of the shop or the caller */
  constructor(
    readonly code: UcpErrorCode,
    content: string,
    { retryAfterSeconds }: { readonly retryAfterSeconds?: number | undefined } = {},
  ) {
    super(content)
    const [status, rpcCode] = table[code]
    this.status = status
    this.rpcCode = rpcCode
    this.retryAfterSeconds = retryAfterSeconds
  }

  /** Returns the body of the response, which is also the `data` of a JSON-RPC error. */
  body(): { code: UcpErrorCode; content: string } {
    return { code: this.code, content: this.message }
  }
}
