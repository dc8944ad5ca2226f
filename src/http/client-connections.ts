/** The connection of a request: its address, and its idle timeout in seconds (0: none). */
export type ClientConnection = {
  requestIP(request: Request): { address: string } | null
  timeout?(request: Request, seconds: number): void
}
/** Connections by request. */
export type ClientConnections = WeakMap<Request, ClientConnection>
