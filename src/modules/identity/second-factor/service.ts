import type { Writer } from '../../../../db/engine.ts'
import { type Actor, locking } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import { runUntracked } from '../../../core/request-context.ts'
import { base32, totpSecretBytes, totpUri } from '../../../lib/totp.ts'
import { notifyAccountChange } from '../../messaging/mail/index.ts'
import { audit, audited, recordFailedLogin } from '../../operations/audit/index.ts'
import { endSessionsOf } from '../auth/index.ts'
import {
  lockMs,
  matchCode,
  pendingMs,
  recoveryCodeBytes,
  recoveryCodeCount,
  recoveryCodeOf,
  recoveryHashOf,
  type SecondFactor,
  totpIssuer,
  totpSeal,
  wrongCodesMax,
} from './domain.ts'
import type { SecondFactorDeps } from './providers.ts'

const totpRequired = (message: string) => new AppError('UNAUTHENTICATED', message, { word: 'TOTP_REQUIRED', code: 'totp_required' })
const missingCode = () => totpRequired('Send the code of your authenticator app, or a recovery code, as `code`')
const wrongCode = () => totpRequired('The code is wrong or was used before: send another')
const alreadyOn = () => new AppError('CONFLICT', 'The account already has a second factor. Remove it first')
const notBegunError = () => new AppError('CONFLICT', 'No second factor was started within the last hour. Start again')
const lockedError = (until: number, now: number) =>
  new AppError('RATE_LIMITED', 'Too many wrong codes: try again later', { retryAfterSeconds: (until - now) / 1000 })

const secretOf = ({ keyring }: SecondFactorDeps, { userId, sealedSecret }: SecondFactor): Buffer =>
  Buffer.from(keyring.unseal(sealedSecret, totpSeal(userId)), 'base64')

/**
 * Creates a secret for an authenticator app, replacing an unconfirmed one. Logins ask for codes after it is confirmed.
 * @returns the secret in base32, and the URI for a QR code; shown once
 * @throws AppError CONFLICT if a second factor is on
 */
export async function beginFactor(
  deps: SecondFactorDeps,
  { id: userId, email, actor }: { id: string; email: string; actor: Actor },
): Promise<{ secret: string; otpauthUri: string }> {
  const { secondFactorStore: store, keyring, clock } = deps
  const secret = Buffer.from(deps.randomBytes(totpSecretBytes))
  const row: SecondFactor = {
    userId,
    sealedSecret: keyring.seal(secret.toString('base64'), totpSeal(userId)),
    createdAt: clock.now(),
    confirmedAt: null,
    lastStep: null,
    recoveryHashes: [],
    wrongCodes: 0,
    shutUntil: null,
  }
  await audited(deps, { actor }, { action: 'totp.begun', subject: userId }, async (tx, setDifference) => {
    if ((await store.find(userId, tx))?.confirmedAt) throw alreadyOn()
    await store.begin(tx, row)
    setDifference({ after: { confirmed: false } })
  })
  return { secret: base32(secret), otpauthUri: totpUri(secret, { issuer: totpIssuer, account: email }) }
}

/**
 * Turns the second factor on with its first code, which counts as used. Other sessions end, because they began without
 * it.
 * @returns the recovery codes, shown once
 * @throws AppError CONFLICT if none was begun within the hour or it is on; UNAUTHENTICATED for a wrong code
 */
export async function confirmFactor(
  deps: SecondFactorDeps,
  { id: userId, email, sessionId, actor }: { id: string; email: string; sessionId: string; actor: Actor },
  code: string,
): Promise<{ recoveryCodes: string[] }> {
  const { secondFactorStore: store, clock, randomBytes } = deps
  const recoveryCodes = Array.from({ length: recoveryCodeCount }, () => recoveryCodeOf(randomBytes(recoveryCodeBytes)))
  await audited(deps, { actor }, { action: 'totp.confirmed', subject: userId }, async (tx, setDifference) => {
    const now = clock.now()
    const factor = await store.find(userId, tx)
    if (factor?.confirmedAt) throw alreadyOn()
    if (!factor || factor.createdAt + pendingMs <= now) throw notBegunError()
    const match = matchCode(factor, secretOf(deps, factor), code, now)
    if (!match || !('step' in match))
      throw new AppError('UNAUTHENTICATED', 'The code is wrong. Send the code that the app shows now', { code: 'wrong_totp_code' })
    const recoveryHashes = recoveryCodes.map((one) => recoveryHashOf(userId, one))
    await store.change(tx, userId, { confirmedAt: now, lastStep: match.step, recoveryHashes })
    const ended = await endSessionsOf(tx, deps, userId, sessionId)
    await notifyAccountChange(tx, deps, { shopId: null, to: email, what: 'factorOn' })
    setDifference({ before: { confirmed: false }, after: { confirmed: true, sessionsEnded: ended } })
  })
  return { recoveryCodes }
}

/** Returns whether logins ask for a code, and how many recovery codes are unused. */
export async function readFactor(
  { secondFactorStore }: SecondFactorDeps,
  userId: string,
): Promise<{ enabled: boolean; recoveryCodesLeft: number }> {
  const factor = await secondFactorStore.find(userId)
  const enabled = Boolean(factor?.confirmedAt)
  return { enabled, recoveryCodesLeft: enabled && factor ? factor.recoveryHashes.length : 0 }
}

/** Returns whether logins of a person ask for a code. */
export const hasFactor = async (deps: SecondFactorDeps, userId: string): Promise<boolean> => (await readFactor(deps, userId)).enabled

/**
 * Checks and uses up a second-factor code, if the account has one. Call it only after the password check, because its
 * errors reveal that the password was right.
 * @returns whether there was a factor
 * @throws AppError UNAUTHENTICATED with `TOTP_REQUIRED` for a missing or wrong code; RATE_LIMITED for 15 minutes after
 * ten wrong ones
 */
export async function checkFactor(
  deps: SecondFactorDeps,
  { id: userId, actor }: { id: string; actor: Actor },
  code: string | undefined,
): Promise<boolean> {
  const { secondFactorStore: store, clock, db } = deps
  const factor = await store.find(userId)
  if (!factor?.confirmedAt) return false
  const now = clock.now()
  if (factor.shutUntil !== null && factor.shutUntil > now) throw lockedError(factor.shutUntil, now)
  if (code === undefined) throw missingCode()
  // Written apart from the request: wrong codes stay counted if it fails.
  const outcome = await runUntracked(() => db.write((tx) => spendCode(tx, deps, { userId, actor }, code), locking))
  if (outcome === 'gone') return false
  if (outcome === 'passed') return true
  if ('shutUntil' in outcome) throw lockedError(outcome.shutUntil, now)
  await recordFailedLogin(deps, { accountId: userId, from: actor, failures: outcome.wrongCodes })
  throw wrongCode()
}

type CodeOutcome = 'passed' | 'gone' | { readonly wrongCodes: number } | { readonly shutUntil: number }

/** Uses or counts a code with the factor locked, so that concurrent attempts see each other. */
async function spendCode(
  tx: Writer,
  deps: SecondFactorDeps,
  { userId, actor }: { userId: string; actor: Actor },
  code: string,
): Promise<CodeOutcome> {
  const { secondFactorStore: store, clock } = deps
  store.hold(tx, userId)
  const factor = await store.find(userId, tx)
  if (!factor?.confirmedAt) return 'gone'
  const now = clock.now()
  if (factor.shutUntil !== null && factor.shutUntil > now) return { shutUntil: factor.shutUntil }
  const match = matchCode(factor, secretOf(deps, factor), code, now)
  if (!match) {
    const wrongCodes = factor.wrongCodes + 1
    if (wrongCodes < wrongCodesMax) await store.change(tx, userId, { wrongCodes })
    else {
      await store.change(tx, userId, { wrongCodes: 0, shutUntil: now + lockMs })
      await audit(tx, deps, { actor, action: 'totp.shut', subject: userId, after: { wrongCodes, minutes: lockMs / 60_000 } })
    }
    return { wrongCodes }
  }
  if ('step' in match) await store.change(tx, userId, { lastStep: match.step, wrongCodes: 0, shutUntil: null })
  else {
    const recoveryHashes = factor.recoveryHashes.filter((hash) => hash !== match.recoveryHash)
    await store.change(tx, userId, { recoveryHashes, wrongCodes: 0, shutUntil: null })
    const counts = { before: { recoveryCodes: factor.recoveryHashes.length }, after: { recoveryCodes: recoveryHashes.length } }
    await audit(tx, deps, { actor, action: 'totp.recovery_code_used', subject: userId, ...counts })
  }
  return 'passed'
}

/**
 * Checks inside the write of a new session that no factor was turned on.
 * @throws AppError UNAUTHENTICATED with `TOTP_REQUIRED`
 */
export async function assertNoFactor(tx: Writer, { secondFactorStore }: SecondFactorDeps, userId: string): Promise<void> {
  if ((await secondFactorStore.find(userId, tx))?.confirmedAt) throw missingCode()
}

/**
 * Removes a second factor, confirmed or not, with its recovery codes. The caller has checked the code, or is an
 * operator.
 * @returns whether there was one
 */
export const removeFactor = (
  deps: SecondFactorDeps,
  { id: userId, email }: { id: string; email: string },
  actor: Actor,
): Promise<boolean> =>
  audited(deps, { actor }, { action: 'totp.removed', subject: userId }, async (tx, setDifference) => {
    const factor = await deps.secondFactorStore.find(userId, tx)
    if (factor) await deps.secondFactorStore.remove(tx, userId)
    if (factor?.confirmedAt) await notifyAccountChange(tx, deps, { shopId: null, to: email, what: 'factorOff' })
    setDifference({ before: factor ? { confirmed: factor.confirmedAt !== null } : null, after: null })
    return factor !== undefined
  })
