import type { Caller } from '../../../core/caller.ts'
import type { Origin } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import type { TokenRole } from '../../../core/tokens.ts'
import { byAddress, tokenByAddress } from '../auth/domain.ts'
import { assertUncommon, countFailure, endSession, type Login, refreshSession, shopOfRefreshToken, startSession } from '../auth/index.ts'
import { shopsOfMember } from '../member/index.ts'
import { type Credentials, createSuperAdmin, hasSuperAdmin, login, type MerchantDeps } from '../merchant/index.ts'
import { issueToken, lookAtToken, spendToken } from '../one-time-token/index.ts'
import { idleMs, setupSubject } from './domain.ts'

type Place = Awaited<ReturnType<typeof shopsOfMember>>[number]

/** What the console is told of its session. */
export type ConsoleSession = {
  readonly accessToken: string
  /** Seconds. */
  readonly expiresIn: number
  readonly role: TokenRole
  /** Where a merchant works. */
  readonly places: readonly Place[]
  /** What the cookie is to hold from now on, and for how many seconds; undefined where it stays as it is. */
  readonly cookie: { readonly value: string; readonly maxAgeSeconds: number } | undefined
}

const isThere = () => new AppError('CONFLICT', 'There is a super admin already: log in')
const tokenOver = () =>
  new AppError('UNAUTHENTICATED', 'The token is not good (any more): the server prints another one when it is started again')

/**
 * Begins a session as a login does.
 * @param before cookies of sessions that this one replaces
 * @throws AppError as `login`
 */
export async function openConsole(
  deps: MerchantDeps,
  credentials: Credentials & { code?: string | undefined },
  caller: Caller,
  before: readonly string[],
): Promise<ConsoleSession> {
  const begun = await sessionOf(deps, await login(deps, credentials, caller, { idleMs }))
  for (const cookie of before) await closeConsole(deps, cookie, caller)
  return begun
}

/**
 * Goes on with the session of a cookie.
 * @throws AppError UNAUTHENTICATED; with `SETUP_REQUIRED` while there is nobody who could log in as a super admin
 */
export async function resumeConsole(deps: MerchantDeps, cookie: string | undefined, caller: Caller): Promise<ConsoleSession> {
  // Customers' tokens are none of the console's: they are left unspent.
  if (cookie === undefined || (await isCustomers(deps, cookie))) throw await loggedOut(deps)
  const renewed = await refreshSession(deps, cookie, caller).catch(async (error: unknown) => {
    throw error instanceof AppError && error.code === 'UNAUTHENTICATED' ? await loggedOut(deps) : error
  })
  const { login: begun, subject, endsAt, isSpent } = renewed
  const { accessToken, expiresIn, refreshToken } = begun.data
  return {
    accessToken,
    expiresIn,
    role: subject.role,
    places: await placesOf(deps, subject),
    cookie: isSpent ? undefined : cookieOf(refreshToken, endsAt - deps.clock.now()),
  }
}

/** Ends the session of a cookie. One that is unknown is no error. */
export async function closeConsole(deps: MerchantDeps, cookie: string, from: Origin): Promise<void> {
  if (!(await isCustomers(deps, cookie))) await endSession(deps, cookie, from)
}

/**
 * Makes the first super admin, for whoever has the token that the server has printed, and begins a session.
 * @throws AppError CONFLICT when there is one already, or the e-mail address is taken; UNAUTHENTICATED for a token that is not good;
 *   INVALID for a common password, and then the token stays good; RATE_LIMITED, UNAVAILABLE
 */
export async function setUpConsole(
  deps: MerchantDeps,
  { token, email, password }: Credentials & { token: string },
  caller: Caller,
): Promise<ConsoleSession> {
  const { limitKey: address, agent: _, ...from } = caller
  if (await hasSuperAdmin(deps)) throw isThere()
  const found = await countFailure(deps, byAddress(tokenByAddress, address), () => lookAtToken(deps.db.read, deps, 'SETUP', token))
  if (!found) throw tokenOver()
  await assertUncommon(password)
  const user = await createSuperAdmin(
    deps,
    { email, password },
    {
      from,
      turn: { kind: 'merchant', address },
      async holds(tx) {
        // Of two at once, with one token or with those of two processes, one goes on: serializable.
        if (await hasSuperAdmin(deps, tx)) throw isThere()
        if (!(await spendToken(tx, deps, 'SETUP', token))) throw tokenOver()
      },
    },
  )
  return sessionOf(deps, await startSession(deps, { id: user.id, role: user.role }, { ...from, id: user.id }, { caller, idleMs }))
}

/**
 * Makes a token for the first run: good once, for a day, in every process of the instance, and useless as soon as there is a super admin.
 * Those that were printed before stay good: other processes have theirs on other terminals.
 * @returns undefined when there is a super admin
 */
export async function issueSetupToken(deps: MerchantDeps): Promise<string | undefined> {
  if (await hasSuperAdmin(deps)) return undefined
  return deps.db.write((tx) => issueToken(tx, deps, { purpose: 'SETUP', subjectId: setupSubject, email: setupSubject }))
}

/** Says that there is no session, and whether anybody can log in. */
async function loggedOut(deps: MerchantDeps): Promise<AppError> {
  if (await hasSuperAdmin(deps)) return new AppError('UNAUTHENTICATED', 'Log in: there is no session, or it is over')
  return new AppError('UNAUTHENTICATED', 'There is no super admin yet: make one by POST /console/setup, or by souk setup', {
    word: 'SETUP_REQUIRED',
  })
}

const isCustomers = async (deps: MerchantDeps, token: string): Promise<boolean> => (await shopOfRefreshToken(deps, token)) !== undefined

const cookieOf = (value: string, leftMs: number) => ({ value, maxAgeSeconds: Math.floor(Math.min(idleMs, leftMs) / 1000) })

async function sessionOf(deps: MerchantDeps, { data: { accessToken, expiresIn, refreshToken } }: Login): Promise<ConsoleSession> {
  const who = await deps.identity.ofToken(accessToken)
  // Ended in between, such as by a new password.
  if (!who) throw await loggedOut(deps)
  const role = who.kind === 'superAdmin' ? 'SUPER_ADMIN' : 'MERCHANT'
  const cookie = cookieOf(refreshToken, deps.config.refreshTokenSeconds * 1000)
  return { accessToken, expiresIn, role, places: await placesOf(deps, { id: who.id, role }), cookie }
}

const placesOf = async (deps: MerchantDeps, { id, role }: { id: string; role: TokenRole }): Promise<readonly Place[]> =>
  role === 'MERCHANT' ? shopsOfMember(deps, id) : []
