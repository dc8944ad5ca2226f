import type { Deps } from '../core/deps.ts'
import type { Idempotency } from '../core/idempotency.ts'
import type { Identity } from '../core/principal.ts'
import type { AnswerCache } from './caching.ts'
import type { RouteTable } from './route-table.ts'

/** What the HTTP layer needs besides. */
export type HttpDeps = Deps & {
  readonly identity: Identity
  readonly idempotency: Idempotency
  /** What the routes of the app state. */
  readonly routeTable: RouteTable
  /** Whole public answers, kept while the database does not change. */
  readonly answers: AnswerCache
  /** The caller's address, for limits: always something. */
  readonly limitKey: (request: Request) => string
  /** The caller's address, for what is guarded by address; undefined when it cannot be believed. */
  readonly guardedAddress: (request: Request) => string | undefined
}
