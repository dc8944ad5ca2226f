import type { AppDeps } from '../src/parts.ts'

/** Notices what goes wrong around a process that runs: the clock that jumps, the keys that vanish. */
export async function lookAround({ clockWatch, keyring }: Pick<AppDeps, 'clockWatch' | 'keyring'>): Promise<void> {
  clockWatch.isSteady()
  keyring.atHand()
}
