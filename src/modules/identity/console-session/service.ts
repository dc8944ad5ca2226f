import type { Caller } from '../../../core/caller.ts'
import type { Origin } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import type { TokenRole } from '../../../core/tokens.ts'
import { limitsByAddress, tokenByAddress } from '../auth/domain.ts'
import {
  assertUncommonPassword,
  countFailure,
  endSession,
  type Login,
  refreshSession,
  shopOfRefreshToken,
  startSession,
} from '../auth/index.ts'
import { shopsOfMember } from '../member/index.ts'
import { type Credentials, createSuperAdmin, hasSuperAdmin, login, type MerchantDeps } from '../merchant/index.ts'
import { findToken, issueToken, spendToken } from '../one-time-token/index.ts'
import { idleMs, setupSubject } from './domain.ts'

type StaffShop = Awaited<ReturnType<typeof shopsOfMember>>[number]

/** The console's session. */
export type ConsoleSession = {
  readonly accessToken: string
  /** Seconds. */
  readonly expiresIn: number
  readonly role: TokenRole
  /** The shops where a merchant works. */
  readonly places: readonly StaffShop[]
  /** The new cookie and its lifetime in seconds; undefined to keep the current one. */
  readonly cookie: { readonly value: string; readonly maxAgeSeconds: number } | undefined
}

const superAdminExists = () => new AppError('CONFLICT', 'There is a super admin already: log in')
const invalidToken = () =>
  new AppError('UNAUTHENTICATED', 'The token is not good (any more): the server prints another one when it is started again')

/**
 * Logs in and begins a console session.
 * @param before cookies of sessions that this one replaces
 * @throws AppError as `login`
 */
export async function openConsoleSession(
  deps: MerchantDeps,
  credentials: Credentials & { code?: string | undefined },
  caller: Caller,
  before: readonly string[],
): Promise<ConsoleSession> {
  const session = await consoleSessionOf(deps, await login(deps, credentials, caller, { idleMs }))
  for (const cookie of before) await closeConsoleSession(deps, cookie, caller)
  return session
}

/**
 * Resumes the session of a cookie.
 * @throws AppError UNAUTHENTICATED, with `SETUP_REQUIRED` while there is no super admin
 */
export async function resumeConsoleSession(deps: MerchantDeps, cookie: string | undefined, caller: Caller): Promise<ConsoleSession> {
  // A customer's token is refused without being used up.
  if (cookie === undefined || (await isCustomerToken(deps, cookie))) throw await noSessionError(deps)
  const renewed = await refreshSession(deps, cookie, caller).catch(async (error: unknown) => {
    throw error instanceof AppError && error.code === 'UNAUTHENTICATED' ? await noSessionError(deps) : error
  })
  const { login: session, subject, endsAt, isSpent } = renewed
  const { accessToken, expiresIn, refreshToken } = session.data
  return {
    accessToken,
    expiresIn,
    role: subject.role,
    places: await staffShopsOf(deps, subject),
    cookie: isSpent ? undefined : cookieOf(refreshToken, endsAt - deps.clock.now()),
  }
}

/** Ends the session of a cookie. An unknown cookie is no error. */
export async function closeConsoleSession(deps: MerchantDeps, cookie: string, from: Origin): Promise<void> {
  if (!(await isCustomerToken(deps, cookie))) await endSession(deps, cookie, from)
}

/**
 * Creates the first super admin with the setup token that the server printed, and begins a session.
 * @throws AppError CONFLICT if there is one already or the e-mail address is taken; UNAUTHENTICATED for an invalid
 * token; INVALID for a common password, after which the token stays valid; RATE_LIMITED, UNAVAILABLE
 */
export async function setUpConsole(
  deps: MerchantDeps,
  { token, email, password }: Credentials & { token: string },
  caller: Caller,
): Promise<ConsoleSession> {
  const { limitKey: address, agent: _, ...from } = caller
  if (await hasSuperAdmin(deps)) throw superAdminExists()
  const found = await countFailure(deps, limitsByAddress(tokenByAddress, address), () => findToken(deps.db.read, deps, 'SETUP', token))
  if (!found) throw invalidToken()
  await assertUncommonPassword(password)
  const user = await createSuperAdmin(
    deps,
    { email, password },
    {
      from,
      turn: { kind: 'merchant', address },
      async holds(tx) {
        // Serializable: of two requests at once, with the same or different tokens, one succeeds.
        if (await hasSuperAdmin(deps, tx)) throw superAdminExists()
        if (!(await spendToken(tx, deps, 'SETUP', token))) throw invalidToken()
      },
    },
  )
  return consoleSessionOf(deps, await startSession(deps, { id: user.id, role: user.role }, { ...from, id: user.id }, { caller, idleMs }))
}

/**
 * Issues a setup token: valid once, for a day, in every process. Earlier tokens stay valid, because other processes
 * printed them.
 * @returns undefined if there is a super admin
 */
export async function issueSetupToken(deps: MerchantDeps): Promise<string | undefined> {
  if (await hasSuperAdmin(deps)) return undefined
  return deps.db.write((tx) => issueToken(tx, deps, { purpose: 'SETUP', subjectId: setupSubject, email: setupSubject }))
}

/** Returns the error for a missing session, which says whether setup is required. */
async function noSessionError(deps: MerchantDeps): Promise<AppError> {
  if (await hasSuperAdmin(deps)) return new AppError('UNAUTHENTICATED', 'Log in: there is no session, or it is over')
  return new AppError('UNAUTHENTICATED', 'There is no super admin yet: make one by POST /console/setup, or by souk setup', {
    word: 'SETUP_REQUIRED',
  })
}

const isCustomerToken = async (deps: MerchantDeps, token: string): Promise<boolean> => (await shopOfRefreshToken(deps, token)) !== undefined

const cookieOf = (value: string, leftMs: number) => ({ value, maxAgeSeconds: Math.floor(Math.min(idleMs, leftMs) / 1000) })

async function consoleSessionOf(deps: MerchantDeps, { data: { accessToken, expiresIn, refreshToken } }: Login): Promise<ConsoleSession> {
  const who = await deps.identity.ofToken(accessToken)
  // The session ended meanwhile, such as by a password change.
  if (!who) throw await noSessionError(deps)
  const role = who.kind === 'superAdmin' ? 'SUPER_ADMIN' : 'MERCHANT'
  const cookie = cookieOf(refreshToken, deps.config.refreshTokenSeconds * 1000)
  return { accessToken, expiresIn, role, places: await staffShopsOf(deps, { id: who.id, role }), cookie }
}

const staffShopsOf = async (deps: MerchantDeps, { id, role }: { id: string; role: TokenRole }): Promise<readonly StaffShop[]> =>
  role === 'MERCHANT' ? shopsOfMember(deps, id) : []
