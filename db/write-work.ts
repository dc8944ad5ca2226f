/** Rules for works that both engines enforce, so that mistakes show on either. */
import { AsyncLocalStorage } from 'node:async_hooks'

/** A running work. Its transaction is usable until it settles. */
export type Work = { open: boolean; readonly afterCommit: (() => void)[] }

/** Creates the state of a work that is about to run. */
export const newWork = (): Work => ({ open: true, afterCommit: [] })

const currentWork = new AsyncLocalStorage<Work>()

/** Runs a function as a work, which is open until the result settles. */
export async function asWork<T>(work: Work, run: () => Promise<T>): Promise<T> {
  try {
    return await currentWork.run(work, run)
  } finally {
    work.open = false
  }
}

/** Throws inside a work: a nested write would wait for its own transaction forever. */
export function refuseNestedWrite(): void {
  if (currentWork.getStore()?.open) throw new Error('a database work may not begin another write')
}

/** Throws after the work has settled: its queries would run in another transaction. */
export function assertOpen(work: Work): void {
  if (!work.open) throw new Error('a transaction was used after its work had settled')
}
