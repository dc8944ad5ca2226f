import type { Deps } from '../../../core/deps.ts'
import { aside } from '../../../core/request-context.ts'
import { instanceKeySeal } from './domain.ts'
import { type InstanceKeyRow, type Purpose, instanceKeyStore as store } from './store.ts'

/** Keys of the instance that stay the same for as long as its data lives, whatever becomes of the master keys. */
export type InstanceKeys = { of(purpose: Purpose): Promise<Buffer> }

const keyBytes = 32

/** Each key is made when it is first asked for, sealed under the master key, and remembered by this process. */
export function createInstanceKeys({
  db,
  keyring,
  randomBytes,
  clock,
}: Pick<Deps, 'db' | 'keyring' | 'randomBytes' | 'clock'>): InstanceKeys {
  const known = new Map<Purpose, Promise<Buffer>>()

  async function load(purpose: Purpose): Promise<Buffer> {
    const row = (await store.find(db.read, purpose)) ?? (await make(purpose))
    return Buffer.from(keyring.unseal(row.sealedKey, instanceKeySeal(purpose)), 'base64')
  }

  /** Two processes may come here at once: the first one's key is everybody's. */
  async function make(purpose: Purpose): Promise<InstanceKeyRow> {
    const key = Buffer.from(randomBytes(keyBytes)).toString('base64')
    const row = { purpose, sealedKey: keyring.seal(key, instanceKeySeal(purpose)), createdAt: clock.now() }
    // Nobody asked for it: it is no part of what the request under way changes.
    const kept = await aside(() =>
      db.write(async (tx) => {
        await store.insert(tx, row)
        return store.find(tx, purpose)
      }),
    )
    // Another key than the stored one would protect what nobody can read later.
    if (!kept) throw new Error('a key of the instance was neither made nor found')
    return kept
  }

  return {
    of(purpose) {
      const found = known.get(purpose) ?? load(purpose)
      known.set(purpose, found)
      found.catch(() => known.delete(purpose))
      return found
    },
  }
}
