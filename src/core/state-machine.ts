import { and, type Column, eq, inArray, type SQL, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Writer } from '../../db/engine.ts'
import { sureChangeOf, updateOf } from '../../db/prepared.ts'
import { defined } from '../lib/objects.ts'
import type { SourceOf, StateOf, Transitions } from '../lib/transitions.ts'

type Stateful = SQLiteTable & { readonly id: Column; readonly status: Column }
/** What of a row may be set besides its state. */
type Fields<Table extends SQLiteTable> = Partial<Omit<Table['$inferSelect'], 'id' | 'status'>>

/**
 * A row by its id; or as it stands, locked by this write: then what it is after the change is known, and nobody waits for the change. Were it
 * not as it was said to be, the write throws NothingChanged. `asKnown`: not locked before, and so the change asks of all that may be another
 * of it whether it still is as it is said to be.
 */
type Which<Table extends SQLiteTable> = string | Table['$inferSelect'] | AsKnown<Table>
type AsKnown<Table extends SQLiteTable> = { readonly asKnown: Table['$inferSelect'] }

export type Moves<Table extends Stateful, States extends Transitions> = {
  /**
   * Moves a row on from one of the states `from`, as its table of transitions allows: another move does not compile.
   * @returns the row after it; undefined when it is in none of them, and then nothing has changed
   */
  move<To extends StateOf<States>>(
    tx: Writer,
    which: Which<Table>,
    from: readonly SourceOf<States, To>[],
    to: To,
    fields: Fields<Table>,
    /** For the placeholders of the guard. */
    values?: Record<string, unknown>,
  ): Promise<Table['$inferSelect'] | undefined>
  /** Moves a row on by two steps at once, of which nobody sees the first. As `move` otherwise. */
  moveThrough<Over extends StateOf<States>, To extends StateOf<States>>(
    tx: Writer,
    which: Which<Table>,
    from: readonly SourceOf<States, Over>[],
    over: Over & SourceOf<States, To>,
    to: To,
    fields: Fields<Table>,
  ): Promise<Table['$inferSelect'] | undefined>
  /** Changes a row that is in one of the states `within`, and leaves it there. Undefined when it is in none of them. */
  change(
    tx: Writer,
    which: Which<Table>,
    within: readonly StateOf<States>[],
    fields: Fields<Table>,
  ): Promise<Table['$inferSelect'] | undefined>
}

type MoveOptions<Table extends SQLiteTable> = {
  /** Called inside the write with every row that has changed. */
  changed?: (tx: Writer, row: Table['$inferSelect']) => void
  /** Called inside the write with every row that has moved on, besides. */
  moved?: (tx: Writer, row: Table['$inferSelect']) => void
  /** What must hold of a row besides its state; its placeholders are named otherwise than the columns. */
  guard?: SQL | undefined
  /** What of a row may be another once somebody else has had it: needed for `asKnown`. */
  known?: readonly (keyof Table['$inferSelect'] & string)[]
}

/** Moves and changes the rows of a table whose `status` follows a table of transitions. */
export function movesOf<Table extends Stateful, States extends Transitions>(
  table: Table,
  _transitions: States,
  { changed, moved, guard, known = [] }: MoveOptions<Table> = {},
): Moves<Table, States> {
  const built = new Map<string, ReturnType<typeof build>>()
  const build = (states: readonly string[]) => {
    const where = and(eq(table.id, sql.placeholder('which')), inArray(table.status, [...states]), guard)
    return {
      update: updateOf<SQLiteTable>(table, where),
      change: sureChangeOf<SQLiteTable>(table, where),
      changeAsKnown: sureChangeOf<SQLiteTable>(table, and(where, ...known.map(isAsBefore))),
    }
  }
  const isAsBefore = (name: string) =>
    sql`${(table as unknown as Record<string, Column>)[name]} is not distinct from ${sql.placeholder(before(name))}`

  /** Built once for each set of states that something starts from. */
  async function update(tx: Writer, which: Which<Table>, states: readonly string[], fields: Record<string, unknown>, values: object = {}) {
    const { update, change, changeAsKnown } = built.getOrInsertComputed(states.join(), () => build(states))
    if (typeof which !== 'string') {
      const isLocked = !isAsKnown(which)
      const found = isLocked ? which : which.asKnown
      if (!states.includes(found['status'] as string)) return undefined
      const named: Record<string, unknown> = { ...values, which: found['id'] }
      if (!isLocked) for (const name of known) named[before(name)] = found[name]
      await (isLocked ? change : changeAsKnown)(tx, anotherThan(found, fields), named)
      const row = { ...found, ...defined(fields) }
      changed?.(tx, row)
      return row
    }
    const [row] = await update(tx, fields, { ...values, which })
    if (!row) return undefined
    changed?.(tx, row)
    return row
  }

  async function moveTo(tx: Writer, which: Which<Table>, from: readonly string[], fields: Record<string, unknown>, values?: object) {
    const row = await update(tx, which, from, fields, values)
    if (row) moved?.(tx, row)
    return row
  }

  return {
    move: (tx, which, from, to, fields, values) => moveTo(tx, which, from, { ...fields, status: to }, values),
    moveThrough: (tx, which, from, _over, to, fields) => moveTo(tx, which, from, { ...fields, status: to }),
    change: (tx, which, within, fields) => update(tx, which, within, fields),
  }
}

const isAsKnown = <Table extends SQLiteTable>(which: Table['$inferSelect'] | AsKnown<Table>): which is AsKnown<Table> => 'asKnown' in which
const before = (name: string): string => `${name} before`

/**
 * Of what is to be set only what a row does not have already: an update rewrites the entries of every index that holds a column of it.
 * All of it where nothing is another, since something has to be set.
 */
function anotherThan(row: Record<string, unknown>, fields: Record<string, unknown>): Record<string, unknown> {
  const change: Record<string, unknown> = {}
  let isAnother = false
  for (const name of Object.keys(fields)) {
    const value = fields[name]
    if (value === undefined || value === row[name]) continue
    change[name] = value
    isAnother = true
  }
  return isAnother ? change : fields
}
