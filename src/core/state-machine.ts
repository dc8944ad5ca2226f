import { and, type Column, eq, inArray, type SQL, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Writer } from '../../db/engine.ts'
import { sureChangeOf, updateOf } from '../../db/prepared.ts'
import { withoutUndefined } from '../lib/objects.ts'
import type { SourceOf, StateOf, Transitions } from '../lib/transitions.ts'

type Stateful = SQLiteTable & { readonly id: Column; readonly status: Column }
/** Columns that a transition may set besides the state. */
type Fields<Table extends SQLiteTable> = Partial<Omit<Table['$inferSelect'], 'id' | 'status'>>

/**
 * Selects a row: by id, or as the row itself if this write has locked it. Then the result is known without waiting, and
 * the write throws NothingChanged if its state differs.
 */
type Which<Table extends SQLiteTable> = string | Table['$inferSelect']

type StateMachine<Table extends Stateful, States extends Transitions> = {
  /**
   * Moves a row from one of the states `from` to `to`. Transitions that the table does not allow do not compile.
   * @returns the changed row; undefined if its state is not in `from`
   */
  move<To extends StateOf<States>>(
    tx: Writer,
    which: Which<Table>,
    from: readonly SourceOf<States, To>[],
    to: To,
    fields: Fields<Table>,
    /** Values of the guard's placeholders. */
    values?: Record<string, unknown>,
  ): Promise<Table['$inferSelect'] | undefined>
  /** Makes two transitions in one update. The state `over` is never visible. */
  moveThrough<Over extends StateOf<States>, To extends StateOf<States>>(
    tx: Writer,
    which: Which<Table>,
    from: readonly SourceOf<States, Over>[],
    over: Over & SourceOf<States, To>,
    to: To,
    fields: Fields<Table>,
  ): Promise<Table['$inferSelect'] | undefined>
  /** Updates a row without a transition. Returns undefined if its state is not in `within`. */
  change(
    tx: Writer,
    which: Which<Table>,
    within: readonly StateOf<States>[],
    fields: Fields<Table>,
  ): Promise<Table['$inferSelect'] | undefined>
}

type StateMachineOptions<Table extends SQLiteTable> = {
  /** Called inside the write with each changed row. */
  onChange?: (tx: Writer, row: Table['$inferSelect']) => void
  /** Also called inside the write with each row whose state changed. */
  onMove?: (tx: Writer, row: Table['$inferSelect']) => void
  /** A further condition of every update. Its placeholders must not be named like columns. */
  guard?: SQL | undefined
}

/** Creates transitions and updates of a table whose `status` follows a transition table. */
export function createStateMachine<Table extends Stateful, States extends Transitions>(
  table: Table,
  _transitions: States,
  { onChange, onMove, guard }: StateMachineOptions<Table> = {},
): StateMachine<Table, States> {
  const built = new Map<string, ReturnType<typeof build>>()
  const build = (states: readonly string[]) => {
    const where = and(eq(table.id, sql.placeholder('which')), inArray(table.status, [...states]), guard)
    return {
      update: updateOf<SQLiteTable>(table, where),
      change: sureChangeOf<SQLiteTable>(table, where),
    }
  }

  /** Prepared once per set of source states. */
  async function update(tx: Writer, which: Which<Table>, states: readonly string[], fields: Record<string, unknown>, values: object = {}) {
    const { update, change } = built.getOrInsertComputed(states.join(), () => build(states))
    if (typeof which !== 'string') {
      if (!states.includes(which['status'] as string)) return undefined
      await change(tx, changedFields(which, fields), { ...values, which: which['id'] })
      const row = { ...which, ...withoutUndefined(fields) }
      onChange?.(tx, row)
      return row
    }
    const [row] = await update(tx, fields, { ...values, which })
    if (!row) return undefined
    onChange?.(tx, row)
    return row
  }

  async function moveTo(tx: Writer, which: Which<Table>, from: readonly string[], fields: Record<string, unknown>, values?: object) {
    const row = await update(tx, which, from, fields, values)
    if (row) onMove?.(tx, row)
    return row
  }

  return {
    move: (tx, which, from, to, fields, values) => moveTo(tx, which, from, { ...fields, status: to }, values),
    moveThrough: (tx, which, from, _over, to, fields) => moveTo(tx, which, from, { ...fields, status: to }),
    change: (tx, which, within, fields) => update(tx, which, within, fields),
  }
}

/**
 * Removes fields that do not change, because an update rewrites every index entry of a set column. Keeps all if none
 * changes, because an update must set something.
 */
function changedFields(row: Record<string, unknown>, fields: Record<string, unknown>): Record<string, unknown> {
  const change: Record<string, unknown> = {}
  let hasChanged = false
  for (const name of Object.keys(fields)) {
    const value = fields[name]
    if (value === undefined || value === row[name]) continue
    change[name] = value
    hasChanged = true
  }
  return hasChanged ? change : fields
}
