import { availableParallelism } from 'node:os'
import type { PasswordCaller, Passwords } from '../core/deps.ts'
import { createFairQueue } from '../core/limits/fair-queue.ts'
import { requestStartedAt } from '../core/request-context.ts'
import { networkOf } from '../lib/networks.ts'

/** OWASP's minimum for argon2id (Password Storage Cheat Sheet): 19 MiB, two passes. */
const argon2id = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const
/** Half of the cores, so that other work continues. */
const hashingMax = Math.max(1, Math.floor(availableParallelism() / 2))
/** Before the request limit of 28 seconds, with time left for the rest of the request. */
const answerWithinMs = 24_000
const waitMaxMs = 20_000
/** More could not be served in time; this also bounds memory. */
const waitingMax = 1_000
const usualMs = 100

/**
 * Creates the hasher of passwords: off the main thread, with limited concurrency. Kinds of callers take turns, then
 * networks (IPv4 /24, IPv6 /48), then addresses (core/limits/fair-queue.ts).
 * No caller waits longer than a request may.
 * @param busy creates the refusal of a full queue, with the seconds until it is served
 */
export function createPasswords(busy: (retryAfterSeconds: number) => Error, atOnce = hashingMax): Passwords {
  const now = () => performance.now()
  const full = (waitMs: number) => busy(Math.max(1, Math.ceil(waitMs / 1000)))
  const turns = createFairQueue({ atOnce, waitMaxMs, waitingMax, initialTurnMs: usualMs, now, full })

  async function inTurn<T>({ kind, address }: PasswordCaller, work: () => Promise<T>): Promise<T> {
    const end = await turns.acquire([kind, networkOf(address), address], (requestStartedAt() ?? now()) + answerWithinMs)
    try {
      return await work()
    } finally {
      end()
    }
  }

  let dummyHash: Promise<string> | undefined

  return {
    hash: (password, turn) => inTurn(turn, () => Bun.password.hash(password, argon2id)),
    async verify(password, hash, turn) {
      dummyHash ??= Bun.password.hash('nobody has this password', argon2id)
      const against = hash ?? (await dummyHash)
      const matches = await inTurn(turn, () => Bun.password.verify(password, against))
      return matches && hash !== undefined
    },
  }
}
