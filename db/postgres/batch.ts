/**
 * Merges the writes of several callers into one transaction. Their statements are recorded first and then sent
 * together: locks in one order, and inserts with one statement per table.
 */
import type { Compiled, Prepared, Values, Writer } from '../engine.ts'
import { lockRankOf } from '../schema/lock-order.ts'
import { assertOpen, asWork, newWork, type Work } from '../write-work.ts'
import type { Statement } from './pool.ts'

type RecordedStatement = { readonly compiled: Compiled<unknown>; readonly values: Values }
/** The position of a statement in the lock order: after the last row that its work locked. */
type LockPosition = { readonly rank: number; readonly row: string }
type OrderedStatement = RecordedStatement & { readonly position: LockPosition }

/** A write that ran without sending its statements. */
export type RecordedWork = {
  readonly scope: Work
  readonly statements: readonly RecordedStatement[]
  /** Undefined if it reads or waits. It must then run alone. */
  readonly ended: { readonly value: unknown } | { readonly error: unknown } | undefined
}

/** Runs a write until it ends, reads or waits, and records its statements. One that reads or waits is abandoned. */
export async function recordWork(work: (tx: Writer) => Promise<unknown>): Promise<RecordedWork> {
  const scope = newWork()
  const statements: RecordedStatement[] = []
  let ended: RecordedWork['ended']
  let isUnfit = false
  const refuseRead = (): never => {
    isUnfit = true
    throw new Error('a write of a group reads')
  }
  const run = (query: Prepared<never>, values: Values = {}): void => {
    assertOpen(scope)
    statements.push({ compiled: query.compiled, values })
  }
  const tx = {
    select: refuseRead,
    insert: refuseRead,
    update: refuseRead,
    delete: refuseRead,
    rows: refuseRead,
    all: refuseRead,
    first: refuseRead,
    run,
    afterCommit: (effect: () => void) => void scope.afterCommit.push(effect),
  } as unknown as Writer
  asWork(scope, () => work(tx)).then(
    (value) => {
      ended = { value }
    },
    (error: unknown) => {
      ended = { error }
    },
  )
  // A write that waits for nothing has settled by then.
  await new Promise<void>((resume) => process.nextTick(resume))
  return { scope, statements, ended: isUnfit ? undefined : ended }
}

/**
 * Returns the statements of a write with their lock positions. Undefined if it locks rows in another order, or a
 * statement has no placement.
 */
function lockPositionsOf(
  statements: readonly RecordedStatement[],
): { taking: OrderedStatement[]; inserting: RecordedStatement[] } | undefined {
  const taking: OrderedStatement[] = []
  const inserting: RecordedStatement[] = []
  const lockedRows = new Set<string>()
  const insertedInto = new Set<string>()
  let lastPosition: LockPosition = { rank: -1, row: '' }
  for (const one of statements) {
    const { placement } = one.compiled
    if (!placement) return undefined
    if (placement.kind === 'new') {
      inserting.push(one)
      insertedInto.add(placement.table)
      continue
    }
    if (placement.kind === 'row') {
      const { table, by } = placement
      // The row may be one that this write inserts, and inserts are sent last.
      if (insertedInto.has(table)) return undefined
      const row = `${table} ${one.values[by]}`
      const next = { rank: lockRankOf(table), row }
      if (!lockedRows.has(row)) {
        if (isBefore(next, lastPosition)) return undefined
        lockedRows.add(row)
        lastPosition = next
      }
    }
    taking.push({ ...one, position: lastPosition })
  }
  return { taking, inserting }
}

const isBefore = (a: LockPosition, b: LockPosition): boolean => a.rank < b.rank || (a.rank === b.rank && a.row < b.row)

/** Adds the rows of an insert to the merged insert of its table. */
function mergeInsert(inserting: Map<string, { many: Compiled<never>; rows: unknown[] }>, { compiled, values }: RecordedStatement): void {
  if (compiled.placement?.kind !== 'new') return
  const { many } = compiled.placement
  const { rows } = inserting.getOrInsertComputed(many.name, () => ({ many, rows: [] }))
  if (compiled.name === many.name) rows.push(...(values['rows'] as unknown[]))
  else rows.push(values)
}

/**
 * Merges the statements of several writes in the order in which they are sent.
 * @returns the writes that fit, those that must run alone, and the statements
 */
export function arrangeBatch<One extends RecordedWork>(all: readonly One[]): { fit: One[]; unfit: One[]; sending: Statement[] } {
  const fit: One[] = []
  const unfit: One[] = []
  const taking: OrderedStatement[] = []
  const inserting = new Map<string, { many: Compiled<never>; rows: unknown[] }>()
  for (const one of all) {
    const positions = one.ended && lockPositionsOf(one.statements)
    if (!positions) {
      unfit.push(one)
      continue
    }
    fit.push(one)
    taking.push(...positions.taking)
    for (const insert of positions.inserting) mergeInsert(inserting, insert)
  }
  // The sort is stable: statements at one position keep the order of the writes.
  taking.sort((a, b) => (isBefore(a.position, b.position) ? -1 : isBefore(b.position, a.position) ? 1 : 0))
  const statementOf = ({ name, text, bind }: Compiled<unknown>, values: Values) => ({ name, text, values: bind(values) })
  const sending = [
    ...taking.map(({ compiled, values }) => statementOf(compiled, values)),
    ...[...inserting.values()].map(({ many, rows }) => statementOf(many, { rows })),
  ]
  return { fit, unfit, sending }
}
