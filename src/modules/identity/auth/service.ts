import type { Writer } from '../../../../db/engine.ts'
import type { Caller } from '../../../core/caller.ts'
import { type Actor, locking, type Origin } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import { aside } from '../../../core/request-context.ts'
import type { Issue } from '../../../core/tokens.ts'
import { hmac, type MasterKey, sha256 } from '../../../lib/seal.ts'
import { audit, type FailedLogin, recordFailedLogin } from '../../operations/audit/index.ts'
import {
  type Account,
  byAddress,
  type Limit,
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

const attemptsKeptMs = 60 * 60 * 1000
const forgottenAtOnce = 500
const refused = () => new AppError('UNAUTHENTICATED', 'The e-mail address or the password is wrong')
/** To whoever is known already, and gave no address. */
const ownRefused = () => new AppError('UNAUTHENTICATED', 'The password is wrong')
const tooManyWait = () =>
  new AppError('UNAVAILABLE', 'Too many logins at once: try again', { retryAfterSeconds: loginsWaitingRetrySeconds })
const refreshRefused = () => new AppError('UNAUTHENTICATED', 'The refresh token is not valid: log in again')

const bucketOf = (limit: Limit, who: string) => `${limit.name}:${sha256(who)}`

type Counted = readonly (readonly [Limit, string])[]

/**
 * Counts one attempt against each limit before the attempt is made, so that many at once cannot slip under it.
 * @param counted runs once the attempt is counted, before anybody else is told anything
 * @returns the ids of the counted attempts, to take back what turns out to be none, and how many each limit held before
 * @throws AppError RATE_LIMITED, saying when to come back
 */
export async function countAttempt(
  { db, clock, newId, authStore }: AuthDeps,
  limits: Counted,
  counted?: () => void,
): Promise<{ ids: string[]; before: number[] }> {
  const now = clock.now()
  const rows = limits.map(([limit, who]) => ({ id: newId('attempt'), bucket: bucketOf(limit, who), at: now }))
  // That somebody tried is no part of what they asked for.
  const held = await aside(() =>
    db.write(async (tx) => {
      authStore.holdBuckets(
        tx,
        rows.map(({ bucket }) => bucket),
      )
      const counts: { count: number; oldest: number | undefined }[] = []
      for (const [limit, who] of limits) counts.push(await authStore.countAttempts(tx, bucketOf(limit, who), now - limit.windowMs))
      const over = limits.some(([limit], at) => limit !== loginByAccount && (counts[at]?.count ?? 0) >= limit.most)
      if (over) return counts
      await authStore.insertAttempts(tx, rows)
      if (counted) tx.afterCommit(counted)
      return counts
    }, locking),
  )
  const waits = limits.flatMap(([limit], at) => {
    const { count, oldest } = held[at] ?? { count: 0, oldest: undefined }
    return limit === loginByAccount || count < limit.most ? [] : [(oldest ?? now) + limit.windowMs - now]
  })
  // Only when every limit has room again.
  if (waits.length > 0)
    throw new AppError('RATE_LIMITED', 'Too many attempts: try again later', { retryAfterSeconds: Math.max(...waits) / 1000 })
  return { ids: rows.map(({ id }) => id), before: held.map(({ count }) => count) }
}

/**
 * Checks a password, whether or not the account exists, in the same time and with the same refusal.
 * @param address what the caller is limited by; see http/client-ip
 * @param isOwn whether whoever asks is known to be the account's, and says their password again
 * @param record what the audit trail says of a failure besides
 * @throws AppError UNAUTHENTICATED, RATE_LIMITED; UNAVAILABLE when too many are at it
 */
export async function checkPassword(
  deps: AuthDeps,
  { kind, name, hash }: Account,
  { address, password, isOwn = false }: { address: string; password: string; isOwn?: boolean },
  record: Omit<FailedLogin, 'failures'> = { accountId: undefined, from: {} },
): Promise<void> {
  const limits: Counted = [
    ...byAddress(loginByAccountAndAddress, address, (one) => `${name}|${one}`),
    ...byAddress(loginByAddress, address, (one) => `${kind}|${one}`),
    [loginByAccount, name],
  ]
  const { ids, before, done } = await countOrWait(deps, limits)
  try {
    if ((before.at(-1) ?? 0) >= loginByAccount.most) await deps.sleep(loginDelayMs)
    // Busy is no answer to whether the password was right: then, too, this was no failure.
    const matches = await deps.passwords.verify(password, hash, { kind, address }).catch((error: unknown) => error)
    if (matches === false) {
      await recordFailedLogin(deps, { ...record, failures: (before[0] ?? 0) + 1 })
      throw isOwn ? ownRefused() : refused()
    }
    await aside(() => deps.db.write((tx) => deps.authStore.removeAttempts(tx, ids), locking))
    if (matches !== true) throw matches
  } finally {
    done()
  }
}

/**
 * Only failures count, but an attempt that is under way may become one. Where those would fill a limit, the next one waits
 * for them: people who share an address log in at once without being refused.
 */
async function countOrWait(deps: AuthDeps, limits: Counted): Promise<{ ids: string[]; before: number[]; done: () => void }> {
  const buckets = limits.filter(([limit]) => limit !== loginByAccount).map(([limit, who]) => bucketOf(limit, who))
  for (;;) {
    // Before the count: those who end while it is on its way have made room that it did not see.
    const watch = deps.loginWaitlist.watch(buckets)
    let done = () => {}
    try {
      const counted = await countAttempt(deps, limits, () => {
        done = deps.loginWaitlist.begin(buckets)
      })
      return { ...counted, done: () => done() }
    } catch (error) {
      const turn = error instanceof AppError && error.code === 'RATE_LIMITED' ? watch.next() : undefined
      if (turn === 'full') throw tooManyWait()
      if (!turn) throw error
      await turn
    } finally {
      watch.stop()
    }
  }
}

/**
 * Looks for something that a caller may ask for only so often in vain: the try is counted before, and taken back when it found
 * something.
 * @throws AppError RATE_LIMITED, saying when to come back
 */
export async function countFailure<T>(deps: AuthDeps, limits: Counted, find: () => Promise<T | undefined>): Promise<T | undefined> {
  const { ids, done } = await countOrWait(deps, limits)
  try {
    const found = await find()
    if (found !== undefined) await aside(() => deps.db.write((tx) => deps.authStore.removeAttempts(tx, ids), locking))
    return found
  } finally {
    done()
  }
}

/** Where a session is begun, and for how long it may lie idle, in milliseconds. */
export type Beginning = { readonly caller?: Partial<Caller>; readonly idleMs?: number | undefined }

/** What of a caller a session shows. */
const deviceOf = (caller: Partial<Caller>) => ({ address: caller.address ?? null, agent: caller.agent ?? null })

/**
 * Begins a session and answers with its tokens.
 * @param caller where it is begun
 * @param holds looks, in the same write, whether what was checked before still is so, such as the password
 * @param idleMs for how long the refresh token, and each that it is traded for, is good unless it is used; else to the session's end
 * @throws AppError UNAUTHENTICATED when it is not
 */
export async function startSession(
  deps: AuthDeps,
  subject: Subject,
  actor: Actor,
  { caller = {}, holds, idleMs = Number.POSITIVE_INFINITY }: Beginning & { holds?: (tx: Writer) => Promise<boolean> } = {},
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
    if (holds && !(await holds(tx))) throw refused()
    await deps.authStore.insertSession(tx, session, token)
    const after = { session: session.id, role: subject.role }
    await audit(tx, deps, { actor, action: 'session.started', subject: subject.id, shopId: subject.shopId, after })
  })
  return loginAnswer(deps, subject, session.id, refresh)
}

/** A session after one of its refresh tokens was used. */
export type Renewed = {
  readonly login: Login
  readonly subject: Subject
  /** When the session ends at the latest. */
  readonly endsAt: number
  /** Whether the new refresh token has been used already: this is the answer to a late repeat. */
  readonly isSpent: boolean
}

/**
 * Trades a refresh token for new tokens. The same token gets the same pair again for `refreshGraceMs` after its first
 * use, in every process, because both tokens derive from it. Later use means that it was stolen, and ends the whole
 * session.
 * @throws AppError UNAUTHENTICATED
 */
export async function refreshSession(deps: AuthDeps, presented: string, caller: Partial<Caller> = {}): Promise<Renewed> {
  const { session, pair, usedAt, isSpent } = await trade(deps, presented, caller)
  const subject = subjectOf(session)
  const issue = { id: pair.accessTokenId, at: usedAt, keyVersion: pair.keyVersion }
  return { login: loginAnswer(deps, subject, session.id, pair.refreshToken, issue), subject, endsAt: session.expiresAt, isSpent }
}

type Trade = { readonly session: Session; readonly pair: Pair; readonly usedAt: number; readonly isSpent: boolean }

async function trade(deps: AuthDeps, presented: string, caller: Partial<Caller>): Promise<Trade> {
  const { authStore } = deps
  const now = deps.clock.now()
  const hash = sha256(presented)
  // A token that was made up ends here, without a write.
  if (!(await authStore.findRefreshToken(deps.db.read, hash))) throw refreshRefused()
  // After a rotation of keys, the first use may have derived from the key before the newest.
  const pairs = deps.keyring.jwt().map((key) => pairAfter(key, presented))
  const traded = await deps.db.write(async (tx): Promise<Trade | undefined> => {
    const found = await authStore.findRefreshToken(tx, hash)
    if (!found) return undefined
    const { session: live, token } = found
    if (live.revokedAt !== null || live.expiresAt <= now || token.expiresAt <= now) return undefined
    if (!(await authStore.useRefreshToken(tx, hash, now))) {
      const given = await givenFor(tx, deps, { hash, pairs, now })
      if (given) return { session: live, ...given }
      if (await authStore.revokeSession(tx, live.id, now))
        await auditEnd(tx, deps, { session: live, action: 'session.revoked', from: caller })
      return undefined
    }
    const [pair] = pairs
    if (!pair) throw new Error('no key to derive a token from')
    // As long as the one before was good, which is to the session's end unless it may not lie idle.
    const expiresAt = Math.min(live.expiresAt, now + token.expiresAt - token.createdAt)
    const next = { hash: sha256(pair.refreshToken), sessionId: live.id, createdAt: now, expiresAt, usedAt: null }
    await authStore.insertRefreshToken(tx, next)
    await authStore.renewSession(tx, live.id, { lastUsedAt: now, ...deviceOf(caller) })
    return { session: live, pair, usedAt: now, isSpent: false }
  })
  if (!traded) throw refreshRefused()
  return traded
}

/**
 * Returns the pair that a used token was traded for within the grace. Reads the token again: another process may use
 * it.
 */
async function givenFor(
  tx: Writer,
  { authStore }: AuthDeps,
  { hash, pairs, now }: { hash: string; pairs: readonly Pair[]; now: number },
): Promise<Omit<Trade, 'session'> | undefined> {
  const usedAt = (await authStore.findRefreshToken(tx, hash))?.token.usedAt ?? 0
  // Clocks of processes differ a little; setting one back does not lengthen the grace.
  if (Math.abs(now - usedAt) >= refreshGraceMs) return undefined
  for (const pair of pairs) {
    const next = await authStore.findRefreshToken(tx, sha256(pair.refreshToken))
    if (next) return { pair, usedAt, isSpent: next.token.usedAt !== null }
  }
  return undefined
}

/** The shop of whoever holds this refresh token, if they are a customer: its pages may ask for them. Undefined when nobody does. */
export async function shopOfRefreshToken({ db, authStore }: AuthDeps, presented: string): Promise<string | undefined> {
  return (await authStore.findRefreshToken(db.read, sha256(presented)))?.session.shopId ?? undefined
}

/** Ends the session of a refresh token, and with it every token of the session. Unknown tokens are no error. */
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

/** Forgets sessions that are over and attempts that no limit counts any more. */
export async function forgetExpiredSessions({ db, clock, authStore }: AuthDeps): Promise<void> {
  const now = clock.now()
  // In small writes, so that nobody waits long behind one.
  while ((await db.write((tx) => authStore.removeExpired(tx, now, now - attemptsKeptMs, forgottenAtOnce))) > 0);
}

/** What a refresh token is traded for. Deriving it needs the token and the instance's key. */
type Pair = { readonly keyVersion: string; readonly refreshToken: string; readonly accessTokenId: string }

const pairAfter = (key: MasterKey, presented: string): Pair => ({
  keyVersion: key.version,
  refreshToken: hmac(key, `refresh token after ${presented}`),
  accessTokenId: hmac(key, `access token after ${presented}`).slice(0, 32),
})

const newRefreshToken = ({ randomBytes }: AuthDeps) => Buffer.from(randomBytes(32)).toString('base64url')

function loginAnswer({ tokens }: AuthDeps, subject: Subject, sessionId: string, refreshToken: string, issue?: Issue): Login {
  const { id: sub, role, shopId: shop } = subject
  const accessToken = tokens.sign({ sub, sid: sessionId, role, ...(shop ? { shop } : {}) }, issue)
  return { data: { accessToken, tokenType: 'Bearer', expiresIn: tokens.lifetimeSeconds, refreshToken } }
}
