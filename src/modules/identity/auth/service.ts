import type { Writer } from '../../../../db/engine.ts'
import type { Caller } from '../../../core/caller.ts'
import { type Actor, locking, type Origin } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import { runUntracked } from '../../../core/request-context.ts'
import type { TokenOptions } from '../../../core/tokens.ts'
import { hmac, type MasterKey, sha256 } from '../../../lib/seal.ts'
import { audit, type FailedLogin, recordFailedLogin } from '../../operations/audit/index.ts'
import {
  type Account,
  type Limit,
  limitsByAddress,
  loginByAccount,
  loginByAccountAndAddress,
  loginByAddress,
  loginDelayMs,
  loginsWaitingRetrySeconds,
  refreshGraceMs,
  type Subject,
  subjectOf,
} from './domain.ts'
import type { AuthDeps } from './providers.ts'
import type { Session } from './store.ts'

export type Login = { data: { accessToken: string; tokenType: 'Bearer'; expiresIn: number; refreshToken: string } }

const attemptsRetentionMs = 60 * 60 * 1000
const deletionBatchSize = 500
const invalidCredentials = () =>
  new AppError('UNAUTHENTICATED', 'The email address or the password is wrong', { code: 'invalid_credentials' })
/** For a caller who is logged in and gave no e-mail address. */
const wrongPassword = () => new AppError('UNAUTHENTICATED', 'The password is wrong', { code: 'invalid_credentials' })
const tooManyLogins = () =>
  new AppError('UNAVAILABLE', 'Too many logins at once: try again', { retryAfterSeconds: loginsWaitingRetrySeconds })
const invalidRefreshToken = () => new AppError('UNAUTHENTICATED', 'The refresh token is not valid: log in again')

const bucketOf = (limit: Limit, subject: string) => `${limit.name}:${sha256(subject)}`

type LimitKeys = readonly (readonly [Limit, string])[]

/**
 * Counts an attempt against each limit before it is made, so that concurrent attempts cannot exceed it.
 * @param onCounted runs after the commit, before other writers proceed
 * @returns the ids of the counted attempts, and each limit's count before
 * @throws AppError RATE_LIMITED with the time to retry
 */
export async function countAttempt(
  { db, clock, newId, authStore }: AuthDeps,
  limits: LimitKeys,
  onCounted?: () => void,
): Promise<{ ids: string[]; before: number[] }> {
  const now = clock.now()
  const rows = limits.map(([limit, subject]) => ({ id: newId('attempt'), bucket: bucketOf(limit, subject), at: now }))
  // Not in the request's own write: the attempt stays counted if the request fails.
  const counts = await runUntracked(() =>
    db.write(async (tx) => {
      authStore.holdBuckets(
        tx,
        rows.map(({ bucket }) => bucket),
      )
      const counts: { count: number; oldest: number | undefined }[] = []
      for (const [limit, subject] of limits) counts.push(await authStore.countAttempts(tx, bucketOf(limit, subject), now - limit.windowMs))
      const over = limits.some(([limit], at) => limit !== loginByAccount && (counts[at]?.count ?? 0) >= limit.most)
      if (over) return counts
      await authStore.insertAttempts(tx, rows)
      if (onCounted) tx.afterCommit(onCounted)
      return counts
    }, locking),
  )
  const waits = limits.flatMap(([limit], at) => {
    const { count, oldest } = counts[at] ?? { count: 0, oldest: undefined }
    return limit === loginByAccount || count < limit.most ? [] : [(oldest ?? now) + limit.windowMs - now]
  })
  // Retry when all limits allow it.
  if (waits.length > 0)
    throw new AppError('RATE_LIMITED', 'Too many attempts: try again later', { retryAfterSeconds: Math.max(...waits) / 1000 })
  return { ids: rows.map(({ id }) => id), before: counts.map(({ count }) => count) }
}

/**
 * Checks a password. Unknown accounts take the same time and get the same error.
 * @param address the rate-limit key, see http/client-ip
 * @param isOwn whether the caller is logged in and repeats their password
 * @param record details of a failure for the audit trail
 * @throws AppError UNAUTHENTICATED, RATE_LIMITED; UNAVAILABLE if too many logins are waiting
 */
export async function checkPassword(
  deps: AuthDeps,
  { kind, name, hash }: Account,
  { address, password, isOwn = false }: { address: string; password: string; isOwn?: boolean },
  record: Omit<FailedLogin, 'failures'> = { accountId: undefined, from: {} },
): Promise<void> {
  const limits: LimitKeys = [
    ...limitsByAddress(loginByAccountAndAddress, address, (one) => `${name}|${one}`),
    ...limitsByAddress(loginByAddress, address, (one) => `${kind}|${one}`),
    [loginByAccount, name],
  ]
  const { ids, before, release } = await countOrWait(deps, limits)
  try {
    if ((before.at(-1) ?? 0) >= loginByAccount.most) await deps.sleep(loginDelayMs)
    // An overloaded hasher says nothing about the password, so the attempt does not count as a failure.
    const matches = await deps.passwords.verify(password, hash, { kind, address }).catch((error: unknown) => error)
    if (matches === false) {
      await recordFailedLogin(deps, { ...record, failures: (before[0] ?? 0) + 1 })
      throw isOwn ? wrongPassword() : invalidCredentials()
    }
    await runUntracked(() => deps.db.write((tx) => deps.authStore.removeAttempts(tx, ids), locking))
    if (matches !== true) throw matches
  } finally {
    release()
  }
}

/**
 * Counts an attempt, or waits while pending attempts fill a limit. Only failures count in the end, so people who share
 * an address can log in at once.
 */
async function countOrWait(deps: AuthDeps, limits: LimitKeys): Promise<{ ids: string[]; before: number[]; release: () => void }> {
  const buckets = limits.filter(([limit]) => limit !== loginByAccount).map(([limit, subject]) => bucketOf(limit, subject))
  for (;;) {
    // Watches before counting, so that an attempt that ends in between is not missed.
    const watch = deps.loginWaitlist.watch(buckets)
    let release = () => {}
    try {
      const counted = await countAttempt(deps, limits, () => {
        release = deps.loginWaitlist.begin(buckets)
      })
      return { ...counted, release: () => release() }
    } catch (error) {
      const turn = error instanceof AppError && error.kind === 'RATE_LIMITED' ? watch.next() : undefined
      if (turn === 'full') throw tooManyLogins()
      if (!turn) throw error
      await turn
    } finally {
      watch.stop()
    }
  }
}

/**
 * Runs `find` and counts only failed attempts against the limits.
 * @throws AppError RATE_LIMITED with the time to retry
 */
export async function countFailure<T>(deps: AuthDeps, limits: LimitKeys, find: () => Promise<T | undefined>): Promise<T | undefined> {
  const { ids, release } = await countOrWait(deps, limits)
  try {
    const found = await find()
    if (found !== undefined) await runUntracked(() => deps.db.write((tx) => deps.authStore.removeAttempts(tx, ids), locking))
    return found
  } finally {
    release()
  }
}

/** Where a session begins, and how long it may be idle (ms). */
export type SessionStart = { readonly caller?: Partial<Caller>; readonly idleMs?: number | undefined }

/** Returns the caller's details that the session list shows. */
const deviceOf = (caller: Partial<Caller>) => ({ address: caller.address ?? null, agent: caller.agent ?? null })

/**
 * Begins a session and returns its tokens.
 * @param caller where it begins
 * @param holds repeats earlier checks inside the write, such as that of the password
 * @param idleMs lifetime of an unused refresh token; by default until the session ends
 * @throws AppError UNAUTHENTICATED if `holds` returns false
 */
export async function startSession(
  deps: AuthDeps,
  subject: Subject,
  actor: Actor,
  { caller = {}, holds, idleMs = Number.POSITIVE_INFINITY }: SessionStart & { holds?: (tx: Writer) => Promise<boolean> } = {},
): Promise<Login> {
  const now = deps.clock.now()
  const expiresAt = now + deps.config.refreshTokenSeconds * 1000
  const session = {
    id: deps.newId('session'),
    subjectId: subject.id,
    role: subject.role,
    shopId: subject.shopId ?? null,
    createdAt: now,
    expiresAt,
    revokedAt: null,
    lastUsedAt: now,
    ...deviceOf(caller),
  }
  const refresh = newRefreshToken(deps)
  const token = { hash: sha256(refresh), sessionId: session.id, createdAt: now, expiresAt: Math.min(expiresAt, now + idleMs), usedAt: null }
  await deps.db.write(async (tx) => {
    if (holds && !(await holds(tx))) throw invalidCredentials()
    await deps.authStore.insertSession(tx, session, token)
    const after = { session: session.id, role: subject.role }
    await audit(tx, deps, { actor, action: 'session.started', subject: subject.id, shopId: subject.shopId, after })
  })
  return buildLogin(deps, subject, session.id, refresh)
}

/** The result of a refresh. */
type RefreshedSession = {
  readonly login: Login
  readonly subject: Subject
  /** The latest end of the session (ms). */
  readonly endsAt: number
  /** Whether the new refresh token was used already, so that this is a late repeat. */
  readonly isSpent: boolean
}

/**
 * Exchanges a refresh token for new tokens. Repeats within `refreshGraceMs` get the same pair in every process, because
 * both tokens derive from the old one. Later reuse means theft and ends the session.
 * @throws AppError UNAUTHENTICATED
 */
export async function refreshSession(deps: AuthDeps, presented: string, caller: Partial<Caller> = {}): Promise<RefreshedSession> {
  const { session, pair, usedAt, isSpent } = await exchangeToken(deps, presented, caller)
  const subject = subjectOf(session)
  const issue = { id: pair.accessTokenId, at: usedAt, keyVersion: pair.keyVersion }
  return { login: buildLogin(deps, subject, session.id, pair.refreshToken, issue), subject, endsAt: session.expiresAt, isSpent }
}

type TokenExchange = { readonly session: Session; readonly pair: TokenPair; readonly usedAt: number; readonly isSpent: boolean }

async function exchangeToken(deps: AuthDeps, presented: string, caller: Partial<Caller>): Promise<TokenExchange> {
  const { authStore } = deps
  const now = deps.clock.now()
  const hash = sha256(presented)
  // Refuses unknown tokens without a write.
  if (!(await authStore.findRefreshToken(deps.db.read, hash))) throw invalidRefreshToken()
  // After a key rotation, the first use may have derived from the previous key.
  const pairs = deps.keyring.jwt().map((key) => deriveTokenPair(key, presented))
  const traded = await deps.db.write(async (tx): Promise<TokenExchange | undefined> => {
    const found = await authStore.findRefreshToken(tx, hash)
    if (!found) return undefined
    const { session, token } = found
    if (session.revokedAt !== null || session.expiresAt <= now || token.expiresAt <= now) return undefined
    if (!(await authStore.useRefreshToken(tx, hash, now))) {
      const exchanged = await findExchangedPair(tx, deps, { hash, pairs, now })
      if (exchanged) return { session, ...exchanged }
      if (await authStore.revokeSession(tx, session.id, now)) await auditEnd(tx, deps, { session, action: 'session.revoked', from: caller })
      return undefined
    }
    const [pair] = pairs
    if (!pair) throw new Error('no key to derive a token from')
    // Keeps the lifetime of the old token, limited by the session's end.
    const expiresAt = Math.min(session.expiresAt, now + token.expiresAt - token.createdAt)
    const next = { hash: sha256(pair.refreshToken), sessionId: session.id, createdAt: now, expiresAt, usedAt: null }
    await authStore.insertRefreshToken(tx, next)
    await authStore.renewSession(tx, session.id, { lastUsedAt: now, ...deviceOf(caller) })
    return { session, pair, usedAt: now, isSpent: false }
  })
  if (!traded) throw invalidRefreshToken()
  return traded
}

/**
 * Returns the pair that a used token was exchanged for, within the grace. Reads the token again, because another
 * process may have used it.
 */
async function findExchangedPair(
  tx: Writer,
  { authStore }: AuthDeps,
  { hash, pairs, now }: { hash: string; pairs: readonly TokenPair[]; now: number },
): Promise<Omit<TokenExchange, 'session'> | undefined> {
  const usedAt = (await authStore.findRefreshToken(tx, hash))?.token.usedAt ?? 0
  // Absolute, because the clocks of processes differ. Setting a clock back does not extend the grace.
  if (Math.abs(now - usedAt) >= refreshGraceMs) return undefined
  for (const pair of pairs) {
    const next = await authStore.findRefreshToken(tx, sha256(pair.refreshToken))
    if (next) return { pair, usedAt, isSpent: next.token.usedAt !== null }
  }
  return undefined
}

/** Returns the shop of a customer's refresh token; undefined for other tokens. */
export async function shopOfRefreshToken({ db, authStore }: AuthDeps, presented: string): Promise<string | undefined> {
  return (await authStore.findRefreshToken(db.read, sha256(presented)))?.session.shopId ?? undefined
}

/** Ends the session of a refresh token with all its tokens. Unknown tokens are no error. */
export async function endSession(deps: AuthDeps, presented: string, from: Origin = {}): Promise<void> {
  const now = deps.clock.now()
  const session = (await deps.authStore.findRefreshToken(deps.db.read, sha256(presented)))?.session
  if (!session) return
  await deps.db.write(async (tx) => {
    if (await deps.authStore.revokeSession(tx, session.id, now)) await auditEnd(tx, deps, { session, action: 'session.ended', from })
  })
}

const auditEnd = (
  tx: Writer,
  deps: AuthDeps,
  { session: { id, subjectId, shopId, role }, action, from }: { session: Session; action: string; from: Origin },
) => {
  const before = { session: id, role }
  return audit(tx, deps, { actor: { ...from, id: subjectId }, action, subject: subjectId, shopId: shopId ?? undefined, before })
}

/** Deletes expired sessions, and attempts that no limit counts any more. */
export async function deleteExpiredSessions({ db, clock, authStore }: AuthDeps): Promise<void> {
  const now = clock.now()
  // Deletes in small writes, so that other writers do not wait long.
  while ((await db.write((tx) => authStore.removeExpired(tx, now, now - attemptsRetentionMs, deletionBatchSize))) > 0);
}

/** The tokens that a refresh token is exchanged for. Deriving them needs the token and the instance's key. */
type TokenPair = { readonly keyVersion: string; readonly refreshToken: string; readonly accessTokenId: string }

const deriveTokenPair = (key: MasterKey, presented: string): TokenPair => ({
  keyVersion: key.version,
  refreshToken: hmac(key, `refresh token after ${presented}`),
  accessTokenId: hmac(key, `access token after ${presented}`).slice(0, 32),
})

const newRefreshToken = ({ randomBytes }: AuthDeps) => Buffer.from(randomBytes(32)).toString('base64url')

function buildLogin({ tokens }: AuthDeps, subject: Subject, sessionId: string, refreshToken: string, issue?: TokenOptions): Login {
  const { id: sub, role, shopId: shop } = subject
  const accessToken = tokens.sign({ sub, sid: sessionId, role, ...(shop ? { shop } : {}) }, issue)
  return { data: { accessToken, tokenType: 'Bearer', expiresIn: tokens.lifetimeSeconds, refreshToken } }
}
