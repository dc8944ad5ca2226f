/** Transactions on a connection. Statements are sent without waiting; the server runs them in order. */
import { DatabaseOutcomeUnknown, type DatabaseStats } from '../engine.ts'
import { recordValue } from '../histogram.ts'
import { isCertainRollback } from './errors.ts'
import type { Query, Session } from './pool.ts'

/** After a statement has failed, the server refuses the rest: the first failure is the cause of all later ones. */
export type Transaction = {
  readonly failed: { readonly error: unknown } | undefined
  readonly begun: Promise<unknown>
  readonly query: Query
}

/**
 * Begins a transaction without waiting for it. If BEGIN fails, the connection refuses changes until the next one.
 * Behind a pooler, where that cannot be set, a writer must wait until it has `begun`.
 */
export function begin(session: Session, mode: string): Transaction {
  let failed: Transaction['failed']
  const causedBy = (error: unknown): never => {
    failed ??= { error }
    throw failed.error
  }
  const begun = session.begin(mode).catch(causedBy)
  ignoreRejection(begun)
  return {
    get failed() {
      return failed
    },
    begun,
    query: (statement, values) => session.query(statement, values).catch(causedBy),
  }
}

/** Ignores a rejection that the transaction has already recorded. */
export const ignoreRejection = (sent: Promise<unknown>): void => void sent.catch(() => undefined)

/**
 * Commits after all statements that were sent.
 * @throws the first failure of the transaction or its commit; DatabaseOutcomeUnknown if the server did not respond
 */
export async function commit(session: Session, transaction: Transaction, stats: Pick<DatabaseStats, 'commitSeconds'>): Promise<void> {
  throwFailure(transaction)
  const sentAt = performance.now()
  const { command } = await session.query({ text: 'COMMIT' }).catch((error: unknown) => {
    for (const failure of [transaction.failed?.error, error]) if (isCertainRollback(failure)) throw failure
    throw new DatabaseOutcomeUnknown('the database server went away during a commit', { cause: error })
  })
  // If a statement has failed, the server responds ROLLBACK; if BEGIN has, it responds COMMIT. Neither is an error.
  throwFailure(transaction)
  if (command !== 'COMMIT') throw new Error('a transaction was rolled back without an error')
  recordValue(stats.commitSeconds, (performance.now() - sentAt) / 1_000)
}

function throwFailure({ failed }: Transaction): void {
  if (failed) throw failed.error
}
