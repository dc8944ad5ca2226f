/**
 * Who is at the console. The access token is in memory alone; what renews it is in a cookie that no script can read. Renewals go one after
 * another over all tabs, because each spends the cookie of the one before.
 */
import { computed, signal } from '@preact/signals'
import { ApiError, noResponseError, readApiError, responseTimeoutMs } from '../api/api-error.ts'
import { syncClock } from '../format/server-clock.ts'
import type { components } from '../schema.d.ts'
import { cookiesPersist, readStored, writeStored } from './browser-storage.ts'
import { clearDirty, isDirty } from './unsaved-changes.ts'

export type StaffShop = components['schemas']['ShopOfStaff']
export type StaffRole = StaffShop['role']

export type Session = {
  readonly accessToken: string
  /** By the clock of this page that only goes forward: the clock on the wall may be wrong. */
  readonly expiresAt: number
  readonly begunAt: number
  /** A part of one, so that not all tabs renew at the same moment. */
  readonly spread: number
  readonly roles: readonly ('MERCHANT' | 'SUPER_ADMIN')[]
  readonly shops: readonly StaffShop[]
  /** Where streams of events stood when it was answered; undefined of what another tab was answered. */
  readonly lastEventId: string | undefined
}

/** `asking`: it is not known yet. `setup`: nobody runs this souk yet. `away`: souk does not answer. `locked`: their session is over, and what they
 * typed waits behind the login. */
export type SessionStatus = 'asking' | 'out' | 'setup' | 'away' | 'in' | 'locked'

export const sessionStatus = signal<SessionStatus>('asking')
/** Undefined while nobody is in. */
export const session = signal<Session | undefined>(undefined)
/** Why somebody is out who was in, or was about to be: another one has made the first operator. For the page to say. */
export const endReason = signal<'idle' | 'ended' | 'taken' | undefined>(undefined)

export const isOperator = computed(() => session.value?.roles.includes('SUPER_ADMIN') ?? false)
export const shops = computed(() => session.value?.shops ?? [])

type SessionResponse = { accessToken: string; expiresIn: number; roles: Session['roles']; shops: Session['shops'] }
type TabMessage = { kind: 'renewed'; answer: SessionResponse } | { kind: 'out'; because: 'idle' | 'ended' | undefined } | { kind: 'active' }

const tabs = new BroadcastChannel('souk-console')
const broadcast = (message: TabMessage) => tabs.postMessage(message)

/** Renewed after so long at the latest, while somebody is there: the cookie lasts for two hours from each renewal. */
const renewedAfterMs = 30 * 60_000
/** Without a key, a press or a touch in any tab for so long, whoever sits there has gone. */
export const idleMaxMs = 30 * 60_000

/** What a token says of itself: whom it is of (RFC 7519, `sub`), and of which session (`sid`). It is souk that checks it. @returns '' of none */
function readClaim(token: string, name: 'sub' | 'sid'): string {
  try {
    return String(JSON.parse(atob((token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/')))[name])
  } catch {
    return ''
  }
}

/** Where no cookie stays to renew by, the token is all there is. */
const renewAt = ({ begunAt, expiresAt, spread }: Session): number =>
  cookiesPersist() ? begunAt + Math.min((expiresAt - begunAt) / 2, renewedAfterMs) * spread : expiresAt

function applySession(answer: SessionResponse, lastEventId?: string | null): void {
  const { accessToken, expiresIn, roles, shops } = answer
  const before = session.value
  // Somebody else has logged in, in another tab: nothing that is here is theirs.
  if (before && readClaim(before.accessToken, 'sub') !== readClaim(accessToken, 'sub')) return void reloadPage()
  const now = performance.now()
  const times = { begunAt: now, expiresAt: now + expiresIn * 1000, spread: 0.9 + Math.random() * 0.1 }
  session.value = { accessToken, ...times, roles, shops, lastEventId: lastEventId ?? undefined }
  endReason.value = undefined
  sessionStatus.value = 'in'
}

const sessionIdKey = 'souk-console-session'
/** The session that was begun at this page, as a login or a first run answers it. */
const storeSessionId = ({ accessToken }: SessionResponse) => writeStored('localStorage', sessionIdKey, readClaim(accessToken, 'sid'))
/**
 * Whether a session that a cookie brings was begun at this page. Another site of the domain may set a cookie of its own session here: whoever
 * comes would work in somebody else's account without a sign. What is kept beside it that site cannot write. Where nothing is kept nobody can tell.
 */
const isOwnSession = ({ accessToken }: SessionResponse): boolean => {
  const mine = readStored('localStorage', sessionIdKey)
  return mine === readClaim(accessToken, 'sid') || (mine === null && !writeStored('localStorage', sessionIdKey, ''))
}

/** One's own id; '' where nobody is in. */
export const myId = (): string => readClaim(session.value?.accessToken ?? '', 'sub')

/** Another page, with nothing of this one; what was typed in it is not asked about. */
function reloadPage(): void {
  clearDirty()
  location.reload()
}

/** How often somebody has left: what was asked for before that is for nobody. */
let sessionsEnded = 0
function endSession(because: 'idle' | 'ended' | undefined, to: SessionStatus = 'out'): void {
  const wasIn = sessionStatus.value === 'in'
  sessionsEnded++
  // Whoever is to log in again finds what they typed; who logs out leaves nothing.
  const keeps = because !== undefined && (sessionStatus.value === 'locked' || (wasIn && isDirty()))
  if (!keeps) session.value = undefined
  if (wasIn) endReason.value = because
  sessionStatus.value = keeps ? 'locked' : to
}

async function requestSession(path: '/console/session' | '/console/setup', method: 'POST' | 'DELETE', body?: object): Promise<Response> {
  try {
    const answer = await fetch(path, {
      method,
      credentials: 'same-origin',
      signal: AbortSignal.timeout(responseTimeoutMs),
      ...(method === 'POST' ? { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body ?? {}) } : {}),
    })
    syncClock(answer)
    return answer
  } catch {
    throw noResponseError()
  }
}

/**
 * Holds a lock over all tabs. Where a browser has none (no secure context, no cookies), or does not give it, this tab is the only one that counts:
 * two that spend one cookie at once are both served.
 */
async function withTabLock<T>(work: () => Promise<T>): Promise<T> {
  if (!cookiesPersist() || !('locks' in navigator)) return work()
  let done: Promise<T> | undefined
  const inTurn = () => {
    done = work()
    return done
  }
  try {
    return await navigator.locks.request('souk-console-session', { signal: AbortSignal.timeout(responseTimeoutMs) }, inTurn)
  } catch {
    return done ?? work()
  }
}

declare global {
  /** What bootstrap.ts asked for, with no answer where it could not; null once it was taken, or the page has asked by itself. */
  var soukBootstrap:
    | { readonly answer: Promise<Response | undefined>; readonly giveUp: AbortController; readonly isAsked: () => boolean }
    | null
    | undefined
}

let renewing: Promise<void> | undefined

/**
 * Takes new tokens by the cookie, or those that another tab has just taken.
 * @throws Refused where souk does not answer; that nobody is logged in is no error
 */
export function renew(): Promise<void> {
  const before = session.value?.accessToken
  return renewWith(() =>
    withTabLock(async () => {
      // While this tab waited for its turn, another one was at it, and told.
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

/** A lock that is free is given at once: a browser that takes longer to say so gives none. */
const lockMaxMs = 3_000

/** What bootstrap.ts was answered, where that is a session: that nobody is in may be older than a login in another tab, and is asked once more. */
async function bootstrapResponse(): Promise<Response> {
  const early = globalThis.soukBootstrap
  globalThis.soukBootstrap = null
  if (early) {
    const { giveUp, isAsked } = early
    const isOver = new Promise<undefined>((resume) => giveUp.signal.addEventListener('abort', () => resume(undefined)))
    const locking = setTimeout(() => isAsked() || giveUp.abort(), lockMaxMs)
    const asking = setTimeout(() => giveUp.abort(), responseTimeoutMs)
    const answer = await Promise.race([early.answer, isOver])
    clearTimeout(locking)
    if (answer?.ok) {
      syncClock(answer)
      return answer
    }
    clearTimeout(asking)
    if (giveUp.signal.aborted) {
      if (isAsked()) throw noResponseError()
      return requestSession('/console/session', 'POST')
    }
  }
  return withTabLock(() => requestSession('/console/session', 'POST'))
}

/** Shows whom the cookie is of, as souk answers it. @throws Refused where it does not answer */
async function adoptSession(asked: () => Promise<Response>): Promise<void> {
  const before = session.value?.accessToken
  const leftBefore = sessionsEnded
  const answer = await asked()
  const given = answer.ok ? ((await answer.json()) as SessionResponse) : undefined
  if (given && isOwnSession(given)) {
    // Logged out meanwhile: the session is over.
    if (sessionsEnded !== leftBefore) return
    applySession(given, answer.headers.get('last-event-id'))
    broadcast({ kind: 'renewed', answer: given })
    return
  }
  const refusal = given ? new ApiError(401, '', undefined, null, null) : await readApiError(answer)
  // Somebody has logged in meanwhile: it is not of them.
  if (session.value?.accessToken !== before) return
  if (refusal.code === 'SETUP_REQUIRED') return endSession(undefined, 'setup')
  if (refusal.status !== 401 && refusal.status !== 403) throw refusal
  endSession('ended')
  // Without a cookie it is of this tab alone that it is over; and somebody else's session says nothing of those of other tabs.
  if (cookiesPersist() && !given) broadcast({ kind: 'out', because: 'ended' })
}

/** Asks for the first time who is there. */
export async function startSession(): Promise<void> {
  try {
    globalThis.soukBootstrap ??= null
    await (globalThis.soukBootstrap ? renewWith(() => adoptSession(bootstrapResponse)) : renew())
  } catch {
    sessionStatus.value = 'away'
  }
}

/** @throws Refused, with `TOTP_REQUIRED` where a second factor is asked for */
export async function logIn(credentials: { email: string; password: string; code?: string }): Promise<void> {
  const answer = await requestSession('/console/session', 'POST', credentials)
  if (!answer.ok) throw await readApiError(answer)
  await adoptLogin(answer)
}

/** Shows what a session that has just begun is for, here and in the other tabs. */
async function adoptLogin(answer: Response): Promise<void> {
  const given = (await answer.json()) as SessionResponse
  storeSessionId(given)
  applySession(given, answer.headers.get('last-event-id'))
  broadcast({ kind: 'renewed', answer: given })
}

/** Makes the first super admin, by the token that the terminal printed. Where there is one by now, it is the login that one sees. @throws Refused */
export async function setUp(asked: { token: string; email: string; password: string }): Promise<void> {
  const answer = await requestSession('/console/setup', 'POST', asked)
  if (!answer.ok) {
    const refusal = await readApiError(answer)
    if (refusal.status !== 409) throw refusal
    // It may be the e-mail address that is taken: then nobody runs this souk still.
    await renew()
    if (sessionStatus.value === 'setup') throw refusal
    if (sessionStatus.value === 'out') endReason.value = 'taken'
    return
  }
  await adoptLogin(answer)
}

/** Ends the session, here and on the server. */
export async function logOut(because?: 'idle'): Promise<void> {
  const token = session.value?.accessToken
  endSession(because)
  broadcast({ kind: 'out', because })
  // Nor is it of a tab that was answered before and has not shown it yet.
  writeStored('localStorage', sessionIdKey, '')
  await (cookiesPersist() || !token ? requestSession('/console/session', 'DELETE') : deleteSession(token)).catch(() => undefined)
}

/** Ends the session of a token: where no cookie stays, nothing else says which it is. */
const deleteSession = (token: string): Promise<Response> =>
  fetch(`/auth/sessions/${encodeURIComponent(readClaim(token, 'sid'))}`, {
    method: 'DELETE',
    credentials: 'omit',
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(responseTimeoutMs),
  })

/**
 * A token that holds for a while.
 * @throws Refused 401 when nobody is logged in any more
 */
export async function accessToken(): Promise<string> {
  const held = session.value
  if (held && held.expiresAt > performance.now()) return held.accessToken
  await renew()
  if (!session.value || sessionStatus.value !== 'in') throw new ApiError(401, '', 'LOGGED_OUT', null, null)
  return session.value.accessToken
}

tabs.onmessage = ({ data }: MessageEvent<TabMessage>) => {
  if (data.kind === 'active') lastActive = performance.now()
  else if (data.kind === 'renewed') applySession(data.answer)
  else if (session.value) endSession(data.because)
}

/** Less is a clock that is put right. */
const sleptMinMs = 60_000
let lastActive = performance.now()
let lastTold = 0
function recordActivity(): void {
  lastActive = performance.now()
  if (lastActive - lastTold < 10_000) return
  lastTold = lastActive
  broadcast({ kind: 'active' })
}

/** Looks from time to time whether to renew and whether somebody is there still. */
export function watchSession(): void {
  for (const event of ['pointerdown', 'keydown', 'touchstart', 'wheel'])
    addEventListener(event, recordActivity, { passive: true, capture: true })
  let [looked, lookedAt] = [performance.now(), Date.now()]
  const look = () => {
    // While a machine sleeps its steady clock may stand still: what the one on the wall went further counts, too.
    const asleep = Date.now() - lookedAt - (performance.now() - looked)
    if (asleep > sleptMinMs) lastActive -= asleep
    looked = performance.now()
    lookedAt = Date.now()
    const held = session.value
    if (!held || sessionStatus.value !== 'in') return
    if (performance.now() - lastActive > idleMaxMs) return void logOut('idle')
    if (performance.now() > renewAt(held)) renew().catch(() => undefined)
  }
  setInterval(look, 15_000)
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && look())
}
