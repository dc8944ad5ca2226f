import { availableParallelism } from 'node:os'
import type { Passwords, PasswordTurn } from '../core/deps.ts'
import { cameAt } from '../core/request-context.ts'
import { createTurns } from '../lib/fair-queue.ts'
import { networkOf } from '../lib/networks.ts'

/** OWASP's minimum for argon2id (Password Storage Cheat Sheet): 19 MiB, two passes. */
const argon2id = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const
/** Half the machine's cores: more would hold up everything else. */
const hashingMax = Math.max(1, Math.floor(availableParallelism() / 2))
/** Before the end of the 28 seconds within which a request is answered: what comes after may take a moment, too. */
const answerWithinMs = 24_000
const waitMaxMs = 20_000
/** More than get their turn by then; it bounds the memory. */
const waitingMax = 1_000
const usualMs = 100

/**
 * Hashes and verifies passwords off the main thread, a bounded number at once. Kinds of callers take turns, within a kind networks (an
 * IPv4 /24, an IPv6 /48), and within a network addresses (lib/fair-queue.ts). Nobody waits for longer than a request may.
 * @param busy the refusal when too many wait, with the seconds after which those are through
 */
export function createPasswords(busy: (retryAfterSeconds: number) => Error, atOnce = hashingMax): Passwords {
  const now = () => performance.now()
  const full = (waitMs: number) => busy(Math.max(1, Math.ceil(waitMs / 1000)))
  const turns = createTurns({ atOnce, waitMaxMs, waitingMax, usualMs, now, full })

  async function inTurn<T>({ kind, address }: PasswordTurn, work: () => Promise<T>): Promise<T> {
    const end = await turns.take([kind, networkOf(address), address], (cameAt() ?? now()) + answerWithinMs)
    try {
      return await work()
    } finally {
      end()
    }
  }

  let nobodysHash: Promise<string> | undefined

  return {
    hash: (password, turn) => inTurn(turn, () => Bun.password.hash(password, argon2id)),
    async verify(password, hash, turn) {
      nobodysHash ??= Bun.password.hash('nobody has this password', argon2id)
      const against = hash ?? (await nobodysHash)
      const matches = await inTurn(turn, () => Bun.password.verify(password, against))
      return matches && hash !== undefined
    },
  }
}
