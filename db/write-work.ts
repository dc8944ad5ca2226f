/** What both engines hold every work to, so that a mistake shows on the engine at hand and not only on the other one. */
import { AsyncLocalStorage } from 'node:async_hooks'

/** One work under way. Its transaction may be used until it has settled. */
export type Work = { open: boolean; readonly afterCommit: (() => void)[] }

export const newWork = (): Work => ({ open: true, afterCommit: [] })

const underWay = new AsyncLocalStorage<Work>()

/** Runs `run` as a work, which is open until what it returned has settled. */
export async function asWork<T>(work: Work, run: () => Promise<T>): Promise<T> {
  try {
    return await underWay.run(work, run)
  } finally {
    work.open = false
  }
}

/** Throws inside a work: a write that waits for its own transaction would wait forever, or outlive what called it. */
export function refuseNestedWrite(): void {
  if (underWay.getStore()?.open) throw new Error('a database work may not begin another write')
}

/** Throws once the work has settled: its queries would run in somebody else's transaction. */
export function assertOpen(work: Work): void {
  if (!work.open) throw new Error('a transaction was used after its work had settled')
}
