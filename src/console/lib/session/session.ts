/**
 * The console's session. The access token stays in memory; an HttpOnly cookie renews it. Tabs renew one after
 * another, because each renewal replaces the cookie.
 */
import { computed, signal } from '@preact/signals'
import { ApiError, noResponseError, readApiError, responseTimeoutMs } from '../api/api-error.ts'
import { syncClock } from '../format/server-clock.ts'
import type { components } from '../schema.d.ts'
import { cookiesPersist, readStored, writeStored } from './browser-storage.ts'
import { clearDirty, isDirty } from './unsaved-changes.ts'

export type StaffShop = components['schemas']['ShopOfStaff']
export type StaffRole = StaffShop['role']

type Session = {
  readonly accessToken: string
  /** By `performance.now()`, because the system clock can be wrong. */
  readonly expiresAt: number
  readonly begunAt: number
  /** Random factor, so that tabs do not renew at the same moment. */
  readonly renewalFactor: number
  readonly roles: readonly ('MERCHANT' | 'SUPER_ADMIN')[]
  readonly shops: readonly StaffShop[]
  readonly canCreateShops: boolean
  readonly features: components['schemas']['ConsoleSession']['features']
  /** Ids of the person's shops with affiliates. */
  readonly affiliateShops: readonly string[]
  /** Position of the event streams at sign-in; undefined if another tab shared the session. */
  readonly lastEventId: string | undefined
}

/**
 * `unknown`: not read yet. `setup`: no operator exists yet. `unreachable`: the server does not answer.
 * `locked`: the session ended and unsaved input waits behind the login.
 */
type SessionStatus = 'unknown' | 'out' | 'setup' | 'unreachable' | 'in' | 'locked'

export const sessionStatus = signal<SessionStatus>('unknown')
/** Undefined while nobody is signed in. */
export const session = signal<Session | undefined>(undefined)
/** Why the session ended; `taken` if another person created the first operator. */
export const endReason = signal<'idle' | 'ended' | 'taken' | undefined>(undefined)

export const isOperator = computed(() => session.value?.roles.includes('SUPER_ADMIN') ?? false)
export const shops = computed(() => session.value?.shops ?? [])

/** Adds a shop that the person opened. */
export function addShop(shop: StaffShop): void {
  if (session.value) session.value = { ...session.value, shops: [...session.value.shops, shop] }
}

type SessionResponse = Pick<Session, 'accessToken' | 'roles' | 'shops' | 'canCreateShops' | 'features' | 'affiliateShops'> & {
  readonly expiresIn: number
}
type TabMessage =
  | { kind: 'renewed'; response: SessionResponse }
  | { kind: 'out'; reason: 'idle' | 'ended' | undefined }
  | { kind: 'active' }

const tabs = new BroadcastChannel('souk-console')
const broadcast = (message: TabMessage) => tabs.postMessage(message)

/** Renewal interval while the person is active. The cookie lasts two hours from each renewal. */
const renewedAfterMs = 30 * 60_000
/** Time without input in any tab after which the session ends. */
const idleMaxMs = 30 * 60_000

/**
 * Reads a claim of a token (RFC 7519 `sub`, or the session's `sid`) without a check; the server checks it.
 * @returns '' if absent
 */
function readClaim(token: string, name: 'sub' | 'sid'): string {
  try {
    return String(JSON.parse(atob((token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/')))[name])
  } catch {
    return ''
  }
}

/** Without a cookie the token cannot be renewed before it expires. */
const renewAt = ({ begunAt, expiresAt, renewalFactor }: Session): number =>
  cookiesPersist() ? begunAt + Math.min((expiresAt - begunAt) / 2, renewedAfterMs) * renewalFactor : expiresAt

function applySession(response: SessionResponse, lastEventId?: string | null): void {
  const { expiresIn, ...data } = response
  const { accessToken } = data
  const previous = session.value
  // Another account signed in, in another tab.
  if (previous && readClaim(previous.accessToken, 'sub') !== readClaim(accessToken, 'sub')) return void reloadPage()
  const now = performance.now()
  const times = { begunAt: now, expiresAt: now + expiresIn * 1000, renewalFactor: 0.9 + Math.random() * 0.1 }
  session.value = { ...data, ...times, lastEventId: lastEventId ?? undefined }
  endReason.value = undefined
  sessionStatus.value = 'in'
}

const sessionIdKey = 'souk-console-session'
/** Stores the id of a session that began at this page. */
const storeSessionId = ({ accessToken }: SessionResponse) => writeStored('localStorage', sessionIdKey, readClaim(accessToken, 'sid'))
/**
 * Returns whether a session began at this page. Another site of the domain could set a cookie of its own session
 * (login CSRF), but cannot write this storage.
 */
const isOwnSession = ({ accessToken }: SessionResponse): boolean => {
  const storedId = readStored('localStorage', sessionIdKey)
  return storedId === readClaim(accessToken, 'sid') || (storedId === null && !writeStored('localStorage', sessionIdKey, ''))
}

/** Returns the signed-in person's id; '' if nobody is. */
export const myId = (): string => readClaim(session.value?.accessToken ?? '', 'sub')

/** Reloads the page without the question about unsaved changes. */
function reloadPage(): void {
  clearDirty()
  location.reload()
}

/** Counts ended sessions, so that late responses are dropped. */
let sessionsEnded = 0
function endSession(reason: 'idle' | 'ended' | undefined, to: SessionStatus = 'out'): void {
  const wasIn = sessionStatus.value === 'in'
  sessionsEnded++
  // Keeps unsaved input behind the login if the session expired, but not after a log-out.
  const isLocked = reason !== undefined && (sessionStatus.value === 'locked' || (wasIn && isDirty()))
  if (!isLocked) session.value = undefined
  if (wasIn) endReason.value = reason
  sessionStatus.value = isLocked ? 'locked' : to
}

async function requestSession(path: '/console/session' | '/console/setup', method: 'POST' | 'DELETE', body?: object): Promise<Response> {
  try {
    const response = await fetch(path, {
      method,
      credentials: 'same-origin',
      signal: AbortSignal.timeout(responseTimeoutMs),
      ...(method === 'POST' ? { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body ?? {}) } : {}),
    })
    syncClock(response)
    return response
  } catch {
    throw noResponseError()
  }
}

/** Runs work under a lock of all tabs. Without a lock it runs at once: the server accepts two uses of one cookie. */
async function withTabLock<T>(work: () => Promise<T>): Promise<T> {
  if (!cookiesPersist() || !('locks' in navigator)) return work()
  let running: Promise<T> | undefined
  const runLocked = () => {
    running = work()
    return running
  }
  try {
    return await navigator.locks.request('souk-console-session', { signal: AbortSignal.timeout(responseTimeoutMs) }, runLocked)
  } catch {
    return running ?? work()
  }
}

declare global {
  /** The request of bootstrap.ts; null once it is taken or the page sent its own. */
  var soukBootstrap:
    | { readonly response: Promise<Response | undefined>; readonly controller: AbortController; readonly isSent: () => boolean }
    | null
    | undefined
}

let renewing: Promise<void> | undefined

/**
 * Renews the token by the cookie, or takes the token that another tab just got.
 * @throws ApiError if the server does not answer; a missing session is no error
 */
export function renew(): Promise<void> {
  const before = session.value?.accessToken
  return renewWith(() =>
    withTabLock(async () => {
      // Another tab may have renewed while this one waited.
      await new Promise((resume) => setTimeout(resume))
      if (session.value === undefined || session.value.accessToken === before)
        await adoptSession(() => requestSession('/console/session', 'POST'))
    }),
  )
}

function renewWith(work: () => Promise<void>): Promise<void> {
  renewing ??= work().finally(() => {
    renewing = undefined
  })
  return renewing
}

/** A free lock is granted at once; a browser that needs longer does not grant it. */
const lockMaxMs = 3_000

/**
 * Returns the response of bootstrap.ts if it has a session. Otherwise it asks again, because another tab may have
 * signed in since.
 */
async function bootstrapResponse(): Promise<Response> {
  const bootstrap = globalThis.soukBootstrap
  globalThis.soukBootstrap = null
  if (bootstrap) {
    const { controller, isSent } = bootstrap
    const aborted = new Promise<undefined>((resume) => controller.signal.addEventListener('abort', () => resume(undefined)))
    const lockTimer = setTimeout(() => isSent() || controller.abort(), lockMaxMs)
    const responseTimer = setTimeout(() => controller.abort(), responseTimeoutMs)
    const response = await Promise.race([bootstrap.response, aborted])
    clearTimeout(lockTimer)
    if (response?.ok) {
      syncClock(response)
      return response
    }
    clearTimeout(responseTimer)
    if (controller.signal.aborted) {
      if (isSent()) throw noResponseError()
      return requestSession('/console/session', 'POST')
    }
  }
  return withTabLock(() => requestSession('/console/session', 'POST'))
}

/**
 * Applies the session that the cookie belongs to.
 * @throws ApiError if the server does not answer
 */
async function adoptSession(request: () => Promise<Response>): Promise<void> {
  const before = session.value?.accessToken
  const endedBefore = sessionsEnded
  const response = await request()
  const data = response.ok ? ((await response.json()) as SessionResponse) : undefined
  if (data && isOwnSession(data)) {
    // Logged out meanwhile.
    if (sessionsEnded !== endedBefore) return
    applySession(data, response.headers.get('last-event-id'))
    broadcast({ kind: 'renewed', response: data })
    return
  }
  const error = data ? new ApiError(401, '', undefined, null, null) : await readApiError(response)
  // Somebody signed in meanwhile.
  if (session.value?.accessToken !== before) return
  if (error.code === 'SETUP_REQUIRED') return endSession(undefined, 'setup')
  if (error.status !== 401 && error.status !== 403) throw error
  endSession('ended')
  // Without a cookie the end concerns this tab only; a foreign session says nothing about other tabs.
  if (cookiesPersist() && !data) broadcast({ kind: 'out', reason: 'ended' })
}

/** Requests the session when the page starts. */
export async function startSession(): Promise<void> {
  try {
    globalThis.soukBootstrap ??= null
    await (globalThis.soukBootstrap ? renewWith(() => adoptSession(bootstrapResponse)) : renew())
  } catch {
    sessionStatus.value = 'unreachable'
  }
}

/** @throws ApiError with `TOTP_REQUIRED` if a second factor is needed */
export async function logIn(credentials: { email: string; password: string; code?: string }): Promise<void> {
  const response = await requestSession('/console/session', 'POST', credentials)
  if (!response.ok) throw await readApiError(response)
  await adoptLogin(response)
}

/** Applies a new session here and in other tabs. */
async function adoptLogin(response: Response): Promise<void> {
  const data = (await response.json()) as SessionResponse
  storeSessionId(data)
  applySession(data, response.headers.get('last-event-id'))
  broadcast({ kind: 'renewed', response: data })
}

type NewShop = { title: string; shopName: string; country: string; currency: string }

/**
 * Creates the first operator and their shop with the token from the terminal; shows the login if there is one already.
 * @throws ApiError
 */
export async function setUp(request: { token: string; email: string; password: string; shop: NewShop }): Promise<void> {
  const response = await requestSession('/console/setup', 'POST', request)
  if (!response.ok) {
    const error = await readApiError(response)
    if (error.status !== 409) throw error
    // A 409 can also mean that the e-mail address is taken.
    await renew()
    if (sessionStatus.value === 'setup') throw error
    if (sessionStatus.value === 'out') endReason.value = 'taken'
    return
  }
  await adoptLogin(response)
}

/** Ends the session, here and on the server. */
export async function logOut(reason?: 'idle'): Promise<void> {
  const token = session.value?.accessToken
  endSession(reason)
  broadcast({ kind: 'out', reason })
  // Also for a tab that has not applied its response yet.
  writeStored('localStorage', sessionIdKey, '')
  await (cookiesPersist() || !token ? requestSession('/console/session', 'DELETE') : deleteSession(token)).catch(() => undefined)
}

/** Ends a session by its token, if no cookie identifies it. */
const deleteSession = (token: string): Promise<Response> =>
  fetch(`/auth/sessions/${encodeURIComponent(readClaim(token, 'sid'))}`, {
    method: 'DELETE',
    credentials: 'omit',
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(responseTimeoutMs),
  })

/**
 * Returns a valid token.
 * @throws ApiError 401 if nobody is signed in
 */
export async function accessToken(): Promise<string> {
  const current = session.value
  if (current && current.expiresAt > performance.now()) return current.accessToken
  await renew()
  if (!session.value || sessionStatus.value !== 'in') throw new ApiError(401, '', 'LOGGED_OUT', null, null)
  return session.value.accessToken
}

tabs.onmessage = ({ data }: MessageEvent<TabMessage>) => {
  if (data.kind === 'active') lastActive = performance.now()
  else if (data.kind === 'renewed') applySession(data.response)
  else if (session.value) endSession(data.reason)
}

/** Smaller jumps are corrections of the clock. */
const sleptMinMs = 60_000
let lastActive = performance.now()
let lastBroadcast = 0
function recordActivity(): void {
  lastActive = performance.now()
  if (lastActive - lastBroadcast < 10_000) return
  lastBroadcast = lastActive
  broadcast({ kind: 'active' })
}

/** Renews the token and detects inactivity, at an interval. */
export function watchSession(): void {
  for (const event of ['pointerdown', 'keydown', 'touchstart', 'wheel'])
    addEventListener(event, recordActivity, { passive: true, capture: true })
  let [lastCheck, lastCheckAt] = [performance.now(), Date.now()]
  const check = () => {
    // `performance.now()` may stop during sleep, so the system clock's extra time counts as inactivity.
    const sleptMs = Date.now() - lastCheckAt - (performance.now() - lastCheck)
    if (sleptMs > sleptMinMs) lastActive -= sleptMs
    lastCheck = performance.now()
    lastCheckAt = Date.now()
    const current = session.value
    if (!current || sessionStatus.value !== 'in') return
    if (performance.now() - lastActive > idleMaxMs) return void logOut('idle')
    if (performance.now() > renewAt(current)) renew().catch(() => undefined)
  }
  setInterval(check, 15_000)
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && check())
}
