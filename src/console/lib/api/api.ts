/** souk's API, typed by its own document: `schema.d.ts` is made of it by `bun run console:types`. */
import createClient from 'openapi-fetch'
import { syncClock } from '../format/server-clock.ts'
import { common } from '../i18n/common.ts'
import { notify } from '../live/toasts.ts'
import type { components, paths } from '../schema.d.ts'
import { missingShopReports, shop } from '../session/current-shop.ts'
import { accessToken, renew, session, sessionStatus } from '../session/session.ts'
import { ApiError, noResponseError, readApiError, responseTimeoutMs } from './api-error.ts'

export { ApiError as Refused }

/** A record as the document names it, such as `Schema<'Order'>`. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name]

/** What is of whoever asks, and of no shop: where they lost the one that is shown, it is still theirs. */
const pathsWithoutShop = new Set(['/merchant/me'])
/** The shop that a request is for, where it names none itself. */
const shopOf = ({ url }: Request): string | undefined => (pathsWithoutShop.has(new URL(url).pathname) ? undefined : shop.value?.id)

/** @param shopId of the shop that it was asked for, whichever is shown by now */
function authorize(request: Request, token: string, shopId: string | undefined): Request {
  request.headers.set('authorization', `Bearer ${token}`)
  if (shopId && !request.headers.has('x-shop-id')) request.headers.set('x-shop-id', shopId)
  return request
}

const writesInFlight = new Set<Request>()
/** Whether something that was to change is under way. */
export const hasWriteInFlight = (): boolean => writesInFlight.size > 0

async function send(request: Request, isPatient = false): Promise<Response> {
  const isChange = request.method !== 'GET'
  if (isChange) writesInFlight.add(request)
  try {
    const signal = isPatient ? request.signal : AbortSignal.any([request.signal, AbortSignal.timeout(responseTimeoutMs)])
    const answer = await fetch(request, { signal })
    syncClock(answer)
    if (answer.headers.get('idempotent-replayed') === 'true') notify(common('replayed'))
    return answer
  } catch (error) {
    if (request.signal.aborted) throw error
    throw noResponseError(isChange)
  } finally {
    writesInFlight.delete(request)
  }
}

/**
 * A request and its answer, all of which must have come within `patienceMs`.
 * @param isPatient whoever asks watches over the time, as of files that come for long
 * @throws Refused for whatever is no success; a token that ended meanwhile is renewed once
 */
export async function fetchAuthorized(request: Request, isPatient = false): Promise<Response> {
  const again = request.clone()
  const shopId = shopOf(request)
  const token = await accessToken()
  let answer = await send(authorize(request, token, shopId), isPatient)
  if (answer.status === 401) {
    if (session.value?.accessToken === token) await renew()
    const now = session.value?.accessToken
    if (now !== undefined && now !== token && sessionStatus.value === 'in') answer = await send(authorize(again, now, shopId), isPatient)
  }
  if (!answer.ok) throw noteMissingShop(await readApiError(answer, request.method !== 'GET'), shopId)
  return answer
}

/** What is not there may be the shop itself, to whoever works in it no more. @param shopId which it was refused for */
function noteMissingShop(refusal: ApiError, shopId: string | undefined): ApiError {
  if (shopId && refusal.status === 404) missingShopReports.value++
  return refusal
}

/**
 * The same without a second try after a 401, for requests that hold a password or a code: it may be that which is wrong, and each try counts.
 * `api.POST(path, { fetch: fetchedOnce, … })`
 */
export async function fetchWithoutRetry(request: Request): Promise<Response> {
  const shopId = shopOf(request)
  const answer = await send(authorize(request, await accessToken(), shopId))
  if (!answer.ok) throw noteMissingShop(await readApiError(answer, request.method !== 'GET'), shopId)
  return answer
}

/**
 * `await ok(api.GET('/v2/orders/{orderId}', { params: { path: { id } } }))` returns the typed response. Refusals are
 * thrown; see `fetched`.
 */
export const api = createClient<paths>({ baseUrl: location.origin, fetch: (request) => fetchAuthorized(request), credentials: 'omit' })

/** What an answer holds. Lists answer CSV too, but not to those who do not ask for it. */
export const ok = async <T>(call: Promise<{ data?: T }>): Promise<Exclude<T, string>> => (await call).data as Exclude<T, string>

/**
 * The same with its version, for `If-Match` and for comparison. Drops `W/`, because a compressing proxy sends some tags
 * weak (`W/"2"`) and others not.
 */
export async function readVersioned<T>(call: Promise<{ data?: T; response: Response }>): Promise<{ data: T; etag: string }> {
  const { data, response } = await call
  return { data: data as T, etag: (response.headers.get('etag') ?? '').replace(/^W\//, '') }
}

/** Headers of a write that is to hold for that version alone; undefined: for whatever is there. */
export const ifMatch = (etag: string | undefined): { 'if-match'?: string } => (etag ? { 'if-match': etag } : {})

/** A name for one intention, however often it is sent: `Idempotency-Key`. `crypto.randomUUID` wants a secure context. */
export const newIdempotencyKey = (): string => Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join('-')

/** A path of the API with its query, where the typed client does not go: files that are sent or taken along. */
export const pathWith = (path: string, query: Readonly<Record<string, string | number | boolean | undefined>> = {}): string => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`
}
