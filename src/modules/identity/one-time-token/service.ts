import type { Reader, Writer } from '../../../../db/engine.ts'
import type { Deps } from '../../../core/deps.ts'
import { inBatches } from '../../../lib/batches.ts'
import { sha256 } from '../../../lib/seal.ts'
import { normalEmail } from '../auth/domain.ts'
import { type OneTimeToken, type TokenPurpose, tokenLifeMs } from './domain.ts'
import { oneTimeTokenStore as store } from './store.ts'

const tokenBytes = 32
const deletionBatchSize = 500

const addressHashOf = (email: string): string => sha256(normalEmail(email))

/** The purpose of a token, and its recipient. */
type NewToken = { purpose: TokenPurpose; subjectId: string; shopId?: string | null; email: string }

/**
 * Creates a token inside a write, to be mailed. Earlier tokens stay valid, because mails may arrive in any order.
 * @returns the token (43 characters), of which only a hash is stored
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

/** Returns a token's record while it is valid. Does not use it up. */
export const findToken = (
  from: Pick<Reader, 'select'>,
  { clock }: Pick<Deps, 'clock'>,
  purpose: TokenPurpose,
  token: string,
): Promise<OneTimeToken | undefined> => store.find(from, purpose, sha256(token), clock.now())

/**
 * Uses up a token and all others of its subject and purpose, inside the write that it permits.
 * @returns its record; undefined if it is not valid
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

/** Returns whether a token was sent to this address. It proves no other, such as the account's new address. */
export const isSentTo = ({ addressHash }: OneTimeToken, email: string): boolean => addressHash === addressHashOf(email)

/** Invalidates all tokens of a subject and purpose inside a write. Returns their number. */
export const invalidateTokens = (tx: Writer, { clock }: Pick<Deps, 'clock'>, purpose: TokenPurpose, subjectId: string): Promise<number> =>
  store.endAll(tx, purpose, subjectId, clock.now())

/** Deletes expired tokens. */
export async function deleteExpiredTokens({ db, clock }: Pick<Deps, 'db' | 'clock'>): Promise<void> {
  await inBatches(deletionBatchSize, () => db.write((tx) => store.removeExpired(tx, clock.now(), deletionBatchSize)))
}
