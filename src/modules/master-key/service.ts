import type { Database } from '../../../db/engine.ts'
import type { Clock } from '../../deps.ts'
import type { Keyring } from '../../keys.ts'
import { masterKeyStore as store } from './store.ts'

/** Whether secrets were ever sealed in this database: then its keys are never made anew. */
export const hasSealedSecrets = async ({ read }: Database): Promise<boolean> => (await store.inUse(read)).length > 0

/**
 * Holds the keys at hand against those that the database was sealed with, and registers a new one.
 * @throws Error that says what to restore when a key in use is missing
 */
export async function confirmMasterKeys({ db, clock }: { db: Database; clock: Clock }, keyring: Keyring): Promise<void> {
  const atHand = keyring.encryption()
  const inUse = await store.inUse(db.read)
  const missing = inUse.filter(({ fingerprint }) => !atHand.some((key) => key.fingerprint === fingerprint))
  if (missing.length > 0) {
    const names = missing.map(({ version }) => version).join(', ')
    throw new Error(`The database holds secrets sealed under encryption key ${names}, which is not at hand: restore keys.json from your copy, or put that key into ENCRYPTION_KEY`)
  }
  const [current] = atHand
  if (!current || inUse.some(({ version }) => version === current.version)) return
  const row = { version: current.version, fingerprint: current.fingerprint, createdAt: clock.now(), retiredAt: null }
  await db.write((tx) => store.register(tx, row))
}
