/** A proxy to a PostgreSQL server that cuts connections at a statement. */
import { connect, createServer, type Socket } from 'node:net'

export type CutMode = 'before' | 'behind' | 'spoiled'

/**
 * Starts a proxy on a new port that forwards bytes in both directions.
 * @param cutAt text of the statement at which a connection is cut
 * @param cut `before` cuts before the server receives the statement, `behind` when its response arrives; `spoiled`
 *   overwrites the statement instead
 */
export async function cuttableProxy(serverUrl: string, cutAt: string, cut: CutMode) {
  const { hostname, port } = new URL(serverUrl)
  const sockets = new Set<Socket>()
  let armed = false
  const server = createServer((client) => {
    const upstream = connect(Number(port || 5432), hostname)
    let isCut = false
    const end = () => void [client, upstream].forEach((socket) => void socket.destroy())
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', end)
      socket.on('close', end)
    }
    client.on('data', (bytes: Buffer) => {
      if (armed && bytes.includes(cutAt)) {
        if (cut === 'before') return end()
        if (cut === 'spoiled') bytes.fill('?', bytes.indexOf(cutAt), bytes.indexOf(cutAt) + cutAt.length)
        else isCut = true
      }
      upstream.write(bytes)
    })
    // A response shows that the server executed the statement.
    upstream.on('data', (bytes) => (isCut ? end() : void client.write(bytes)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(serverUrl)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as { port: number }).port)
  return {
    url: url.href,
    /** Enables the cut from now on. */
    arm() {
      armed = true
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
