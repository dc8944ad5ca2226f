/** Calls to PayPal: a token that all of an account share, and its errors. */
import { countAt, needed, textAt, valueAt, wordOf } from './answers.ts'
import { type CallAnswer, callProcessor, inconclusive, type ProcessorPort } from './call.ts'
import { notSent, ProcessorRefused, ProcessorUnavailable, UnknownAnswer } from './processor.ts'

export type PaypalRequest = {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly json?: unknown
  /** The body as it is to be sent, where its very bytes count. */
  readonly text?: string
  readonly key?: string
  /** Where it may not take as long as a call may. */
  readonly timeoutMs?: number
}
/** `token`: what calls were made with; `until`: milliseconds. */
type Token = { readonly token: string; readonly until: number }

/** A token is given up this long before it ends, for what is on its way. */
const marginMs = 60_000
/** Where PayPal does not say how long one lives; one that ended before is renewed all the same. */
const livesSeconds = 300

/** The account is not known, or may not do this: nothing happened, and it says nothing of PayPal. */
export class NotAllowed extends ProcessorUnavailable {}

export function createPaypalCalls(
  { clientId, secret, apiUrl }: { clientId: string; secret: string; apiUrl: string },
  port: ProcessorPort & { now(): number },
) {
  const baseUrl = apiUrl.replace(/\/+$/, '')
  let held: Token | undefined
  let renewal: Promise<Token> | undefined

  async function fetchToken(): Promise<Token> {
    const asked = port.now()
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
    // Whatever was to be done with the token has not been sent.
    if (answer.status !== 200) throw new UnknownAnswer(`status ${answer.status} for a token`, { neverSent: true })
    const token = textAt(answer.json, 'access_token')
    if (token === undefined || !/^[\x21-\x7e]+$/.test(token)) throw new UnknownAnswer('no token', { neverSent: true })
    const lives = (countAt(answer.json, 'expires_in') ?? livesSeconds) * 1000
    return { token, until: asked + Math.max(lives - marginMs, lives / 2) }
  }

  /** Asks for a token once for all who need one. @throws ProcessorUnavailable that says that nothing was sent; NotAllowed */
  function renew(): Promise<Token> {
    renewal ??= fetchToken()
      .then((token) => {
        held = token
        return token
      })
      .catch((error: unknown) => {
        throw notSent(error) ?? error
      })
      .finally(() => {
        renewal = undefined
      })
    return renewal
  }

  /** @param refused a token that was not taken: it is not used again, although its time is not over */
  async function tokenOtherThan(refused: string | undefined): Promise<string> {
    if (held && held.token !== refused && port.now() < held.until) return held.token
    return (await renew()).token
  }

  function send({ method, path, json, text, key, timeoutMs }: PaypalRequest, token: string): Promise<CallAnswer> {
    const body = text ?? (json === undefined ? undefined : JSON.stringify(json))
    const headers = {
      authorization: `Bearer ${token}`,
      // Of every POST, also of one without a body.
      ...(method === 'POST' ? { 'content-type': 'application/json', prefer: 'return=representation' } : {}),
      ...(key === undefined ? {} : { 'paypal-request-id': key }),
    }
    const patient = timeoutMs === undefined ? port : { ...port, timeoutMs: Math.min(timeoutMs, port.timeoutMs ?? timeoutMs) }
    return callProcessor(patient, { method, url: baseUrl + path, headers, ...(body === undefined ? {} : { body }) })
  }

  /**
   * @returns an answer of status 200, 201, 204, 400, 404 or 422
   * @throws ProcessorUnavailable for whatever says nothing of the thing itself
   */
  async function call(request: PaypalRequest): Promise<CallAnswer> {
    const token = await tokenOtherThan(undefined)
    const first = await send(request, token)
    // An old token, most of the time: it says nothing of the account before a new one is refused as well.
    const answer = first.status === 401 ? await send(request, await tokenOtherThan(token)) : first
    judge(answer)
    return answer
  }

  return { call, renew }
}

/** @throws ProcessorUnavailable for answers that say nothing of what was asked */
function judge({ status, json }: CallAnswer): void {
  if (status === 204) return
  if (status === 401 || status === 403) throw new NotAllowed(`the processor answered ${status}`, { neverSent: true })
  if (status === 409 || status === 429) throw inconclusive(status)
  if (status === 200 || status === 201) {
    if (typeof json !== 'object' || json === null) throw new UnknownAnswer('no JSON object')
    return
  }
  // No more than these are PayPal's, and a 404 of something in between does not mean that there is no payment.
  if (![400, 404, 422].includes(status) || textAt(json, 'name') === undefined) throw new UnknownAnswer(`status ${status} without a reason`)
}

/** PayPal's word for why: `details[0].issue` says more than the name of the status. */
export const issueOf = ({ json }: CallAnswer): string =>
  wordOf(textAt(valueAt(json, 'details', 0), 'issue'), textAt(json, 'name')) ?? 'refused'

/** What an answer refuses, in its own word. */
export const refusal = (answer: CallAnswer): ProcessorRefused => new ProcessorRefused(issueOf(answer))

/** The thing that was asked for; undefined where PayPal says that there is none. */
export function foundIn(answer: CallAnswer): object | undefined {
  if (answer.status === 404) return undefined
  if (answer.status >= 400) throw refusal(answer)
  return needed(answer.json as object | undefined, 'JSON response')
}
