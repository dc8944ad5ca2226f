import { availableParallelism } from 'node:os'
import type { Passwords } from '../core/deps.ts'

/** OWASP's minimum for argon2id (Password Storage Cheat Sheet): 19 MiB, two passes. */
const argon2id = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const
/** Half the machine's cores: more would hold up everything else. */
const hashingMax = Math.max(1, Math.floor(availableParallelism() / 2))
const waitingMax = 200

/** Hashes and verifies passwords off the main thread, a bounded number at once. */
export function createPasswords(busy: () => Error, atOnce = hashingMax): Passwords {
  let running = 0
  const waiting: (() => void)[] = []

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (running >= atOnce) {
      if (waiting.length >= waitingMax) throw busy()
      await new Promise<void>((resolve) => waiting.push(resolve))
    } else {
      running++
    }
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }

  let nobodysHash: Promise<string> | undefined

  return {
    hash: (password) => inTurn(() => Bun.password.hash(password, argon2id)),
    async verify(password, hash) {
      nobodysHash ??= Bun.password.hash('nobody has this password', argon2id)
      const against = hash ?? (await nobodysHash)
      const matches = await inTurn(() => Bun.password.verify(password, against))
      return matches && hash !== undefined
    },
  }
}
