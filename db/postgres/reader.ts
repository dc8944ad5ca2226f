/** Reads, on connections that no write ever waits on. */
import type { SQL } from 'drizzle-orm'
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres'
import type pg from 'pg'
import { nameOf } from '../compile.ts'
import type { Prepared, Reader, Values, Writer } from '../engine.ts'
import { isUnavailable, refusalOf } from './errors.ts'
import type { Pool, Query, Session } from './pool.ts'
import { begin, unawaited } from './transaction.ts'
import type { Answer, Statement } from './wire.ts'

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
export const boundTo = <Row>({ compiled: { name, text, bind } }: Prepared<Row>, values: Values = {}): Statement => ({
  name,
  text,
  values: bind(values),
})

/** Reads prepared queries. */
export function readingOn(query: Query) {
  async function all<Row>(prepared: Prepared<Row>, values?: Values): Promise<Row[]> {
    const { rows } = await query(boundTo(prepared, values))
    return (rows as Record<string, unknown>[]).map(prepared.compiled.finish)
  }
  return { all, first: async <Row>(query: Prepared<Row>, values?: Values): Promise<Row | undefined> => (await all(query, values))[0] }
}

/** A read that somebody waits for. */
type Asked = { query: Parameters<Query>[0]; values: unknown[] | undefined } & PromiseWithResolvers<Answer>

/** @param pool of connections that are for reads alone */
export function readerOn(pool: Pool): Reader {
  /** What is being asked together. */
  let together: Asked[] | undefined
  const query: Query = (query, values) => {
    const asked = { query, values, ...Promise.withResolvers<Answer>() }
    if (together) together.push(asked)
    else void answer([asked])
    return asked.promise
  }

  async function answer(reads: readonly Asked[]): Promise<void> {
    let session: Session | undefined
    let broken = false
    try {
      session = await pool.session()
      const isOne = reads.length === 1 && !session.isPooled
      const joint = isOne || session.isPooled ? undefined : jointOf(reads)
      await (joint ? answerJointly(session, joint, reads) : isOne ? answerEach(session.query, reads) : answerAsOfOneMoment(session, reads))
    } catch (error) {
      broken = isUnavailable(error)
      for (const { reject } of reads) reject(refusalOf(error))
    } finally {
      session?.release(broken)
    }
  }

  return {
    ...buildersOn(query),
    ...readingOn(query),
    together<T>(reads: () => T): T {
      // What is asked within it belongs to it.
      if (together) return reads()
      const asked: Asked[] = []
      together = asked
      try {
        return reads()
      } finally {
        together = undefined
        if (asked.length > 0) void answer(asked)
      }
    },
  }
}

async function answerEach(query: Query, reads: readonly Asked[]): Promise<void> {
  await Promise.all(reads.map(async (read) => read.resolve(await query(read.query, read.values))))
}

/** Several statements as one, by their names: each is a column of its rows as JSON. */
const joints = new Map<string, Pick<Statement, 'text' | 'name'>>()

/** Undefined where one of them is not a prepared query: what its columns are called, or are made of, is not known. */
function jointOf(reads: readonly Asked[]): Pick<Statement, 'text' | 'name'> | undefined {
  let key = ''
  for (const { query } of reads) {
    if (query.name === undefined || query.rowMode !== undefined || query.types !== undefined) return undefined
    key += ` ${query.name}`
  }
  return joints.getOrInsertComputed(key, () => {
    let before = 0
    const columns = reads.map(({ query, values }, nth) => {
      const text = query.text.replace(/\$(\d+)/g, (_, mark) => `$${Number(mark) + before}`)
      before += (values ?? query.values ?? []).length
      return `(select coalesce(json_agg("rows"), '[]') from (${text}) as "rows") as "${nth}"`
    })
    const text = `select ${columns.join(', ')}`
    return { text, name: nameOf(text) }
  })
}

/** One statement is as of one moment: it costs less than a transaction around them. */
async function answerJointly({ query }: Session, joint: Pick<Statement, 'text' | 'name'>, reads: readonly Asked[]): Promise<void> {
  const { rows } = await query({ ...joint, values: reads.flatMap(({ query, values }) => values ?? query.values ?? []) })
  const [found] = rows as Record<string, unknown[]>[]
  for (const [nth, { resolve }] of reads.entries()) resolve({ rows: found?.[nth] ?? [], command: 'SELECT' })
}

/** All are sent at once, begin and end with them: it costs one round trip. */
async function answerAsOfOneMoment(session: Session, reads: readonly Asked[]): Promise<void> {
  const { query } = begin(session, 'ISOLATION LEVEL REPEATABLE READ READ ONLY')
  const answered = answerEach(query, reads)
  const ended = session.commit()
  unawaited(ended)
  await answered
  await ended
}
