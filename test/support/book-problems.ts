import { bookFindings } from '../../src/modules/payments/ledger/index.ts'
import type { TestApp } from './app.ts'

/** Returns the problems that `souk check` finds in the books, one sentence each. */
export async function bookProblems({ deps: { db } }: Pick<TestApp, 'deps'>): Promise<string[]> {
  const found: string[] = []
  for await (const { problems, isWork } of bookFindings(db)) if (!isWork) found.push(...problems)
  return found
}
