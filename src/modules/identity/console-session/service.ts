import type { Caller } from '../../../core/caller.ts'
import type { Origin } from '../../../core/command-context.ts'
import { alreadyExists } from '../../../core/conflict.ts'
import { AppError } from '../../../core/errors.ts'
import type { TokenRole } from '../../../core/tokens.ts'
import { hasShopNamed, type NewShop, shopNameTaken } from '../../shop/shop/index.ts'
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
import { type Feature, features, idleMs, setupSubject } from './domain.ts'
import { featuresStore } from './features-store.ts'

type StaffShop = Awaited<ReturnType<typeof shopsOfMember>>[number]

/** The console's session. */
export type ConsoleSession = {
  readonly accessToken: string
  /** Seconds. */
  readonly expiresIn: number
  readonly role: TokenRole
  /** The shops where the person works. */
  readonly staffShops: readonly StaffShop[]
  readonly canCreateShops: boolean
  readonly features: readonly Feature[]
  /** Ids of the shops with affiliates. */
  readonly affiliateShops: readonly string[]
  /** The new cookie and its lifetime in seconds; undefined to keep the current one. */
  readonly cookie: { readonly value: string; readonly maxAgeSeconds: number } | undefined
}

const superAdminExists = () => new AppError('CONFLICT', 'A super admin already exists. Log in')
const invalidToken = () =>
  new AppError('UNAUTHENTICATED', 'The setup token is invalid or has expired. Restart the server to get a new one', {
    code: 'invalid_link',
  })

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
    throw error instanceof AppError && error.kind === 'UNAUTHENTICATED' ? await noSessionError(deps) : error
  })
  const { login: session, subject, endsAt, isSpent } = renewed
  const { accessToken, expiresIn, refreshToken } = session.data
  return {
    accessToken,
    expiresIn,
    role: subject.role,
    ...(await menuOf(deps, subject)),
    cookie: isSpent ? undefined : cookieOf(refreshToken, endsAt - deps.clock.now()),
  }
}

/** Ends the session of a cookie. An unknown cookie is no error. */
export async function closeConsoleSession(deps: MerchantDeps, cookie: string, origin: Origin): Promise<void> {
  if (!(await isCustomerToken(deps, cookie))) await endSession(deps, cookie, origin)
}

/**
 * Creates the first super admin with the setup token that the server printed, and with `shop` the shop that they own.
 * Begins a session.
 * @throws AppError CONFLICT if there is one already or the e-mail address is taken; UNAUTHENTICATED for an invalid
 * token; INVALID for a common password, after which the token stays valid; RATE_LIMITED, UNAVAILABLE
 */
export async function setUpConsole(
  deps: MerchantDeps,
  { token, email, password, shop }: Credentials & { token: string; shop?: NewShop | undefined },
  caller: Caller,
): Promise<ConsoleSession> {
  const { limitKey: address, agent: _, ...origin } = caller
  if (await hasSuperAdmin(deps)) throw superAdminExists()
  const found = await countFailure(deps, limitsByAddress(tokenByAddress, address), () => findToken(deps.db.read, deps, 'SETUP', token))
  if (!found) throw invalidToken()
  await assertUncommonPassword(password)
  if (shop && (await hasShopNamed(deps, shop.name))) throw alreadyExists('shop.shopName', shopNameTaken)
  const user = await createSuperAdmin(
    deps,
    { email, password },
    {
      from: origin,
      hashCaller: { kind: 'merchant', address },
      shop,
      async holds(tx) {
        // Serializable: of two requests at once, with the same or different tokens, one succeeds.
        if (await hasSuperAdmin(deps, tx)) throw superAdminExists()
        if (!(await spendToken(tx, deps, 'SETUP', token))) throw invalidToken()
      },
    },
  )
  return consoleSessionOf(deps, await startSession(deps, { id: user.id, role: user.role }, { ...origin, id: user.id }, { caller, idleMs }))
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
  if (await hasSuperAdmin(deps)) return new AppError('UNAUTHENTICATED', 'There is no session, or it has ended. Log in')
  return new AppError('UNAUTHENTICATED', 'There is no super admin yet. Create one with POST /console/setup or `souk setup`', {
    word: 'SETUP_REQUIRED',
  })
}

const isCustomerToken = async (deps: MerchantDeps, token: string): Promise<boolean> => (await shopOfRefreshToken(deps, token)) !== undefined

const cookieOf = (value: string, leftMs: number) => ({ value, maxAgeSeconds: Math.floor(Math.min(idleMs, leftMs) / 1000) })

async function consoleSessionOf(deps: MerchantDeps, { data: { accessToken, expiresIn, refreshToken } }: Login): Promise<ConsoleSession> {
  const principal = await deps.identity.ofToken(accessToken)
  // The session ended meanwhile, such as by a password change.
  if (!principal) throw await noSessionError(deps)
  const role = principal.kind === 'superAdmin' ? 'SUPER_ADMIN' : 'MERCHANT'
  const cookie = cookieOf(refreshToken, deps.config.refreshTokenSeconds * 1000)
  return { accessToken, expiresIn, role, ...(await menuOf(deps, { id: principal.id, role })), cookie }
}

/** Returns where a person works, and what the console's menu shows. */
async function menuOf(
  deps: MerchantDeps,
  { id, role }: { id: string; role: TokenRole },
): Promise<Pick<ConsoleSession, 'staffShops' | 'canCreateShops' | 'features' | 'affiliateShops'>> {
  const { config, db } = deps
  const [staffShops, used] = await Promise.all([shopsOfMember(deps, id), featuresStore.readUsedFeatures(db)])
  const isOn: Readonly<Record<Feature, boolean>> = {
    LENDING: config.lendingPlatformEnabled || used.lenders,
    TRUST: config.chains.length > 0 || used.providers,
    RANKINGS: used.severalShops,
    AGENTS: config.agentsEnabled,
  }
  return {
    staffShops,
    canCreateShops: role === 'SUPER_ADMIN' || config.signupEnabled,
    features: features.filter((feature) => isOn[feature]),
    affiliateShops: await featuresStore.withAffiliates(
      db,
      staffShops.map(({ shop }) => shop.id),
    ),
  }
}
