/** Where a request came from, as the server tells it. */
export type Peer = { requestIP(request: Request): { address: string } | null }
/** The same by request. */
export type Peers = WeakMap<Request, Peer>
