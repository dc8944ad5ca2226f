/** COPY on a connection of the driver, which knows its messages and leaves what is done with them to us. */
import type pg from 'pg'

/** What is used of the driver's classes is no part of their types: its version is pinned. */
type Connection = { query(text: string): void; sendCopyFromChunk(chunk: Uint8Array): void; endCopyFrom(): void }

/** What the driver tells whoever has the connection. */
abstract class Copying {
  readonly done: Promise<void>
  readonly #settle: PromiseWithResolvers<void>
  constructor(private readonly text: string) {
    this.#settle = Promise.withResolvers<void>()
    this.done = this.#settle.promise
  }
  submit(connection: Connection): void {
    connection.query(this.text)
  }
  handleError(error: unknown): void {
    this.#settle.reject(error)
  }
  handleReadyForQuery(): void {
    this.#settle.resolve()
  }
  handleRowDescription(): void {}
  handleCommandComplete(): void {}
  handleCopyInResponse(_connection: Connection): void {}
  handleCopyData(_message: { chunk: Uint8Array }): void {}
}

class CopyIn extends Copying {
  constructor(
    text: string,
    private readonly data: Uint8Array,
    private readonly onSent: () => void,
  ) {
    super(text)
  }
  override handleCopyInResponse(connection: Connection): void {
    connection.sendCopyFromChunk(this.data)
    connection.endCopyFrom()
    try {
      this.onSent()
    } catch (error) {
      // Thrown on it would be the driver's, and nobody would ever be answered.
      this.handleError(error)
    }
  }
}

class CopyOut extends Copying {
  constructor(
    text: string,
    private readonly onLine: (line: Uint8Array) => void,
  ) {
    super(text)
  }
  override handleCopyData({ chunk }: { chunk: Uint8Array }): void {
    this.onLine(chunk.subarray(0, -1))
  }
}

const run = (client: pg.Client, copying: Copying): Promise<void> => {
  client.query(copying as unknown as pg.Submittable)
  return copying.done
}

const listOf = (table: string, columns: readonly string[]) => `"${table}" (${columns.map((name) => `"${name}"`).join(', ')})`

/**
 * Puts lines into a table.
 * @param data lines, each with its end
 * @param onSent called once they are under way: what can be done meanwhile
 * @throws what `onSent` does
 */
export const copyIn = (client: pg.Client, table: string, columns: readonly string[], data: Uint8Array, onSent: () => void): Promise<void> =>
  run(client, new CopyIn(`COPY ${listOf(table, columns)} FROM STDIN`, data, onSent))

/** Reads all lines of a table, without their ends. */
export const copyOut = (client: pg.Client, table: string, columns: readonly string[], onLine: (line: Uint8Array) => void): Promise<void> =>
  run(client, new CopyOut(`COPY ${listOf(table, columns)} TO STDOUT`, onLine))
