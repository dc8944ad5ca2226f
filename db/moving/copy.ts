/** COPY over a connection of the pg driver. */
import type pg from 'pg'

/** Methods that the driver's types hide; its version is pinned. */
type Connection = { query(text: string): void; sendCopyFromChunk(chunk: Uint8Array): void; endCopyFrom(): void }

/** Callbacks of the driver. */
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
      // An exception here would reach the driver, and the caller would get no result.
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
 * Sends lines to a table.
 * @param data lines with line ends
 * @param onSent called when they are sent; may prepare the next ones
 * @throws errors of `onSent`
 */
export const copyIn = (client: pg.Client, table: string, columns: readonly string[], data: Uint8Array, onSent: () => void): Promise<void> =>
  run(client, new CopyIn(`COPY ${listOf(table, columns)} FROM STDIN`, data, onSent))

/** Reads all lines of a table without line ends. */
export const copyOut = (client: pg.Client, table: string, columns: readonly string[], onLine: (line: Uint8Array) => void): Promise<void> =>
  run(client, new CopyOut(`COPY ${listOf(table, columns)} TO STDOUT`, onLine))
