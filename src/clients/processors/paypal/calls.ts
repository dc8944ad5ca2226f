/** Calls to PayPal: the shared token of an account, and errors. */
import { countAt, requireValue, textAt, valueAt, wordOf } from '../answers.ts'
import { type CallAnswer, callProcessor, inconclusiveError, type ProcessorPort } from '../call.ts'
import { notSentErrorOf, ProcessorRefused, ProcessorUnavailable, UnknownAnswer } from '../processor.ts'

export type PaypalRequest = {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly json?: unknown
  /** The exact body, where its bytes matter. */
  readonly text?: string
  readonly key?: string
  /** A shorter timeout than the usual one. */
  readonly timeoutMs?: number
}
/** `until`: milliseconds. */
type Token = { readonly token: string; readonly until: number }

/** A token is not used in its last minute, for requests in transit. */
const marginMs = 60_000
/** The assumed lifetime if PayPal does not report it. An expired token is renewed anyway. */
const lifetimeDefaultSeconds = 300

/** The account is unknown or lacks the permission: nothing happened. */
export class NotAllowed extends ProcessorUnavailable {}

/** Creates the calls of one account. They share its token, which is fetched when needed. */
export function createPaypalCalls(
  { clientId, secret, apiUrl }: { clientId: string; secret: string; apiUrl: string },
  port: ProcessorPort & { now(): number },
) {
  const baseUrl = apiUrl.replace(/\/+$/, '')
  let cachedToken: Token | undefined
  let renewal: Promise<Token> | undefined

  async function fetchToken(): Promise<Token> {
    const requestedAt = port.now()
    const answer = await callProcessor(port, {
      method: 'POST',
      url: `${baseUrl}/v1/oauth2/token`,
      headers: {
        authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: 'grant_type=client_credentials',
    })
    if ([400, 401, 403].includes(answer.status)) throw new NotAllowed(`no token: ${answer.status}`, { neverSent: true })
    // The request that needed the token was not sent.
    if (answer.status !== 200) throw new UnknownAnswer(`status ${answer.status} for a token`, { neverSent: true })
    const token = textAt(answer.json, 'access_token')
    if (token === undefined || !/^[\x21-\x7e]+$/.test(token)) throw new UnknownAnswer('no token', { neverSent: true })
    const lifetimeMs = (countAt(answer.json, 'expires_in') ?? lifetimeDefaultSeconds) * 1000
    return { token, until: requestedAt + Math.max(lifetimeMs - marginMs, lifetimeMs / 2) }
  }

  /**
   * Obtains one token that all concurrent calls share.
   * @throws ProcessorUnavailable with `neverSent`; NotAllowed
   */
  function renew(): Promise<Token> {
    renewal ??= fetchToken()
      .then((token) => {
        cachedToken = token
        return token
      })
      .catch((error: unknown) => {
        throw notSentErrorOf(error) ?? error
      })
      .finally(() => {
        renewal = undefined
      })
    return renewal
  }

  /** @param refused a refused token, not used again before its expiry */
  async function tokenOtherThan(refused: string | undefined): Promise<string> {
    if (cachedToken && cachedToken.token !== refused && port.now() < cachedToken.until) return cachedToken.token
    return (await renew()).token
  }

  function send({ method, path, json, text, key, timeoutMs }: PaypalRequest, token: string): Promise<CallAnswer> {
    const body = text ?? (json === undefined ? undefined : JSON.stringify(json))
    const headers = {
      authorization: `Bearer ${token}`,
      // For every POST, also without a body.
      ...(method === 'POST' ? { 'content-type': 'application/json', prefer: 'return=representation' } : {}),
      ...(key === undefined ? {} : { 'paypal-request-id': key }),
    }
    const limitedPort = timeoutMs === undefined ? port : { ...port, timeoutMs: Math.min(timeoutMs, port.timeoutMs ?? timeoutMs) }
    return callProcessor(limitedPort, { method, url: baseUrl + path, headers, ...(body === undefined ? {} : { body }) })
  }

  /**
   * @returns an answer of status 200, 201, 204, 400, 404 or 422
   * @throws ProcessorUnavailable for answers that say nothing about the object
   */
  async function call(request: PaypalRequest): Promise<CallAnswer> {
    const token = await tokenOtherThan(undefined)
    const first = await send(request, token)
    // Usually an expired token. Only a refused new one says something about the account.
    const answer = first.status === 401 ? await send(request, await tokenOtherThan(token)) : first
    assertConclusive(answer)
    return answer
  }

  return { call, renew }
}

/** @throws ProcessorUnavailable for answers that say nothing about the request */
function assertConclusive({ status, json }: CallAnswer): void {
  if (status === 204) return
  if (status === 401 || status === 403) throw new NotAllowed(`the processor answered ${status}`, { neverSent: true })
  if (status === 409 || status === 429) throw inconclusiveError(status)
  if (status === 200 || status === 201) {
    if (typeof json !== 'object' || json === null) throw new UnknownAnswer('no JSON object')
    return
  }
  // Only these are PayPal's. A 404 of a proxy does not mean that the payment is missing.
  if (![400, 404, 422].includes(status) || textAt(json, 'name') === undefined) throw new UnknownAnswer(`status ${status} without a reason`)
}

/** Returns PayPal's code: `details[0].issue` says more than the name of the status. */
export const issueOf = ({ json }: CallAnswer): string =>
  wordOf(textAt(valueAt(json, 'details', 0), 'issue'), textAt(json, 'name')) ?? 'refused'

/** Returns the refusal of an answer, with its code. */
export const refusal = (answer: CallAnswer): ProcessorRefused => new ProcessorRefused(issueOf(answer))

/** Returns the requested object; undefined if PayPal has none. */
export function foundIn(answer: CallAnswer): object | undefined {
  if (answer.status === 404) return undefined
  if (answer.status >= 400) throw refusal(answer)
  return requireValue(answer.json as object | undefined, 'JSON response')
}
