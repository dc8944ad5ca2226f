/**
 * Statements on a connection, in the fewest bytes, calls of the system and objects: the driver connects, and from then
 * on this speaks. What is sent before the event loop goes on leaves in one piece with one point of synchronisation
 * (`Sync`) at its end, and so the server answers in one piece. Up to that point it refuses all that comes behind a
 * statement which failed.
 */
import type { Socket } from 'node:net'
import pg from 'pg'
import { takesNoWrites } from './errors.ts'
import { Outgoing } from './outgoing.ts'
import { type Bytes, int32At, type Shape, shapeOf, type Types } from './rows.ts'

export type QueryResult = {
  rows: unknown[]
  /** The first word of what was done: `COMMIT`, `UPDATE`. */
  command: string
}

export type Statement = {
  readonly text: string
  /** Under which the connection keeps it: one text has one name, everywhere. */
  readonly name?: string | undefined
  readonly values: readonly unknown[]
  readonly rowMode?: string | undefined
  readonly types?: Types | undefined
}

/** Statements that have a failure in common: each of them fails of what the first one has failed of. */
export type FailureScope = { failed: { readonly error: unknown } | undefined }

export type Wire = {
  /** Runs a statement behind whatever was sent before. */
  run(statement: Statement, within?: FailureScope): Promise<QueryResult>
  /**
   * Begins a transaction.
   * @param isPlain whether it is of the connection's own kind: then BEGIN and COMMIT are left away where both would
   *   leave in one piece, since what is sent up to a point of synchronisation is a transaction by itself
   */
  begin(mode: string, isPlain: boolean, within?: FailureScope): Promise<unknown>
  commit(): Promise<QueryResult>
  /** Runs a text without values, of one statement or several, whatever became of what was sent before. */
  runApart(text: string, within?: FailureScope): Promise<QueryResult>
  /** Nobody may have the connection next. */
  isLost(): boolean
}

/** A statement that was sent. */
type Sent = {
  readonly name: string | undefined
  /** Sent to be parsed, and kept under its name: not done yet. */
  isToBeParsed: boolean
  shape: Shape | undefined
  readonly isList: boolean
  readonly types: Types | undefined
  readonly rows: unknown[]
  command: string
  /** What a row could not be read for. */
  unread: { error: unknown } | undefined
  isSettled: boolean
  /** The end of a transaction that has not been spelt out: it is answered by the point of synchronisation. */
  readonly isEnd?: true
  readonly within: FailureScope | undefined
  readonly resolve: (answer: QueryResult) => void
  readonly reject: (error: unknown) => void
}
/**
 * What was sent up to a point of synchronisation: the statement that is being answered is at `at`. A text may be of
 * several statements.
 */
type Batch = {
  readonly sent: Sent[]
  at: number
  sentAt: number
  readonly isText?: true
  /** Where in what goes out its transaction is begun, if it begins with one. */
  begun?: { readonly from: number; readonly to: number }
}

/** What is used of the driver's classes is no part of their types: its version is pinned. */
type Client = pg.ClientBase & { connection: { stream: Socket; emit(event: 'error', error: unknown): void } }

/** Of each statement, by its name. The types are the server's own, so that every connection describes it alike. */
const shapes = new Map<string, Shape>()

/**
 * Takes over a connection that is at rest: the driver's own queries no longer work on it.
 * @param answerMs for how long the server may leave a batch unanswered, milliseconds; the connection ends then. 0: for
 *   as long as it likes.
 */
export function wireOn(client: pg.ClientBase, answerMs: number): Wire {
  const { connection } = client as Client
  const { stream } = connection
  const outgoing = new Outgoing()
  const known = new Set<string>()
  /** Sent, and not answered in full. */
  const batches: Batch[] = []
  /** What may still grow. */
  let open: Batch | undefined
  let isAwaitingTurn = false
  let lost: { error: unknown } | undefined
  /** The server takes writes no longer: what is under way is answered, and nobody has the connection next. */
  let isReadOnly = false
  let watch: ReturnType<typeof setTimeout> | undefined
  let rest: Bytes | undefined

  function sendInTurn(): void {
    if (isAwaitingTurn) return
    isAwaitingTurn = true
    process.nextTick(() => {
      isAwaitingTurn = false
      close()
      if (!lost) stream.write(outgoing.taken())
    })
  }

  /** Ends what could grow. */
  function close(): void {
    if (!open) return
    outgoing.sync()
    expect(open)
    open = undefined
  }

  function expect(batch: Batch): void {
    batch.sentAt = performance.now()
    batches.push(batch)
    if (answerMs > 0) watch ??= setTimeout(look, answerMs).unref()
  }

  /** Runs when something may have been under way for too long. */
  function look(): void {
    watch = undefined
    const [oldest] = batches
    if (!oldest) return
    const leftMs = oldest.sentAt + answerMs - performance.now()
    if (leftMs > 0) {
      watch = setTimeout(look, leftMs).unref()
      return
    }
    lose(new Error('Query read timeout'))
    stream.destroy()
  }

  function lose(error: unknown): void {
    if (lost) return
    lost = { error }
    clearTimeout(watch)
    for (const { sent } of open ? [...batches, open] : batches) for (const one of sent) fail(one, error)
    batches.length = 0
    open = undefined
  }

  function fail(one: Sent, error: unknown): void {
    if (one.isSettled) return
    one.isSettled = true
    if (one.isToBeParsed && one.name !== undefined) known.delete(one.name)
    refuse(one, error)
  }

  stream.removeAllListeners('data')
  stream.on('data', (chunk: Bytes) => {
    try {
      receive(chunk)
    } catch (error) {
      connection.emit('error', error)
      stream.destroy()
    }
  })
  client.on('error', lose)
  client.on('end', () => lose(new Error('Connection terminated unexpectedly')))

  function receive(chunk: Bytes): void {
    const bytes = rest ? (Buffer.concat([rest, chunk]) as Bytes) : chunk
    rest = undefined
    let at = 0
    while (at + 5 <= bytes.length) {
      const end = at + 1 + int32At(bytes, at + 1)
      if (end > bytes.length) break
      take(bytes, bytes[at] as number, at + 5, end)
      at = end
    }
    if (at < bytes.length) rest = at === 0 ? bytes : (bytes.subarray(at) as Bytes)
  }

  /** Takes a message: `from` its first byte behind the length, to `end`. */
  function take(bytes: Bytes, type: number, from: number, end: number): void {
    const batch = batches[0]
    const one = batch?.sent[batch.at]
    switch (type) {
      case 0x31: // ParseComplete
        if (one) one.isToBeParsed = false
        return
      case 0x44: // DataRow
        if (!one?.shape) throw new Error('the server sent a row that nobody asked for')
        if (one.unread) return
        try {
          one.rows.push(one.isList ? one.shape.list(bytes, from) : one.shape.row(bytes, from))
        } catch (error) {
          one.unread = { error }
        }
        return
      case 0x54: // RowDescription
        if (!one) throw new Error('the server described what nobody asked for')
        one.shape = shapeOf(bytes, from, one.types)
        return
      case 0x43: // CommandComplete
        if (!batch || !one) throw new Error('the server completed what nobody asked for')
        one.command = bytes.latin1Slice(from, wordEnd(bytes, from))
        if (!batch.isText) complete(batch, one)
        return
      case 0x49: // EmptyQueryResponse
        if (batch && one && !batch.isText) complete(batch, one)
        return
      case 0x45: // ErrorResponse
        {
          const error = errorIn(bytes, from, end)
          isReadOnly ||= takesNoWrites(error)
          passOver(batch, error)
        }
        return
      case 0x5a: // ReadyForQuery
        if (!batch) return
        batches.shift()
        if (one?.isEnd) one.command = 'COMMIT'
        if (one && (batch.isText || one.isEnd)) settle(one)
        return
    }
  }

  function complete(batch: Batch, one: Sent): void {
    batch.at++
    if (one.name !== undefined && !shapes.has(one.name)) {
      // What gives no rows is described by nothing.
      one.shape ??= shapeOf()
      shapes.set(one.name, one.shape)
    }
    settle(one)
  }

  function settle(one: Sent): void {
    if (one.isSettled) return
    one.isSettled = true
    if (one.unread) refuse(one, one.unread.error)
    else one.resolve({ rows: one.rows, command: one.command })
  }

  /** The server passes over what comes behind, up to the end of the batch. */
  function passOver(batch: Batch | undefined, error: unknown): void {
    if (!batch) {
      connection.emit('error', error)
      return
    }
    for (; batch.at < batch.sent.length; batch.at++) fail(batch.sent[batch.at] as Sent, error)
  }

  const gone = () => new Error('Client has encountered a connection error and is not queryable', { cause: lost?.error })

  const run: Wire['run'] = (statement, within) =>
    new Promise((resolve, reject) => {
      if (lost) return refuse({ within, reject }, gone())
      const { name, text, values } = statement
      const isToBeParsed = name === undefined || !known.has(name)
      const shape = name === undefined ? undefined : shapes.get(name)
      const before = outgoing.length
      try {
        if (isToBeParsed) outgoing.parse(name, text)
        outgoing.bind(name, values)
      } catch (error) {
        outgoing.cutBackTo(before)
        return refuse({ within, reject }, error)
      }
      if (!shape) outgoing.describe()
      outgoing.execute()
      if (name !== undefined) known.add(name)
      open ??= { sent: [], at: 0, sentAt: 0 }
      open.sent.push(sentOf(statement, { within, resolve, reject }, isToBeParsed, shape))
      sendInTurn()
    })

  return {
    run,
    begin(mode, isPlain, within) {
      const text = `BEGIN ${mode}`
      const from = isPlain && !open ? outgoing.length : undefined
      const begun = run({ text, name: text, values: [] }, within)
      if (open && from !== undefined) open.begun = { from, to: outgoing.length }
      return begun
    },
    commit() {
      const begun = open?.begun
      if (!open || !begun) return run({ text: 'COMMIT', name: 'COMMIT', values: [] })
      const batch = open
      outgoing.cutOut(begun.from, begun.to)
      const [begin] = batch.sent.splice(0, 1)
      if (begin?.isToBeParsed && begin.name !== undefined) known.delete(begin.name)
      if (begin) settle(begin)
      return new Promise((resolve, reject) => {
        batch.sent.push({ ...sentOf({ text: '', values: [] }, { within: undefined, resolve, reject }), isEnd: true })
        close()
        sendInTurn()
      })
    },

    runApart: (text, within) =>
      new Promise((resolve, reject) => {
        if (lost) return refuse({ within, reject }, gone())
        close()
        outgoing.query(text)
        expect({ sent: [sentOf({ text, values: [] }, { within, resolve, reject })], at: 0, sentAt: 0, isText: true })
        sendInTurn()
      }),

    isLost: () => lost !== undefined || isReadOnly,
  }
}

function refuse({ within, reject }: Pick<Sent, 'within' | 'reject'>, error: unknown): void {
  if (within) within.failed ??= { error }
  reject(within?.failed ? within.failed.error : error)
}

/** Where the word ends that begins at `from`: at a space or the end of the text. */
function wordEnd(bytes: Bytes, from: number): number {
  let at = from
  while ((bytes[at] as number) > 0x20) at++
  return at
}

type Settling = Pick<Sent, 'within' | 'resolve' | 'reject'>
const sentOf = (statement: Statement, { within, resolve, reject }: Settling, isToBeParsed = false, shape?: Shape): Sent => ({
  name: statement.name,
  isToBeParsed,
  shape,
  isList: statement.rowMode === 'array',
  types: statement.types,
  rows: [],
  command: '',
  unread: undefined,
  isSettled: false,
  within,
  resolve,
  reject,
})

/** What of an error each letter of the protocol says. */
const fields: Readonly<Record<string, string>> = {
  S: 'severity',
  C: 'code',
  D: 'detail',
  H: 'hint',
  P: 'position',
  p: 'internalPosition',
  q: 'internalQuery',
  W: 'where',
  s: 'schema',
  t: 'table',
  c: 'column',
  d: 'dataType',
  n: 'constraint',
  F: 'file',
  L: 'line',
  R: 'routine',
}

function errorIn(bytes: Bytes, from: number, end: number): pg.DatabaseError {
  const said: Record<string, string> = {}
  for (let at = from; at < end && bytes[at] !== 0; ) {
    const close = bytes.indexOf(0, at + 1)
    said[String.fromCharCode(bytes[at] as number)] = bytes.utf8Slice(at + 1, close)
    at = close + 1
  }
  const error = new pg.DatabaseError(said['M'] ?? 'the server refused', end - from, 'error')
  for (const [letter, name] of Object.entries(fields)) if (said[letter] !== undefined) Object.assign(error, { [name]: said[letter] })
  return error
}
