import { DatabaseOutcomeUnknown, DatabaseUnavailable, type Writer } from '../../../../db/engine.ts'
import { inLine, locking } from '../../../core/command-context.ts'
import type { Deps } from '../../../core/deps.ts'
import { AppError } from '../../../core/errors.ts'
import type { Claim, Idempotency } from '../../../core/idempotency.ts'
import { isOver, leaseMs } from '../../../core/leases.ts'
import { inBatches } from '../../../lib/batches.ts'
import { dayMs } from '../../../lib/day.ts'
import { answerSeal, keptOf, keptText } from './domain.ts'
import { type IdempotencyRow, removeExpired, idempotencyStore as store } from './store.ts'

/** Most work is done long before its lease runs out. */
const inFlightRetrySeconds = 1
/** Of a key that others claim and release all the time. */
const claimTriesMax = 5
/** Keys of one write. */
const forgottenAtOnce = 500
const keptMs = dayMs
/** Attempts that are remembered while the database is away: the leases of more run out by themselves. */
const endedMax = 10_000

type Mine = { scope: string; key: string; attempt: string }

/**
 * Keys that make a request have its effect once. A key is claimed in a write before the effect, under a lease; its answer
 * is stored in the effect's own write. An attempt that vanished leaves a lease that runs out, and the next one works again; on a file that
 * nobody else has, at once.
 */
export function createIdempotency({
  db,
  clock,
  newId,
  keyring,
  config,
}: Pick<Deps, 'db' | 'clock' | 'newId' | 'keyring' | 'config'>): Idempotency {
  /** Attempts of this process that have ended, and what the database could not be told of them yet. */
  const ended = new Map<string, (tx: Writer) => Promise<unknown>>()
  /** Attempts of this process that are at work. */
  const atWork = new Set<string>()
  /** A file has one server: whatever attempt is none of this process died with the one before. */
  const isAlone = config.databaseUrl.startsWith('file:')

  return {
    async claim({ scope, key, fingerprint }) {
      const now = clock.now()
      const hasEnded = ({ leaseUntil, attempt }: IdempotencyRow) =>
        isOver(leaseUntil, now) || ended.has(attempt) || (isAlone && !atWork.has(attempt))
      const attempt = newId('attempt')
      const row = { scope, key, fingerprint, attempt, leaseUntil: now + leaseMs, expiresAt: now + keptMs, sealedAnswer: null }
      const mine = { scope, key, attempt }
      let resumed = false
      const takeKey = async (tx: Writer): Promise<IdempotencyRow | undefined> => {
        for (let tries = 0; tries < claimTriesMax; tries++) {
          resumed = false
          if (await store.insert(tx, row)) return undefined
          const known = await store.find(tx, row)
          // Released between the two by whoever had it.
          if (!known) continue
          const forgotten = known.expiresAt <= now
          resumed = !forgotten && known.fingerprint === fingerprint && known.sealedAnswer === null && hasEnded(known)
          if (!forgotten && !resumed) return known
          await store.replace(tx, row)
          return undefined
        }
        throw new DatabaseUnavailable('a key comes and goes')
      }
      const lost = (error: unknown): never => {
        atWork.delete(attempt)
        if (!(error instanceof DatabaseOutcomeUnknown)) throw error
        // Nothing but a claim is lost, and if it was kept nobody works under it.
        end(mine, (tx) => (resumed ? store.handOver(tx, mine) : store.release(tx, mine)))
        throw new DatabaseUnavailable('the claim of a key was lost at its commit')
      }
      // Before the others can find its row.
      atWork.add(attempt)
      // As most are: a key that nobody has used.
      const claim = await db.write((tx) => store.insertAlone(tx, row), inLine('claim', scope)).catch(lost)
      if (await claim.known) return claimed(mine, false)
      const found = await db.write(takeKey, locking).catch(lost)
      if (!found) return claimed(mine, resumed)
      atWork.delete(attempt)
      if (found.fingerprint !== fingerprint) return { kind: 'mismatch' }
      if (found.sealedAnswer === null) return { kind: 'inFlight', retryAfterSeconds: inFlightRetrySeconds }
      return { kind: 'replay', ...keptOf(keyring.unseal(found.sealedAnswer, answerSeal(scope, key))) }
    },
    async tellEnded() {
      for (const [attempt, how] of ended) {
        await db.write(how, locking)
        ended.delete(attempt)
      }
    },
  }

  /** Does something with a key whose attempt has ended. While the database cannot be told, this process remembers. */
  async function settle(mine: Mine, how: (tx: Writer) => Promise<unknown>): Promise<void> {
    try {
      await db.write(how, locking)
    } catch (error) {
      end(mine, how)
      throw error
    } finally {
      atWork.delete(mine.attempt)
    }
  }

  function end({ attempt }: Mine, how: (tx: Writer) => Promise<unknown>): void {
    if (ended.size < endedMax) ended.set(attempt, how)
  }

  function claimed(mine: Mine, resumed: boolean): Claim {
    const sealed = (status: number, answer: unknown) => keyring.seal(keptText(status, answer), answerSeal(mine.scope, mine.key))
    return {
      kind: 'claimed',
      resumed,
      keep: async (tx, status, answer, isSure = false) => {
        if (isSure) return store.answerSurely(tx, mine, sealed(status, answer))
        const stillMine = await store.answer(tx, mine, sealed(status, answer))
        if (!stillMine) throw new AppError('CONFLICT', 'Another request under this idempotency-key took over')
        tx.afterCommit(() => void atWork.delete(mine.attempt))
      },
      fail: (status, answer) => settle(mine, (tx) => store.answer(tx, mine, sealed(status, answer))),
      release: () => settle(mine, (tx) => store.release(tx, mine)),
      handOver: () => settle(mine, (tx) => store.handOver(tx, mine)),
      renew: () => db.write((tx) => store.renew(tx, mine, clock.now(), leaseMs), locking),
    }
  }
}

/** Forgets the keys whose day has passed: in small writes, so that nobody waits long behind one. */
export async function forgetExpiredKeys({ db, clock }: Pick<Deps, 'db' | 'clock'>): Promise<void> {
  const now = clock.now()
  await inBatches(forgottenAtOnce, () => db.write((tx) => removeExpired(tx, now, forgottenAtOnce)))
}

const lookedAtAtOnce = 200
/** What a request is answered whose answer was about somebody who is erased: its effect stays, and does not come again. */
const erased = { statusCode: 404, message: 'What this was about was erased', error: 'Not Found' }

/**
 * Takes the kept answers of a shop's requests away that are about somebody: their keys stay used, so that nothing happens twice. In pieces,
 * between which others have the thread.
 * @param isAbout of the body of an answer, as JSON
 * @returns how many it were
 */
export async function eraseAnswers(
  { db, keyring }: Pick<Deps, 'db' | 'keyring'>,
  shopId: string,
  isAbout: (body: string) => boolean,
): Promise<number> {
  let count = 0
  let last: Pick<IdempotencyRow, 'scope' | 'key'> | undefined
  do {
    const rows = await store.answersOf(db.read, shopId, last, lookedAtAtOnce)
    const found = rows.filter(({ scope, key, sealedAnswer }) => {
      const { status, body } = keptOf(keyring.unseal(sealedAnswer ?? '', answerSeal(scope, key)))
      return status < 400 && isAbout(body)
    })
    if (found.length > 0)
      await db.write(async (tx) => {
        for (const row of found)
          await store.exchange(tx, row, row.sealedAnswer ?? '', keyring.seal(keptText(404, erased), answerSeal(row.scope, row.key)))
      }, locking)
    count += found.length
    last = rows[lookedAtAtOnce - 1]
    await new Promise((resume) => setImmediate(resume))
  } while (last)
  return count
}
