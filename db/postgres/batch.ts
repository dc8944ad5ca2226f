/**
 * Works of several callers in one transaction: what each of them sends is noted first, and then sent in one piece, so
 * that all of them take what they lock in one order, and insert their rows by one statement a table.
 */
import type { Compiled, Prepared, Values, Writer } from '../engine.ts'
import { lockRankOf } from '../schema/lock-order.ts'
import { assertOpen, asWork, newWork, type Work } from '../write-work.ts'
import type { QueryResult, Statement } from './pool.ts'

/** What a work has sent, as far as it is noted. */
type RecordedStatement = {
  readonly compiled: Compiled<unknown>
  readonly values: Values
  readonly answer: PromiseWithResolvers<QueryResult> | undefined
}
/** Where a statement stands among those of all works: behind the row that its work has taken last. */
type LockPosition = { readonly rank: number; readonly row: string }
type OrderedStatement = RecordedStatement & { readonly place: LockPosition }

/** A work as it was run without being sent. */
export type RecordedWork = {
  readonly scope: Work
  readonly noted: readonly RecordedStatement[]
  /** How it ended; undefined: it waits for an answer, or asks by what cannot be noted, and cannot go with others. */
  readonly ended: { readonly value: unknown } | { readonly error: unknown } | undefined
}

/** Runs a work up to where it waits for an answer, or to its end. What it waits for then never comes. */
export async function recordWork(work: (tx: Writer) => Promise<unknown>): Promise<RecordedWork> {
  const scope = newWork()
  const noted: RecordedStatement[] = []
  let ended: RecordedWork['ended']
  let isUnfit = false
  const unfit = (): never => {
    isUnfit = true
    throw new Error('a work of a line asks by what cannot be noted')
  }
  const note = (query: Prepared<unknown>, values: Values = {}, answer?: PromiseWithResolvers<QueryResult>): void => {
    assertOpen(scope)
    noted.push({ compiled: query.compiled, values, answer })
  }
  const answers = async <Row>(query: Prepared<Row>, values?: Values): Promise<Row[]> => {
    const answer = Promise.withResolvers<QueryResult>()
    note(query, values, answer)
    const { rows } = await answer.promise
    return (rows as Record<string, unknown>[]).map(query.compiled.finish)
  }
  const tx = {
    select: unfit,
    insert: unfit,
    update: unfit,
    delete: unfit,
    rows: unfit,
    all: answers,
    first: async <Row>(query: Prepared<Row>, values?: Values) => (await answers(query, values))[0],
    run: (query: Prepared<never>, values?: Values) => note(query, values),
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
  // Whatever needs no answer is done by then.
  await new Promise<void>((resume) => process.nextTick(resume))
  return { scope, noted, ended: isUnfit ? undefined : ended }
}

/**
 * The statements of a work with their places. Undefined where it takes rows in another order, or one says nothing of
 * its place.
 */
function lockPositionsOf(noted: readonly RecordedStatement[]): { taking: OrderedStatement[]; inserting: RecordedStatement[] } | undefined {
  const taking: OrderedStatement[] = []
  const inserting: RecordedStatement[] = []
  const taken = new Set<string>()
  const insertedInto = new Set<string>()
  let place: LockPosition = { rank: -1, row: '' }
  for (const one of noted) {
    const { together } = one.compiled
    if (!together) return undefined
    if (together.kind === 'new') {
      inserting.push(one)
      insertedInto.add(together.table)
      continue
    }
    if (together.kind === 'row') {
      const { table, by } = together
      // It would have to come behind rows that come last.
      if (insertedInto.has(table)) return undefined
      const row = `${table} ${one.values[by]}`
      const next = { rank: lockRankOf(table), row }
      if (!taken.has(row)) {
        if (isBefore(next, place)) return undefined
        taken.add(row)
        place = next
      }
    }
    taking.push({ ...one, place })
  }
  return { taking, inserting }
}

const isBefore = (a: LockPosition, b: LockPosition): boolean => a.rank < b.rank || (a.rank === b.rank && a.row < b.row)

/** Puts a row of an insert with those that are inserted by the same statement. */
function gather(inserting: Map<string, { many: Compiled<never>; rows: unknown[] }>, { compiled, values }: RecordedStatement): void {
  if (compiled.together?.kind !== 'new') return
  const { many } = compiled.together
  const { rows } = inserting.getOrInsertComputed(many.name, () => ({ many, rows: [] }))
  if (compiled.name === many.name) rows.push(...(values['rows'] as unknown[]))
  else rows.push(values)
}

/** What is sent, and who waits for its answer. */
export type BatchStatement = { readonly statement: Statement; readonly answer: RecordedStatement['answer'] }

/**
 * What several works have noted, in the order in which it is sent.
 * @returns it; and those whose statements have no place with the others'
 */
export function arrangeBatch<One extends RecordedWork>(all: readonly One[]): { fit: One[]; unfit: One[]; sending: BatchStatement[] } {
  const fit: One[] = []
  const unfit: One[] = []
  const taking: OrderedStatement[] = []
  const inserting = new Map<string, { many: Compiled<never>; rows: unknown[] }>()
  for (const one of all) {
    const places = one.ended && lockPositionsOf(one.noted)
    if (!places) {
      unfit.push(one)
      continue
    }
    fit.push(one)
    taking.push(...places.taking)
    for (const insert of places.inserting) gather(inserting, insert)
  }
  // What is at one place stays in the order of the works: sorting is stable.
  taking.sort((a, b) => (isBefore(a.place, b.place) ? -1 : isBefore(b.place, a.place) ? 1 : 0))
  const statementOf = ({ name, text, bind }: Compiled<unknown>, values: Values) => ({ name, text, values: bind(values) })
  const sending: BatchStatement[] = [
    ...taking.map(({ compiled, values, answer }) => ({ statement: statementOf(compiled, values), answer })),
    ...[...inserting.values()].map(({ many, rows }) => ({ statement: statementOf(many, { rows }), answer: undefined })),
  ]
  return { fit, unfit, sending }
}
