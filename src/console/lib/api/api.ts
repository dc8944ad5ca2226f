/** Typed client of the API. `bun run console:types` generates `schema.d.ts` from the OpenAPI document. */
import createClient from 'openapi-fetch'
import { syncClock } from '../format/server-clock.ts'
import { common } from '../i18n/common.ts'
import { notify } from '../live/toasts.ts'
import type { components, paths } from '../schema.d.ts'
import { missingShopReports, shop } from '../session/current-shop.ts'
import { accessToken, renew, session, sessionStatus } from '../session/session.ts'
import { type ApiError, noResponseError, readApiError, responseTimeoutMs } from './api-error.ts'

/** A schema of the OpenAPI document, such as `Schema<'Order'>`. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name]

/** A record with its version. */
export type Versioned<Data> = { readonly data: Data; readonly etag: string }

/** Routes about the signed-in person. They work after the person lost access to the current shop. */
const pathsWithoutShop = new Set(['/merchant/me'])
/** Returns the shop of a request that names none. */
const shopOf = ({ url }: Request): string | undefined => (pathsWithoutShop.has(new URL(url).pathname) ? undefined : shop.value?.id)

/**
 * Adds the token and the shop.
 * @param shopId the shop at the time of the call, whichever is shown now
 */
function authorize(request: Request, token: string, shopId: string | undefined): Request {
  request.headers.set('authorization', `Bearer ${token}`)
  if (shopId && !request.headers.has('x-shop-id')) request.headers.set('x-shop-id', shopId)
  return request
}

const writesInFlight = new Set<Request>()
/** Returns whether a write is in flight. */
export const hasWriteInFlight = (): boolean => writesInFlight.size > 0

async function send(request: Request, hasCallerTimeout = false): Promise<Response> {
  const isChange = request.method !== 'GET'
  if (isChange) writesInFlight.add(request)
  try {
    const signal = hasCallerTimeout ? request.signal : AbortSignal.any([request.signal, AbortSignal.timeout(responseTimeoutMs)])
    const response = await fetch(request, { signal })
    syncClock(response)
    if (response.headers.get('idempotent-replayed') === 'true') notify(common('replayed'))
    return response
  } catch (error) {
    if (request.signal.aborted) throw error
    throw noResponseError(isChange)
  } finally {
    writesInFlight.delete(request)
  }
}

/**
 * Sends a request and returns its response, within `responseTimeoutMs`. Renews an expired token once.
 * @param hasCallerTimeout the caller limits the time, as for large files
 * @throws ApiError for every response that is not a success
 */
export async function fetchAuthorized(request: Request, hasCallerTimeout = false): Promise<Response> {
  const retryRequest = request.clone()
  const shopId = shopOf(request)
  const token = await accessToken()
  let response = await send(authorize(request, token, shopId), hasCallerTimeout)
  if (response.status === 401) {
    if (session.value?.accessToken === token) await renew()
    const newToken = session.value?.accessToken
    if (newToken !== undefined && newToken !== token && sessionStatus.value === 'in')
      response = await send(authorize(retryRequest, newToken, shopId), hasCallerTimeout)
  }
  if (!response.ok) throw reportMissingShop(await readApiError(response, request.method !== 'GET'), shopId)
  return response
}

/** A 404 can mean that the person lost access to the shop: counts it, so that the shops are read again. */
function reportMissingShop(error: ApiError, shopId: string | undefined): ApiError {
  if (shopId && error.status === 404) missingShopReports.value++
  return error
}

/**
 * Sends a request without a retry after a 401. For bodies with a password or code: a wrong one also answers 401, and
 * each attempt counts.
 * `api.POST(path, { fetch: fetchWithoutRetry, … })`
 */
export async function fetchWithoutRetry(request: Request): Promise<Response> {
  const shopId = shopOf(request)
  const response = await send(authorize(request, await accessToken(), shopId))
  if (!response.ok) throw reportMissingShop(await readApiError(response, request.method !== 'GET'), shopId)
  return response
}

/**
 * `await ok(api.GET('/v2/orders/{orderId}', { params: { path: { id } } }))` returns the typed response.
 * @throws ApiError, see `fetchAuthorized`
 */
export const api = createClient<paths>({ baseUrl: location.origin, fetch: (request) => fetchAuthorized(request), credentials: 'omit' })

/** Returns the data of a response. Lists can also answer CSV, which the console does not request here. */
export const ok = async <T>(call: Promise<{ data?: T }>): Promise<Exclude<T, string>> => (await call).data as Exclude<T, string>

/**
 * Returns the data with its version, for `If-Match`. Drops `W/`, because a compressing proxy sends some tags weak
 * (`W/"2"`) and others not.
 */
export async function readVersioned<T>(call: Promise<{ data?: T; response: Response }>): Promise<Versioned<Exclude<T, string>>> {
  const { data, response } = await call
  return { data: data as Exclude<T, string>, etag: (response.headers.get('etag') ?? '').replace(/^W\//, '') }
}

/** Returns headers that make a write conditional on a version; none if the version is undefined. */
export const ifMatch = (etag: string | undefined): { 'if-match'?: string } => (etag ? { 'if-match': etag } : {})

/** Creates an `Idempotency-Key`. `crypto.randomUUID` needs a secure context, which plain HTTP lacks. */
export const newIdempotencyKey = (): string => Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join('-')

/** Builds an API path with its query, for uploads and downloads that bypass the typed client. */
export const pathWith = (path: string, query: Readonly<Record<string, string | number | boolean | undefined>> = {}): string => {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  return entries.length === 0 ? path : `${path}?${new URLSearchParams(entries.map(([name, value]) => [name, String(value)]))}`
}
