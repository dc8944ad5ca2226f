/** Reads, on connections that no write ever waits on. */
import type { SQL } from 'drizzle-orm'
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres'
import type pg from 'pg'
import { nameOf } from '../compile.ts'
import type { Prepared, Reader, Values, Writer } from '../engine.ts'
import { isUnavailable, refusalOf } from './errors.ts'
import type { Pool, Query, Session } from './pool.ts'
import { begin, ignoreRejection } from './transaction.ts'
import type { QueryResult, Statement } from './wire.ts'

/** What builds queries, made when one is built: making it costs more than most of what a transaction does besides. */
export function buildersOn(query: Query) {
  let made: NodePgDatabase | undefined
  const queries = () => (made ??= drizzle({ client: { query } as unknown as pg.PoolClient }))
  const builders = {
    select: (...fields: []) => queries().select(...fields),
    selectDistinct: (...fields: []) => queries().selectDistinct(...fields),
    insert: (table: never) => queries().insert(table),
    update: (table: never) => queries().update(table),
    delete: (table: never) => queries().delete(table),
  }
  const rows = async <T>(statement: SQL): Promise<T[]> => (await queries().execute(statement)).rows as T[]
  return { ...(builders as unknown as Pick<Writer, 'select' | 'insert' | 'update' | 'delete'> & Pick<Reader, 'selectDistinct'>), rows }
}

/** A prepared query as the driver takes it. The server keeps its plan by its name, one a connection. */
export const bindQuery = <Row>({ compiled: { name, text, bind } }: Prepared<Row>, values: Values = {}): Statement => ({
  name,
  text,
  values: bind(values),
})

/** Reads prepared queries. */
export function preparedReadsOn(query: Query) {
  async function all<Row>(prepared: Prepared<Row>, values?: Values): Promise<Row[]> {
    const { rows } = await query(bindQuery(prepared, values))
    return (rows as Record<string, unknown>[]).map(prepared.compiled.finish)
  }
  return { all, first: async <Row>(query: Prepared<Row>, values?: Values): Promise<Row | undefined> => (await all(query, values))[0] }
}

/** A read that somebody waits for. */
type PendingRead = { query: Parameters<Query>[0]; values: unknown[] | undefined } & PromiseWithResolvers<QueryResult>

/** @param pool of connections that are for reads alone */
export function readerOn(pool: Pool): Reader {
  /** What is being asked together. */
  let together: PendingRead[] | undefined
  const query: Query = (query, values) => {
    const asked = { query, values, ...Promise.withResolvers<QueryResult>() }
    if (together) together.push(asked)
    else ask([asked])
    return asked.promise
  }
  /** What waits for the end of this turn of the event loop. */
  const turn: (readonly PendingRead[])[] = []

  /** Prepared reads of one turn leave together: each piece costs us and the server more than most reads. */
  function ask(reads: readonly PendingRead[]): void {
    if (!reads.every(isPrepared)) return void answer(reads)
    turn.push(reads)
    if (turn.length === 1) setImmediate(answerTurn)
  }

  function answerTurn(): void {
    const all = turn.splice(0)
    for (let from = 0; from < all.length; from += readsAtOnce) {
      const some = all.slice(from, from + readsAtOnce)
      void (some[0] && some.length === 1 ? answer(some[0]) : answerTogether(some))
    }
  }

  /**
   * Those that say the same are one. Where one of them fails the others behind it do, too: then each is asked by
   * itself.
   */
  async function answerTogether(all: readonly (readonly PendingRead[])[]): Promise<void> {
    let session: Session | undefined
    let broken = false
    try {
      session = await pool.session()
      if (session.isPooled) return void all.map(answer)
      const { query } = session
      const sent = new Map<string, Promise<QueryResult>>()
      const answers = all.map((reads) => {
        const statement = statementOf(reads)
        return sent.getOrInsertComputed(`${statement.name} ${JSON.stringify(statement.values)}`, () => query(statement))
      })
      const told = await Promise.allSettled(answers)
      const handed = new Set<QueryResult>()
      for (const [nth, one] of told.entries()) {
        const reads = all[nth] ?? []
        if (one.status === 'fulfilled') {
          resolveReads(handed.has(one.value) ? copyOf(one.value) : one.value, reads)
          handed.add(one.value)
        } else if (isUnavailable(one.reason)) throw one.reason
        else void answer(reads)
      }
    } catch (error) {
      broken = isUnavailable(error)
      for (const { reject } of all.flat()) reject(refusalOf(error))
    } finally {
      session?.release(broken)
    }
  }

  async function answer(reads: readonly PendingRead[]): Promise<void> {
    let session: Session | undefined
    let broken = false
    try {
      session = await pool.session()
      if (!session.isPooled && reads.every(isPrepared)) resolveReads(await session.query(statementOf(reads)), reads)
      else if (!session.isPooled && reads.length === 1) await answerEach(session.query, reads)
      else await answerAsOfOneMoment(session, reads)
    } catch (error) {
      broken = isUnavailable(error)
      for (const { reject } of reads) reject(refusalOf(error))
    } finally {
      session?.release(broken)
    }
  }

  return {
    ...buildersOn(query),
    ...preparedReadsOn(query),
    inSnapshot<T>(reads: () => T): T {
      // What is asked within it belongs to it.
      if (together) return reads()
      const asked: PendingRead[] = []
      together = asked
      try {
        return reads()
      } finally {
        together = undefined
        if (asked.length > 0) ask(asked)
      }
    },
  }
}

async function answerEach(query: Query, reads: readonly PendingRead[]): Promise<void> {
  await Promise.all(reads.map(async (read) => read.resolve(await query(read.query, read.values))))
}

/** On one connection. */
const readsAtOnce = 8

/** What the columns of a prepared query are called is known, and what they are made of. */
const isPrepared = ({ query: { name, rowMode, types } }: PendingRead): boolean =>
  name !== undefined && rowMode === undefined && types === undefined

const valuesOf = ({ query, values }: PendingRead): readonly unknown[] => values ?? query.values ?? []

/** Several statements as one, by their names: each is a column of its rows as JSON. */
const joints = new Map<string, Pick<Statement, 'text' | 'name'>>()

/** Prepared reads as one statement, which is as of one moment: it costs less than a transaction around them. */
function statementOf(reads: readonly PendingRead[]): Statement {
  const [first] = reads
  if (first && reads.length === 1) return { ...first.query, values: valuesOf(first) }
  const joint = joints.getOrInsertComputed(reads.map(({ query }) => query.name).join(), () => jointOf(reads))
  return { ...joint, values: reads.flatMap(valuesOf) }
}

function jointOf(reads: readonly PendingRead[]): Pick<Statement, 'text' | 'name'> {
  let before = 0
  const columns = reads.map((read, nth) => {
    const text = read.query.text.replace(/\$(\d+)/g, (_, mark) => `$${Number(mark) + before}`)
    before += valuesOf(read).length
    return `(select coalesce(json_agg("rows"), '[]') from (${text}) as "rows") as "${nth}"`
  })
  const text = `select ${columns.join(', ')}`
  return { text, name: nameOf(text) }
}

/** Hands out what `statementOf` of these reads was answered. */
function resolveReads({ rows, command }: QueryResult, reads: readonly PendingRead[]): void {
  const isOne = reads.length === 1
  const [found] = rows as Record<string, unknown[]>[]
  for (const [nth, { resolve }] of reads.entries()) resolve({ rows: isOne ? rows : (found?.[nth] ?? []), command })
}

/** Rows are changed in place by whoever has them: of one answer to several each has their own. */
const copyOf = ({ rows, command }: QueryResult): QueryResult => ({ rows: rows.map(rowCopyOf), command })
/** Most have nothing in them that could be changed: what copies anything takes ten times as long. */
const rowCopyOf = (row: unknown): unknown =>
  Object.values(row as object).some((value) => typeof value === 'object' && value !== null) ? structuredClone(row) : { ...(row as object) }

/** All are sent at once, begin and end with them: it costs one round trip. */
async function answerAsOfOneMoment(session: Session, reads: readonly PendingRead[]): Promise<void> {
  const { query } = begin(session, 'ISOLATION LEVEL REPEATABLE READ READ ONLY')
  const answered = answerEach(query, reads)
  const ended = session.commit()
  ignoreRejection(ended)
  await answered
  await ended
}
