import type { Writer } from '../../../../db/engine.ts'
import { type Actor, locking } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import { aside } from '../../../core/request-context.ts'
import { base32, totpSecretBytes, totpUri } from '../../../lib/totp.ts'
import { tellOfAccount } from '../../messaging/mail/index.ts'
import { audit, audited, recordFailedLogin } from '../../operations/audit/index.ts'
import { endSessionsOf } from '../auth/index.ts'
import {
  matchOf,
  pendingMs,
  recoveryCodeBytes,
  recoveryCodeCount,
  recoveryCodeOf,
  recoveryHashOf,
  type SecondFactor,
  shutMs,
  totpIssuer,
  totpSeal,
  wrongCodesMax,
} from './domain.ts'
import type { SecondFactorDeps } from './providers.ts'

const required = (message: string) => new AppError('UNAUTHENTICATED', message, { word: 'TOTP_REQUIRED' })
const codeMissing = () => required('Send the code of your authenticator app, or a recovery code, as `code`')
const codeWrong = () => required('The code is wrong or was used before: send another')
const isOn = () => new AppError('CONFLICT', 'The second factor is on: remove it first')
const notBegun = () => new AppError('CONFLICT', 'No second factor was begun within the hour: begin one')
const isShut = (until: number, now: number) =>
  new AppError('RATE_LIMITED', 'Too many wrong codes: try again later', { retryAfterSeconds: (until - now) / 1000 })

const secretOf = ({ keyring }: SecondFactorDeps, { userId, sealedSecret }: SecondFactor): Buffer =>
  Buffer.from(keyring.unseal(sealedSecret, totpSeal(userId)), 'base64')

/**
 * Makes a secret for an authenticator app. Logins do not ask for its codes before it is confirmed; one that was begun and not confirmed is
 * replaced.
 * @returns the secret in base32, and as what a QR code holds: shown this once
 * @throws AppError CONFLICT when there is a second factor
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
  await audited(deps, { actor }, { action: 'totp.begun', subject: userId }, async (tx, tell) => {
    if ((await store.find(userId, tx))?.confirmedAt) throw isOn()
    await store.begin(tx, row)
    tell({ after: { confirmed: false } })
  })
  return { secret: base32(secret), otpauthUri: totpUri(secret, { issuer: totpIssuer, account: email }) }
}

/**
 * Turns on what was begun, by its first code, which counts as used. The person's other sessions end: they were begun without it.
 * @returns the recovery codes, shown this once
 * @throws AppError CONFLICT when nothing was begun within the hour, or the factor is on; UNAUTHENTICATED for a wrong code
 */
export async function confirmFactor(
  deps: SecondFactorDeps,
  { id: userId, email, sessionId, actor }: { id: string; email: string; sessionId: string; actor: Actor },
  code: string,
): Promise<{ recoveryCodes: string[] }> {
  const { secondFactorStore: store, clock, randomBytes } = deps
  const recoveryCodes = Array.from({ length: recoveryCodeCount }, () => recoveryCodeOf(randomBytes(recoveryCodeBytes)))
  await audited(deps, { actor }, { action: 'totp.confirmed', subject: userId }, async (tx, tell) => {
    const now = clock.now()
    const factor = await store.find(userId, tx)
    if (factor?.confirmedAt) throw isOn()
    if (!factor || factor.createdAt + pendingMs <= now) throw notBegun()
    const match = matchOf(factor, secretOf(deps, factor), code, now)
    if (!match || !('step' in match)) throw new AppError('UNAUTHENTICATED', 'The code is wrong: send the one that the app shows now')
    const recoveryHashes = recoveryCodes.map((one) => recoveryHashOf(userId, one))
    await store.change(tx, userId, { confirmedAt: now, lastStep: match.step, recoveryHashes })
    const ended = await endSessionsOf(tx, deps, userId, sessionId)
    await tellOfAccount(tx, deps, { shopId: null, to: email, what: 'factorOn' })
    tell({ before: { confirmed: false }, after: { confirmed: true, sessionsEnded: ended } })
  })
  return { recoveryCodes }
}

/** What somebody is told of their second factor: whether logins ask for its codes, and how many recovery codes were not used yet. */
export async function factorOf(
  { secondFactorStore }: SecondFactorDeps,
  userId: string,
): Promise<{ enabled: boolean; recoveryCodesLeft: number }> {
  const factor = await secondFactorStore.find(userId)
  const enabled = Boolean(factor?.confirmedAt)
  return { enabled, recoveryCodesLeft: enabled && factor ? factor.recoveryHashes.length : 0 }
}

/** Whether logins of somebody ask for a code. */
export const hasFactor = async (deps: SecondFactorDeps, userId: string): Promise<boolean> => (await factorOf(deps, userId)).enabled

/**
 * Asks whoever knows a password for the code besides, where the account has a second factor, and takes the code: none is taken twice, in
 * whichever process. Call it only after the password was found right: what it says tells that it was.
 * @returns whether there was a factor to pass
 * @throws AppError UNAUTHENTICATED with `TOTP_REQUIRED` when the code is missing or wrong; RATE_LIMITED for 15 minutes after ten wrong ones
 */
export async function passFactor(
  deps: SecondFactorDeps,
  { id: userId, actor }: { id: string; actor: Actor },
  code: string | undefined,
): Promise<boolean> {
  const { secondFactorStore: store, clock, db } = deps
  const factor = await store.find(userId)
  if (!factor?.confirmedAt) return false
  const now = clock.now()
  if (factor.shutUntil !== null && factor.shutUntil > now) throw isShut(factor.shutUntil, now)
  if (code === undefined) throw codeMissing()
  // Like the count of a login's tries: what was sent wrong stays counted, whatever becomes of the request.
  const outcome = await aside(() => db.write((tx) => spend(tx, deps, { userId, actor }, code), locking))
  if (outcome === 'gone') return false
  if (outcome === 'passed') return true
  if ('shutUntil' in outcome) throw isShut(outcome.shutUntil, now)
  await recordFailedLogin(deps, { accountId: userId, from: actor, failures: outcome.wrongCodes })
  throw codeWrong()
}

type Spent = 'passed' | 'gone' | { readonly wrongCodes: number } | { readonly shutUntil: number }

/** Looks at a code and takes it, or counts it, with the factor held: of several at once each meets what the one before has left. */
async function spend(
  tx: Writer,
  deps: SecondFactorDeps,
  { userId, actor }: { userId: string; actor: Actor },
  code: string,
): Promise<Spent> {
  const { secondFactorStore: store, clock } = deps
  store.hold(tx, userId)
  const factor = await store.find(userId, tx)
  if (!factor?.confirmedAt) return 'gone'
  const now = clock.now()
  if (factor.shutUntil !== null && factor.shutUntil > now) return { shutUntil: factor.shutUntil }
  const match = matchOf(factor, secretOf(deps, factor), code, now)
  if (!match) {
    const wrongCodes = factor.wrongCodes + 1
    if (wrongCodes < wrongCodesMax) await store.change(tx, userId, { wrongCodes })
    else {
      await store.change(tx, userId, { wrongCodes: 0, shutUntil: now + shutMs })
      await audit(tx, deps, { actor, action: 'totp.shut', subject: userId, after: { wrongCodes, minutes: shutMs / 60_000 } })
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
 * Inside the write that begins a session of whoever had no factor to pass: that they have none now.
 * @throws AppError UNAUTHENTICATED with `TOTP_REQUIRED`
 */
export async function assertNoFactor(tx: Writer, { secondFactorStore }: SecondFactorDeps, userId: string): Promise<void> {
  if ((await secondFactorStore.find(userId, tx))?.confirmedAt) throw codeMissing()
}

/**
 * Removes somebody's second factor, also one that was begun only, with its recovery codes. Whoever asks was asked for the code before, or is
 * the operator.
 * @returns whether there was one
 */
export const removeFactor = (
  deps: SecondFactorDeps,
  { id: userId, email }: { id: string; email: string },
  actor: Actor,
): Promise<boolean> =>
  audited(deps, { actor }, { action: 'totp.removed', subject: userId }, async (tx, tell) => {
    const factor = await deps.secondFactorStore.find(userId, tx)
    if (factor) await deps.secondFactorStore.remove(tx, userId)
    if (factor?.confirmedAt) await tellOfAccount(tx, deps, { shopId: null, to: email, what: 'factorOff' })
    tell({ before: factor ? { confirmed: factor.confirmedAt !== null } : null, after: null })
    return factor !== undefined
  })
