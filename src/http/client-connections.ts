/** Where a request came from, as the server tells it; and how long its connection may be silent, 0 for as long as it likes. */
export type Peer = { requestIP(request: Request): { address: string } | null; timeout?(request: Request, seconds: number): void }
/** The same by request. */
export type Peers = WeakMap<Request, Peer>
