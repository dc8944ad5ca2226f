/**
 * Pools PostgreSQL sessions for the tests, in a separate process: starting and ending a session costs the server more
 * than most tests. A client gets a session that another one left idle, after `DISCARD ALL`, with the server's original
 * greeting, so that it looks new. Sessions that were left in a transaction or with unread responses are closed.
 *
 * Prints its port on 127.0.0.1. Exits when its standard input ends.
 */
import { connect, createServer, type Socket } from 'node:net'

/** Name of idle sessions in `pg_stat_activity`. test/support/database.ts does not terminate those. */
export const restingName = 'resting'

/** Protocol version of a start-up message (PostgreSQL, "Message Formats"). */
const plainStart = 0x00_03_00_00
const [terminate, sync, query, readyForQuery, authentication] = [...'XSQZR'].map((letter) => letter.charCodeAt(0))
const idleStatus = 'I'.charCodeAt(0)

/** Encodes a simple query. */
function queryOf(text: string): Buffer {
  const message = Buffer.alloc(6 + text.length)
  message.write('Q')
  message.writeInt32BE(5 + text.length, 1)
  message.write(text, 5)
  return message
}
const resetMessage = Buffer.concat([queryOf('DISCARD ALL'), queryOf(`SET application_name = '${restingName}'`)])
const wakeMessage = queryOf('RESET application_name')

type Scanner = { scan(chunk: Buffer): void; isBetween(): boolean }
/**
 * Parses a stream of messages.
 * @param onMessage receives the type of each message and the first byte of its body, or 0
 */
function scanner(onMessage: (type: number, first: number) => void): Scanner {
  const head: number[] = []
  let rest = 0
  function begin(byte: number): void {
    head.push(byte)
    if (head.length < 5) return
    const length = Buffer.from(head.slice(1, 5)).readInt32BE()
    if (head.length === 5 && length > 4) return
    onMessage(head[0] ?? 0, head[5] ?? 0)
    rest = length - (head.length - 1)
    head.length = 0
  }
  return {
    scan(chunk) {
      for (let at = 0; at < chunk.length; ) {
        const skipped = Math.min(rest, chunk.length - at)
        at += skipped
        rest -= skipped
        if (rest === 0 && at < chunk.length) begin(chunk[at++] ?? 0)
      }
    },
    isBetween: () => rest === 0 && head.length === 0,
  }
}

type Session = {
  readonly server: Socket
  /** What the server sent before the first query, from the success of authentication on. */
  greeting: Buffer
  /** Number of sent queries and syncs without a response. */
  awaited: number
  status: number
  /** Receives what the server sends. */
  onData: (chunk: Buffer) => void
  /** Runs once when no response is awaited any more. */
  onReady: (() => void) | undefined
  onDrain: () => void
  onClose: () => void
}

/** Idle sessions by start-up message: user, database, settings. */
const idleSessions = new Map<string, Session[]>()

function openSession(server: Socket): Session {
  const session: Session = {
    server,
    greeting: Buffer.alloc(0),
    awaited: 1,
    status: 0,
    onData: () => undefined,
    onReady: undefined,
    onDrain: () => undefined,
    onClose: () => undefined,
  }
  const { scan } = scanner((type, first) => {
    if (type !== readyForQuery) return
    session.awaited--
    session.status = first
  })
  server.on('data', (chunk: Buffer) => {
    scan(chunk)
    session.onData(chunk)
    if (session.awaited > 0) return
    const ready = session.onReady
    session.onReady = undefined
    ready?.()
  })
  server.on('error', () => undefined)
  server.on('drain', () => session.onDrain())
  server.on('close', () => session.onClose())
  return session
}

/** Sends messages and resolves after `times` responses, which are dropped. */
function exchange(session: Session, message: Buffer, times: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  session.awaited += times
  session.onData = () => undefined
  session.onReady = resolve
  session.server.write(message)
  return promise
}

async function rest(key: string, session: Session): Promise<void> {
  const waiting = idleSessions.get(key) ?? []
  idleSessions.set(key, waiting)
  session.server.resume()
  session.onClose = () => {
    const at = waiting.indexOf(session)
    if (at >= 0) waiting.splice(at, 1)
  }
  await exchange(session, resetMessage, 2)
  if (session.status === idleStatus && !session.server.destroyed) waiting.push(session)
  else session.server.destroy()
}

/** Connects a client with a session. */
function connectClient(key: string, client: Socket, session: Session): void {
  const { server } = session
  let isTerminated = false
  let hasLeft = false
  const { scan, isBetween } = scanner((type) => {
    if (type === sync || type === query) session.awaited++
    else if (type === terminate) isTerminated = true
  })
  function leave(): void {
    if (hasLeft) return
    hasLeft = true
    client.destroy()
    // The server ends a session with a running or incomplete statement, as it does without a pooler.
    if (session.awaited === 0 && session.status === idleStatus && isBetween() && !server.destroyed) void rest(key, session)
    else server.destroy()
  }
  session.onData = (chunk) => {
    if (!client.write(chunk)) server.pause()
  }
  session.onClose = () => client.destroy()
  client.on('drain', () => server.resume())
  session.onDrain = () => client.resume()
  client.on('data', (chunk: Buffer) => {
    scan(chunk)
    const said = isTerminated ? chunk.subarray(0, chunk.length - 5) : chunk
    if (said.length > 0 && !server.write(said)) client.pause()
    if (isTerminated) leave()
  })
  client.on('end', leave)
  client.on('error', leave)
  client.on('close', leave)
}

/** Forwards a connection without pooling, such as one that requests encryption or a cancellation. */
function forwardUnpooled(client: Socket, server: Socket, said: Buffer): void {
  server.write(said)
  client.pipe(server)
  server.pipe(client)
  client.on('close', () => server.destroy())
  server.on('close', () => client.destroy())
  for (const socket of [client, server]) socket.on('error', () => undefined)
}

function connectToServer(host: string, port: number): Socket {
  return connect({ host, port, noDelay: true })
}

async function acceptClient(client: Socket, said: Buffer, host: string, port: number): Promise<void> {
  if (said.readInt32BE(4) !== plainStart) return forwardUnpooled(client, connectToServer(host, port), said)
  const key = said.toString('latin1')
  for (let idleSession = idleSessions.get(key)?.pop(); idleSession; idleSession = idleSessions.get(key)?.pop()) {
    // The server may have closed the session. In that case the socket closes before a response.
    const { promise: lost, resolve } = Promise.withResolvers<void>()
    idleSession.onClose = resolve
    await Promise.race([exchange(idleSession, wakeMessage, 1), lost])
    if (idleSession.server.destroyed) continue
    if (client.destroyed) return rest(key, idleSession)
    client.write(idleSession.greeting)
    return connectClient(key, client, idleSession)
  }
  const session = openSession(connectToServer(host, port))
  connectClient(key, client, session)
  const greetingChunks: Buffer[] = []
  const forwardToClient = session.onData
  session.onData = (chunk) => {
    greetingChunks.push(chunk)
    forwardToClient(chunk)
  }
  session.onReady = () => {
    const all = Buffer.concat(greetingChunks)
    // The next client needs no authentication.
    session.greeting = all.subarray(all.lastIndexOf(Buffer.from([authentication ?? 0, 0, 0, 0, 8, 0, 0, 0, 0])))
    session.onData = forwardToClient
  }
  session.server.write(said)
}

if (import.meta.main) {
  const { hostname, port } = new URL(Bun.env['TEST_DATABASE_URL'] ?? '')
  const pooler = createServer({ noDelay: true }, (client) => {
    client.on('error', () => undefined)
    let said = Buffer.alloc(0)
    client.on('data', function first(chunk: Buffer) {
      said = Buffer.concat([said, chunk])
      if (said.length < 8 || said.length < said.readInt32BE(0)) return
      client.off('data', first)
      void acceptClient(client, said, hostname, Number(port || 5432))
    })
  })
  pooler.listen(0, '127.0.0.1', () => process.stdout.write(`${(pooler.address() as { port: number }).port}\n`))
  process.stdin.on('end', () => process.exit(0)).resume()
}
