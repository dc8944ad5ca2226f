import type { Writer } from '../../../../db/engine.ts'
import type { Deps } from '../../../core/deps.ts'
import { runUntracked } from '../../../core/request-context.ts'
import { instanceKeySeal } from './domain.ts'
import { type InstanceKeyRow, type Purpose, instanceKeyStore as store } from './store.ts'

/** Keys that stay the same for the life of the data, independent of the master keys. */
export type InstanceKeys = {
  of(purpose: Purpose): Promise<Buffer>
  /** Returns a key that exists, inside a write. */
  within(tx: Writer, purpose: Purpose): Promise<Buffer>
}

const keyBytes = 32

/** Creates each key at its first use, seals it under the master key, and caches it in this process. */
export function createInstanceKeys({
  db,
  keyring,
  randomBytes,
  clock,
}: Pick<Deps, 'db' | 'keyring' | 'randomBytes' | 'clock'>): InstanceKeys {
  const keys = new Map<Purpose, Promise<Buffer>>()

  async function loadKey(purpose: Purpose): Promise<Buffer> {
    return unsealKey((await store.find(db.read, purpose)) ?? (await createKey(purpose)))
  }

  const unsealKey = ({ purpose, sealedKey }: InstanceKeyRow) => Buffer.from(keyring.unseal(sealedKey, instanceKeySeal(purpose)), 'base64')

  /** If two processes create a key at once, both use the first one. */
  async function createKey(purpose: Purpose): Promise<InstanceKeyRow> {
    const key = Buffer.from(randomBytes(keyBytes)).toString('base64')
    const row = { purpose, sealedKey: keyring.seal(key, instanceKeySeal(purpose)), createdAt: clock.now() }
    // Written apart from the request's own transaction.
    const stored = await runUntracked(() =>
      db.write(async (tx) => {
        await store.insert(tx, row)
        return store.find(tx, purpose)
      }),
    )
    // A key that differs from the stored one would protect data that nobody can read later.
    if (!stored) throw new Error('an instance key could not be created')
    return stored
  }

  return {
    of(purpose) {
      const found = keys.get(purpose) ?? loadKey(purpose)
      keys.set(purpose, found)
      found.catch(() => keys.delete(purpose))
      return found
    },
    async within(tx, purpose) {
      const cachedKey = keys.get(purpose)
      if (cachedKey) return cachedKey
      const row = await store.find(tx, purpose)
      if (!row) throw new Error('the instance key does not exist yet')
      return unsealKey(row)
    },
  }
}
