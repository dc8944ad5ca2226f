import type { Deps } from '../../../core/deps.ts'
import { createStaleWhileRevalidate } from '../../../lib/stale-while-revalidate.ts'

export const operationsProviders = ({ clock }: Deps) => ({
  /** The cached size of the database on its server, for the metrics. */
  serverBytes: createStaleWhileRevalidate<number | undefined>(clock.monotonic),
})
export type OperationsDeps = ReturnType<typeof operationsProviders>
