import { DatabaseOutcomeUnknown, DatabaseUnavailable, type Writer } from '../../../../db/engine.ts'
import { locking } from '../../../core/command-context.ts'
import type { Deps } from '../../../core/deps.ts'
import { AppError } from '../../../core/errors.ts'
import type { Claim, Idempotency } from '../../../core/idempotency.ts'
import { isLeaseOver, leaseMs } from '../../../core/leases.ts'
import { inBatches } from '../../../lib/batches.ts'
import { dayMs } from '../../../lib/day.ts'
import { answerSeal, decodeAnswer, encodeAnswer } from './domain.ts'
import { type IdempotencyRow, removeExpired, idempotencyStore as store } from './store.ts'

/** Most work ends long before its lease. */
const inFlightRetrySeconds = 1
/** Attempts for a key that other requests keep claiming and releasing. */
const claimTriesMax = 5
/** Keys per write. */
const removalBatch = 500
const keyLifetimeMs = dayMs
/** Ended attempts to remember while the database is away. The leases of others expire. */
const endedMax = 10_000

type OwnedKey = { scope: string; key: string; attempt: string }

/**
 * Creates the store of idempotency keys. A key is claimed under a lease before the effect, and its answer is stored in
 * the effect's own write.
 * After a crash the lease expires and the next attempt continues; on an embedded database it continues at once.
 */
export function createIdempotency({
  db,
  clock,
  newId,
  keyring,
  config,
}: Pick<Deps, 'db' | 'clock' | 'newId' | 'keyring' | 'config'>): Idempotency {
  /** Ended attempts of this process with the write that the database still lacks. */
  const ended = new Map<string, (tx: Writer) => Promise<unknown>>()
  /** Running attempts of this process. */
  const runningAttempts = new Set<string>()
  /** An embedded database has one server, so attempts of other processes are dead. */
  const isAlone = config.databaseUrl.startsWith('file:')

  return {
    async claim({ scope, key, fingerprint, isOneWrite = false }) {
      const now = clock.now()
      const hasEnded = ({ leaseUntil, attempt }: IdempotencyRow) =>
        isLeaseOver(leaseUntil, now) || ended.has(attempt) || (isAlone && !runningAttempts.has(attempt))
      const attempt = newId('attempt')
      const row = { scope, key, fingerprint, attempt, leaseUntil: now + leaseMs, expiresAt: now + keyLifetimeMs, sealedAnswer: null }
      const owned = { scope, key, attempt }
      if (isOneWrite && !(await store.has(db.read, row))) return createOneWriteClaim(row)
      let isResumed = false
      const takeKey = async (tx: Writer): Promise<IdempotencyRow | undefined> => {
        for (let tries = 0; tries < claimTriesMax; tries++) {
          isResumed = false
          if (await store.insert(tx, row)) return undefined
          const existing = await store.find(tx, row)
          // Released between the two statements.
          if (!existing) continue
          const isExpired = existing.expiresAt <= now
          isResumed = !isExpired && existing.fingerprint === fingerprint && existing.sealedAnswer === null && hasEnded(existing)
          if (!isExpired && !isResumed) return existing
          await store.replace(tx, row)
          return undefined
        }
        throw new DatabaseUnavailable('other requests keep claiming and releasing the key')
      }
      const handleLostClaim = (error: unknown): never => {
        runningAttempts.delete(attempt)
        if (!(error instanceof DatabaseOutcomeUnknown)) throw error
        // Only a claim is lost. If it was stored, no attempt works under it.
        rememberEnd(owned, (tx) => (isResumed ? store.handOver(tx, owned) : store.release(tx, owned)))
        throw new DatabaseUnavailable('the claim of a key was lost at its commit')
      }
      // Added before other requests can find the row.
      runningAttempts.add(attempt)
      const existing = await db.write(takeKey, locking).catch(handleLostClaim)
      if (!existing) return createClaim(owned, isResumed)
      runningAttempts.delete(attempt)
      if (existing.fingerprint !== fingerprint) return { kind: 'mismatch' }
      if (existing.sealedAnswer === null) return { kind: 'inFlight', retryAfterSeconds: inFlightRetrySeconds }
      return { kind: 'replay', ...decodeAnswer(keyring.unseal(existing.sealedAnswer, answerSeal(scope, key))) }
    },
    async flushEnded() {
      for (const [attempt, writeEnd] of ended) {
        await db.write(writeEnd, locking)
        ended.delete(attempt)
      }
    },
  }

  /** Writes the end of an attempt. While the database is away, the process remembers it. */
  async function settle(owned: OwnedKey, write: (tx: Writer) => Promise<unknown>): Promise<void> {
    try {
      await db.write(write, locking)
    } catch (error) {
      rememberEnd(owned, write)
      throw error
    } finally {
      runningAttempts.delete(owned.attempt)
    }
  }

  function rememberEnd({ attempt }: OwnedKey, write: (tx: Writer) => Promise<unknown>): void {
    if (ended.size < endedMax) ended.set(attempt, write)
  }

  function sealAnswer({ scope, key }: OwnedKey, status: number, answer: unknown): string {
    return keyring.seal(encodeAnswer(status, answer), answerSeal(scope, key))
  }

  /**
   * Creates a claim that inserts the key with the answer. Without it, the three requests of an agent's purchase take a
   * quarter longer: 8 writes in 5.5 commits instead of 6 in 4.3 (PostgreSQL, 32 callers).
   */
  function createOneWriteClaim(row: IdempotencyRow): Claim {
    const storeAnswer = async (tx: Writer, status: number, answer: unknown) => {
      if (!(await store.insert(tx, { ...row, sealedAnswer: sealAnswer(row, status, answer) }))) throw inProgressError()
    }
    // The work may have failed because another request with the key did it.
    const assertUnused = async () => {
      if (await store.has(db.read, row)) throw inProgressError()
    }
    return {
      ...{ kind: 'claimed', isResumed: false, storeAnswer, assertUnused, release: assertUnused, handOver: assertUnused },
      storeRefusal: (status, answer) => db.write((tx) => storeAnswer(tx, status, answer), locking),
      renew: async () => undefined,
    }
  }

  function createClaim(owned: OwnedKey, isResumed: boolean): Claim {
    return {
      kind: 'claimed',
      isResumed,
      storeAnswer: async (tx, status, answer, isSure = false) => {
        if (isSure) await store.answerSurely(tx, owned, sealAnswer(owned, status, answer))
        else if (!(await store.answer(tx, owned, sealAnswer(owned, status, answer)))) throw inProgressError()
        tx.afterCommit(() => void runningAttempts.delete(owned.attempt))
      },
      // No other request works while this one holds the key.
      assertUnused: async () => undefined,
      storeRefusal: (status, answer) => settle(owned, (tx) => store.answer(tx, owned, sealAnswer(owned, status, answer))),
      release: () => settle(owned, (tx) => store.release(tx, owned)),
      handOver: () => settle(owned, (tx) => store.handOver(tx, owned)),
      renew: () => db.write((tx) => store.renew(tx, owned, clock.now(), leaseMs), locking),
    }
  }
}

const inProgressError = () =>
  new AppError('CONFLICT', 'Another request with this Idempotency-Key is doing this work. Retry with the same key', {
    code: 'idempotency_in_progress',
  })

/** Removes keys after their day, in small writes that delay no others. */
export async function removeExpiredKeys({ db, clock }: Pick<Deps, 'db' | 'clock'>): Promise<void> {
  const now = clock.now()
  await inBatches(removalBatch, () => db.write((tx) => removeExpired(tx, now, removalBatch)))
}

const scanBatch = 200
/** Replaces an answer about an erased person. The effect stays and is not repeated. */
const erasedAnswer = { statusCode: 404, message: 'What this was about was erased', error: 'Not Found' }

/**
 * Erases stored answers of a shop that are about a person. Their keys stay used, so that nothing happens twice.
 * Yields the thread between batches.
 * @param isAbout receives the body of an answer as JSON
 * @returns how many
 */
export async function eraseAnswers(
  { db, keyring }: Pick<Deps, 'db' | 'keyring'>,
  shopId: string,
  isAbout: (body: string) => boolean,
): Promise<number> {
  let count = 0
  let last: Pick<IdempotencyRow, 'scope' | 'key'> | undefined
  do {
    const rows = await store.answersOf(db.read, shopId, last, scanBatch)
    const matching = rows.filter(({ scope, key, sealedAnswer }) => {
      const { status, body } = decodeAnswer(keyring.unseal(sealedAnswer ?? '', answerSeal(scope, key)))
      return status < 400 && isAbout(body)
    })
    if (matching.length > 0)
      await db.write(async (tx) => {
        for (const row of matching)
          await store.exchange(
            tx,
            row,
            row.sealedAnswer ?? '',
            keyring.seal(encodeAnswer(404, erasedAnswer), answerSeal(row.scope, row.key)),
          )
      }, locking)
    count += matching.length
    last = rows[scanBatch - 1]
    await new Promise((resume) => setImmediate(resume))
  } while (last)
  return count
}
