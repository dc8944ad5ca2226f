import type { AppDeps } from '../src/parts.ts'

/** Notices what goes wrong around a process that runs: the clock that jumps, the keys and the database that vanish. */
export async function lookAround({ clockWatch, db, keyring }: Pick<AppDeps, 'clockWatch' | 'db' | 'keyring'>): Promise<void> {
  clockWatch.isSteady()
  keyring.atHand()
  db.isInPlace()
}
