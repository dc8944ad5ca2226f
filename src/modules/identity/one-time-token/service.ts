import type { Reader, Writer } from '../../../../db/engine.ts'
import type { Deps } from '../../../core/deps.ts'
import { inBatches } from '../../../lib/batches.ts'
import { sha256 } from '../../../lib/seal.ts'
import { normalEmail } from '../auth/domain.ts'
import { type OneTimeToken, type TokenPurpose, tokenLifeMs } from './domain.ts'
import { oneTimeTokenStore as store } from './store.ts'

const tokenBytes = 32
const forgottenAtOnce = 500

const addressHashOf = (email: string): string => sha256(normalEmail(email))

/** What a token is for, and whom it was sent to. */
export type NewToken = { purpose: TokenPurpose; subjectId: string; shopId?: string | null; email: string }

/**
 * Makes a token inside a write, to be sent by mail. Those before it stay good: whichever mail arrives will do.
 * @returns the token, 43 characters, which is kept nowhere
 */
export async function issueToken(
  tx: Writer,
  { clock, randomBytes }: Pick<Deps, 'clock' | 'randomBytes'>,
  { purpose, subjectId, shopId = null, email }: NewToken,
): Promise<string> {
  const now = clock.now()
  const token = Buffer.from(randomBytes(tokenBytes)).toString('base64url')
  await store.insert(tx, {
    hash: sha256(token),
    purpose,
    subjectId,
    shopId,
    addressHash: addressHashOf(email),
    createdAt: now,
    expiresAt: now + tokenLifeMs[purpose],
    usedAt: null,
  })
  return token
}

/** What a token is about, while it is good; undefined for any other. It stays good. */
export const lookAtToken = (
  from: Pick<Reader, 'select'>,
  { clock }: Pick<Deps, 'clock'>,
  purpose: TokenPurpose,
  token: string,
): Promise<OneTimeToken | undefined> => store.find(from, purpose, sha256(token), clock.now())

/**
 * Uses a token up, inside the write that does what it is for, and with it all others of its subject and purpose.
 * @returns what it is about; undefined when it is not good (any more)
 */
export async function spendToken(
  tx: Writer,
  { clock }: Pick<Deps, 'clock'>,
  purpose: TokenPurpose,
  token: string,
): Promise<OneTimeToken | undefined> {
  const now = clock.now()
  const spent = await store.use(tx, purpose, sha256(token), now)
  if (spent) await store.endAll(tx, purpose, spent.subjectId, now)
  return spent
}

/** Whether a token was sent to this address: it proves nothing of another, such as the one that its account has by now. */
export const wasSentTo = ({ addressHash }: OneTimeToken, email: string): boolean => addressHash === addressHashOf(email)

/** Makes useless what was sent to a subject for a purpose, inside a write, such as when an invitation is taken back; how many it was. */
export const endTokens = (tx: Writer, { clock }: Pick<Deps, 'clock'>, purpose: TokenPurpose, subjectId: string): Promise<number> =>
  store.endAll(tx, purpose, subjectId, clock.now())

/** Forgets tokens that are over. */
export async function forgetTokens({ db, clock }: Pick<Deps, 'db' | 'clock'>): Promise<void> {
  await inBatches(forgottenAtOnce, () => db.write((tx) => store.removeExpired(tx, clock.now(), forgottenAtOnce)))
}
