import type { Deps } from '../core/deps.ts'
import type { Caller } from '../core/principal.ts'
import { createAnswerCache } from './caching.ts'
import { createClientAddress, limitKeyOf } from './client-ip.ts'
import { createRequestCounts } from './metrics.ts'
import type { Peers } from './peers.ts'
import { createRouteTable } from './route-table.ts'

/** What the HTTP layer keeps of an instance. */
export function httpParts({ db, clock, config }: Deps, peers: Peers) {
  const address = createClientAddress(config.trustedProxies)
  const peerOf = (request: Request) => peers.get(request)?.requestIP(request)?.address
  return {
    /** Whole public answers, kept while the database does not change. */
    answers: createAnswerCache({ version: () => db.version(), now: clock.now }),
    /** The caller's address, for the record; undefined when it cannot be told. */
    callerAddress: (request: Request): string | undefined => address.of(request, peerOf(request)),
    /** The caller's address, for limits: always something. */
    limitKey: (request: Request): string => limitKeyOf(address.of(request, peerOf(request))),
    /** The caller's address, for what is guarded by address; undefined when it cannot be believed. */
    guardedAddress: (request: Request): string | undefined => address.strictly(request, peerOf(request)),
    requestCounts: createRequestCounts(),
    /** Who sent a request, once that is known. */
    callers: new WeakMap<Request, Caller>(),
    /** What the routes of the app state. */
    routeTable: createRouteTable(),
  }
}
