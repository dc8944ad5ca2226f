import { availableParallelism } from 'node:os'
import type { Passwords, PasswordTurn } from '../core/deps.ts'
import { createTurns } from '../lib/turns.ts'

/** OWASP's minimum for argon2id (Password Storage Cheat Sheet): 19 MiB, two passes. */
const argon2id = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const
/** Half the machine's cores: more would hold up everything else. */
const hashingMax = Math.max(1, Math.floor(availableParallelism() / 2))
/** More than the logins and sign-ups that one address may have under way by their own limits. */
const waitingMax = { key: 100, kind: 400 }
/** Of how long one takes: the newest counts a tenth. */
const newestWeight = 0.1

/**
 * Hashes and verifies passwords off the main thread, a bounded number at once: kinds of callers take turns, and within a kind
 * addresses (lib/turns.ts).
 * @param busy the refusal when too many wait, with the seconds after which those are through
 */
export function createPasswords(busy: (retryAfterSeconds: number) => Error, atOnce = hashingMax): Passwords {
  let usualMs = 100
  const turns = createTurns({ atOnce, waitingMax, full: (ahead) => busy(Math.max(1, Math.ceil((ahead * usualMs) / atOnce / 1000))) })

  async function inTurn<T>({ kind, address }: PasswordTurn, work: () => Promise<T>): Promise<T> {
    const end = await turns.take(kind, address)
    const startedAt = performance.now()
    try {
      return await work()
    } finally {
      usualMs += newestWeight * (performance.now() - startedAt - usualMs)
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
