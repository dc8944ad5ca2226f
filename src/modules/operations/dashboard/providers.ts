import type { Deps } from '../../../core/deps.ts'
import { createKept } from '../../../lib/stale-while-revalidate.ts'

export const operationsProviders = ({ clock }: Deps) => ({
  /** What the database takes up on its server, for the metrics. */
  serverBytes: createKept<number | undefined>(clock.monotonic),
})
export type OperationsDeps = ReturnType<typeof operationsProviders>
