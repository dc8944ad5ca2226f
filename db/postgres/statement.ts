/** Prepared statements, run as the driver runs them, but for what it does anew each time. */
import pg from 'pg'

type Connection = { describe(what: unknown): void }
type Row = Record<string, unknown>
/** How a row is made of what the server sends. */
type Shape = readonly { readonly name: string; readonly parse: (text: string) => unknown }[]
type Settled = (error: Error | null, result?: { rows: Row[] }) => void

// What is used of the driver's class is no part of its types: its version is pinned, and test/db/postgres-statement.test.ts holds the rest.
const Query = pg.Query as unknown as new (
  text: string,
  values: readonly unknown[],
  settled: Settled,
) => { name: string; callback: Settled; prepare(connection: Connection): void; handleError(error: Error, connection: Connection): void }

/** Of each statement, by the name that is made of its text. The types are the server's own, so that every connection describes it alike. */
const shapes = new Map<string, Shape>()
/** Connections that leave a description out. */
const undescribed = new WeakMap<Connection, Connection>()
const withoutDescribing = (connection: Connection) =>
  undescribed.getOrInsertComputed(connection, () => Object.create(connection, { describe: { value: () => undefined } }))

/** A statement that the server describes once, and not every time: of a wide row that costs more than the row itself. */
class PreparedStatement extends Query {
  private readonly made: Row[] = []
  private shape: Shape | undefined
  private failed: Error | undefined

  constructor(name: string, text: string, values: readonly unknown[], settled: Settled) {
    super(text, values, settled)
    this.name = name
    this.shape = shapes.get(name)
  }

  override prepare(connection: Connection): void {
    super.prepare(this.shape ? withoutDescribing(connection) : connection)
  }

  handleRowDescription({ fields }: { fields: readonly { name: string; dataTypeID: number }[] }): void {
    this.shape = fields.map(({ name, dataTypeID }) => ({ name, parse: pg.types.getTypeParser(dataTypeID, 'text') }))
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    const row: Row = {}
    try {
      this.shape?.forEach(({ name, parse }, at) => {
        const text = fields[at] ?? null
        row[name] = text === null ? null : parse(text)
      })
      this.made.push(row)
    } catch (error) {
      this.failed = error as Error
    }
  }

  handleCommandComplete(): void {
    // What gives no rows is described by nothing.
    if (!shapes.has(this.name)) shapes.set(this.name, this.shape ?? [])
  }

  handleReadyForQuery(connection: Connection): void {
    if (this.failed) this.handleError(this.failed, connection)
    else this.callback(null, { rows: this.made })
  }
}

/** Runs a statement under its name, behind whatever was sent before it. */
export function runPrepared(client: pg.ClientBase, name: string, text: string, values: readonly unknown[]): Promise<pg.QueryResult> {
  const { promise, resolve, reject } = Promise.withResolvers<pg.QueryResult>()
  const statement = new PreparedStatement(name, text, values, (error, result) =>
    error ? reject(error) : resolve(result as pg.QueryResult),
  )
  client.query(statement as unknown as pg.Submittable)
  return promise
}
