/** Moves a SQLite database to PostgreSQL table by table, and compares both. */
import { DatabaseRefused } from '../engine.ts'
import { postgresMigrations } from '../migrations/index.ts'
import { addToSum, kindOf, lineOf } from './copy-text.ts'
import { type Column, type Source, type SourceTable, sortByReferences } from './source.ts'
import { filledTables, type MoveProgress, type SearchedProduct, type TablePiece, type Target, withTarget, wordsTable } from './target.ts'

type Move = {
  source: Source
  /** URL of the target. */
  url: string
  /** Milliseconds since the epoch. */
  now: number
  /** Returns products after a rowid with their search terms, for the target's search index. */
  products: (after: bigint, limit: number) => Searchable[]
  watch: Watch
  /**
   * Runs after the comparison, before the target is released.
   * @returns names of files that were moved to the bucket; undefined without a bucket
   */
  before: () => Promise<readonly string[] | undefined>
}
/** A product of the source, by which the next batch continues. */
export type Searchable = SearchedProduct & { readonly rowid: bigint }

/** Callbacks that report progress. `done`: rows that an earlier, interrupted move stored. */
export type Watch = {
  /** @param total rows of all tables, and products of the search index */
  onBegin(step: 'looking' | 'moving' | 'comparing', total: number, done: number): void
  onDone(rows: number, table: string): void
}

/** Totals of the whole move, including what an earlier run stored. */
export type MoveResult = { readonly tables: number; readonly rows: number; readonly products: number }

/** A table and the columns of the target. */
type Plan = { readonly table: SourceTable; readonly columns: readonly Column[] }

/** Usual and maximum bytes of a batch. */
const [bytesOfPiece, bytesMax] = [1_000_000, 32_000_000]
const rowsMax = 5_000
const rowsFirst = 20
const productsAtOnce = 500
const problemsMax = 20

/**
 * Moves everything, or continues an interrupted move of the same source.
 * @throws DatabaseRefused if the target is not empty, a row cannot be moved, or the comparison fails
 */
export const moveDatabase = ({ source, url, now, products, watch, before }: Move): Promise<MoveResult> =>
  withTarget(url, { fingerprint: source.fingerprint, migrations: postgresMigrations, now }, async (target) => {
    const plans = planOf(source, await target.columns())
    const rows = plans.reduce((sum, { table }) => sum + table.rows, 0)
    const documents = plans.find(({ table }) => table.name === 'product_documents')?.table.rows ?? 0
    if (plans.every(({ table }) => target.reached(table.name).rows === 0)) {
      await checkValues(source, plans, watch, rows)
      await target.clear(plans.map(({ table }) => table.name).reverse())
    }

    const reached = [...plans.map(({ table }) => table.name), wordsTable].reduce((sum, name) => sum + target.reached(name).rows, 0)
    watch.onBegin('moving', rows + documents, reached)
    const count = countingFrom(reached, watch)
    for (const plan of plans) await moveTable(source, target, plan, count)
    await moveWords(target, products, count)

    watch.onBegin('comparing', rows + documents, 0)
    const compared = countingFrom(0, watch)
    const wrong: string[] = []
    for (const plan of plans) wrong.push(...(await differences(source, target, plan, compared)))
    wrong.push(...(await wordDifferences(target, documents, compared)))
    if (wrong.length > 0) throw new DatabaseRefused(`the target differs from the source:\n${listed(wrong)}`)
    await target.finish(await before())
    return { tables: plans.length, rows, products: documents }
  })

const listed = (lines: readonly string[]): string =>
  [...lines.slice(0, problemsMax), ...(lines.length > problemsMax ? [`and ${lines.length - problemsMax} more`] : [])]
    .map((line) => `  - ${line}`)
    .join('\n')

/**
 * Maps tables and columns of the source to the target.
 * @throws DatabaseRefused if one is missing
 */
export function planOf(source: Pick<Source, 'tables'>, targetTables: ReadonlyMap<string, ReadonlyMap<string, string>>): Plan[] {
  const names = new Set(source.tables.map(({ name }) => name))
  const missing = [
    ...[...targetTables.keys()]
      .filter((name) => !names.has(name) && name !== wordsTable && !filledTables.has(name))
      .map((name) => `the source has no table ${name}`),
    ...[...names].filter((name) => !targetTables.has(name)).map((name) => `the target has no table ${name}`),
  ]
  const plans = sortByReferences(source.tables).map((table) => {
    const types = targetTables.get(table.name) ?? new Map<string, string>()
    const extra = [...types.keys()].filter((name) => !table.columns.includes(name))
    missing.push(...extra.map((name) => `the source has no column ${table.name}.${name}`))
    const columns = table.columns.flatMap((name): Column[] => {
      const type = types.get(name)
      const kind = type === undefined ? undefined : kindOf(type)
      if (kind !== undefined) return [{ name, kind, isShort: type === 'integer' }]
      missing.push(type === undefined ? `the target has no column ${table.name}.${name}` : `${table.name}.${name} is of the type ${type}`)
      return []
    })
    return { table, columns }
  })
  if (missing.length > 0) throw new DatabaseRefused(`some tables can't be moved: ${missing.join('; ')}`)
  return plans
}

/** @throws DatabaseRefused with all rows that the target would refuse */
async function checkValues(source: Source, plans: readonly Plan[], watch: Watch, rows: number): Promise<void> {
  watch.onBegin('looking', rows, 0)
  const problems = source.listDangling()
  let done = 0
  for (const { table, columns } of plans) {
    // Lets Ctrl-C interrupt between tables.
    await Bun.sleep(0)
    problems.push(...source.problems(table.name, columns))
    done += table.rows
    watch.onDone(done, table.name)
  }
  if (problems.length > 0) throw new DatabaseRefused(`nothing was moved, because PostgreSQL can't store some values:\n${listed(problems)}`)
}

/** Reports progress over all tables. */
function countingFrom(done: number, watch: Watch) {
  let count = done
  return (rows: number, table: string) => {
    count += rows
    watch.onDone(count, table)
  }
}
type Count = ReturnType<typeof countingFrom>

async function moveTable(source: Source, target: Target, { table, columns }: Plan, count: Count): Promise<void> {
  const names = columns.map(({ name }) => name)
  const kinds = columns.map(({ kind }) => kind)
  const most = Math.max(1, Math.min(rowsMax, Math.floor(bytesMax / (source.maxLengthOf(table.name, names) + 1))))
  let limit = Math.min(rowsFirst, most)
  function pieceBehind(at: MoveProgress): TablePiece | undefined {
    const rows = source.rows(table.name, names, at.upTo, limit)
    const last = rows.at(-1)
    if (!last) return undefined
    let { sum } = at
    let text = ''
    for (const row of rows) {
      const line = lineOf(kinds, row)
      sum = addToSum(sum, line)
      text += `${line}\n`
    }
    const lines = Buffer.from(text)
    limit = Math.max(1, Math.min(most, Math.floor((bytesOfPiece * rows.length) / lines.length)))
    return { upTo: last[0], rows: at.rows + rows.length, sum, lines }
  }
  for (let piece = pieceBehind(target.reached(table.name)); piece; ) {
    const sent: TablePiece = piece
    const before = target.reached(table.name).rows
    let next: TablePiece | undefined
    // The next batch is prepared while the server stores this one.
    await target.put(table.name, names, sent, () => {
      next = pieceBehind(sent)
    })
    count(sent.rows - before, table.name)
    piece = next
  }
}

async function moveWords(target: Target, products: Move['products'], count: Count): Promise<void> {
  for (;;) {
    const at = target.reached(wordsTable)
    const some = products(at.upTo, productsAtOnce)
    const last = some.at(-1)
    if (!last) return
    const sum = some.reduce((sum, product) => addToSum(sum, lineOfWords(product)), at.sum)
    await target.putWords({ upTo: last.rowid, rows: at.rows + some.length, sum }, some)
    count(some.length, wordsTable)
  }
}

/** The index stores each term once, in its own order. */
const lineOfWords = ({ id, shopId, visibleFrom, words }: SearchedProduct): string =>
  [id, shopId, visibleFrom, [...new Set(words.split(' '))].sort().join(' ')].join('\t')

/** Describes how a table differs from what was sent. */
async function differences(source: Source, target: Target, { table, columns }: Plan, count: Count): Promise<string[]> {
  const { name } = table
  const sent = target.reached(name)
  const integers = columns.filter(({ kind }) => kind === 'integer').map((column) => column.name)
  const sourceFigures = source.figures(name, integers)
  const targetFigures = await target.figures(name, integers)
  let [rows, sum] = [0, 0n]
  await target.lines(
    name,
    columns.map((column) => column.name),
    (line) => {
      rows++
      sum = addToSum(sum, line)
    },
  )
  count(table.rows, name)
  if (sent.rows !== table.rows || rows !== table.rows) return [`${name}: ${rows} rows of ${table.rows}`]
  if (sourceFigures.join() !== targetFigures.join()) return [`${name}: the sums of its numbers differ`]
  return sum === sent.sum ? [] : [`${name}: a row is not as it was sent`]
}

async function wordDifferences(target: Target, documents: number, count: Count): Promise<string[]> {
  const sent = target.reached(wordsTable)
  let [rows, sum] = [0, 0n]
  await target.words((product) => {
    rows++
    sum = addToSum(sum, lineOfWords(product))
  })
  count(documents, wordsTable)
  if (rows !== documents || sent.rows !== documents) return [`${wordsTable}: ${rows} products of ${documents}`]
  return sum === sent.sum ? [] : [`${wordsTable}: a product is found by other words`]
}
