/** Transactions on a connection: statements are sent one behind the other, and the server takes them in their order. */
import { DatabaseOutcomeUnknown, type DatabaseStats } from '../engine.ts'
import { recordValue } from '../histogram.ts'
import { saysNothingWasKept } from './errors.ts'
import type { Query, Session } from './pool.ts'
import type { FailureScope } from './wire.ts'

/**
 * After a statement has failed the server refuses the rest, so that the first failure is the cause of every later one.
 */
export type Transaction = FailureScope & { readonly query: Query }

/** Begins a transaction without waiting for it. */
export function begin(session: Session, mode: string): Transaction {
  const transaction: Transaction = {
    failed: undefined,
    query: (statement, values) => session.query(statement, values, transaction),
  }
  ignoreRejection(session.begin(mode, transaction))
  return transaction
}

/** Ignores a rejection that the transaction has already recorded. */
export const ignoreRejection = (sent: Promise<unknown>): void => void sent.catch(() => undefined)

/**
 * Commits, behind whatever was sent before.
 * @throws what a query of the transaction has failed of, or the commit; DatabaseOutcomeUnknown when the server did not
 *   say how it ended
 */
export async function commit(session: Session, transaction: Transaction, stats: Pick<DatabaseStats, 'commitSeconds'>): Promise<void> {
  // What was never sent has not failed there.
  throwFailure(transaction)
  const askedAt = performance.now()
  const { command } = await session.commit().catch((error: unknown) => {
    for (const failure of [transaction.failed?.error, error]) if (saysNothingWasKept(failure)) throw failure
    throw new DatabaseOutcomeUnknown('the database server went away during a commit', { cause: error })
  })
  // The server answers ROLLBACK, and no error, when a query had failed.
  if (command === 'COMMIT') return recordValue(stats.commitSeconds, (performance.now() - askedAt) / 1_000)
  throwFailure(transaction)
  throw new Error('a transaction was rolled back and nobody has said why')
}

function throwFailure({ failed }: FailureScope): void {
  if (failed) throw failed.error
}
