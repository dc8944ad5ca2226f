import { and, type Column, eq, inArray, type SQL, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Writer } from '../../db/engine.ts'
import { updateOf } from '../../db/prepared.ts'
import type { SourceOf, StateOf, Transitions } from '../lib/transitions.ts'

type Stateful = SQLiteTable & { readonly id: Column; readonly status: Column }
/** What of a row may be set besides its state. */
type Fields<Table extends SQLiteTable> = Partial<Omit<Table['$inferSelect'], 'id' | 'status'>>

export type Moves<Table extends Stateful, States extends Transitions> = {
  /**
   * Moves a row on from one of the states `from`, as its table of transitions allows: another move does not compile.
   * @returns the row after it; undefined when it is in none of them, and then nothing has changed
   */
  move<To extends StateOf<States>>(
    tx: Writer,
    id: string,
    from: readonly SourceOf<States, To>[],
    to: To,
    fields: Fields<Table>,
    /** For the placeholders of the guard. */
    values?: Record<string, unknown>,
  ): Promise<Table['$inferSelect'] | undefined>
  /** Moves a row on by two steps at once, of which nobody sees the first. As `move` otherwise. */
  moveThrough<Over extends StateOf<States>, To extends StateOf<States>>(
    tx: Writer,
    id: string,
    from: readonly SourceOf<States, Over>[],
    over: Over & SourceOf<States, To>,
    to: To,
    fields: Fields<Table>,
  ): Promise<Table['$inferSelect'] | undefined>
  /** Changes a row that is in one of the states `within`, and leaves it there. Undefined when it is in none of them. */
  change(tx: Writer, id: string, within: readonly StateOf<States>[], fields: Fields<Table>): Promise<Table['$inferSelect'] | undefined>
}

type MoveOptions<Table extends SQLiteTable> = {
  /** Called inside the write with every row that has changed. */
  changed?: (tx: Writer, row: Table['$inferSelect']) => void
  /** What must hold of a row besides its state; its placeholders are named otherwise than the columns. */
  guard?: SQL | undefined
}

/** Moves and changes the rows of a table whose `status` follows a table of transitions. */
export function movesOf<Table extends Stateful, States extends Transitions>(
  table: Table,
  _transitions: States,
  { changed, guard }: MoveOptions<Table> = {},
): Moves<Table, States> {
  const updates = new Map<string, ReturnType<typeof updateFrom>>()
  const updateFrom = (states: readonly string[]) =>
    updateOf<SQLiteTable>(table, and(eq(table.id, sql.placeholder('which')), inArray(table.status, [...states]), guard))

  /** Built once for each set of states that something starts from. */
  async function update(tx: Writer, id: string, states: readonly string[], fields: object, values: object = {}) {
    const known = updates.getOrInsertComputed(states.join(), () => updateFrom(states))
    const [row] = await known(tx, fields, { ...values, which: id })
    if (row) changed?.(tx, row)
    return row
  }

  return {
    move: (tx, id, from, to, fields, values) => update(tx, id, from, { ...fields, status: to }, values),
    moveThrough: (tx, id, from, _over, to, fields) => update(tx, id, from, { ...fields, status: to }),
    change: (tx, id, within, fields) => update(tx, id, within, fields),
  }
}
