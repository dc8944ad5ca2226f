/** Moves what a database file holds into a PostgreSQL database, table by table, and holds the one against the other. */
import { DatabaseRefused } from '../engine.ts'
import { postgresMigrations } from '../migrations/index.ts'
import { added, kindOf, lineOf } from './copy-text.ts'
import { type Column, inOrder, type Source, type SourceTable } from './source.ts'
import { filledTables, type Piece, type Reached, type SearchedProduct, type Target, withTarget, wordsTable } from './target.ts'

export type Move = {
  source: Source
  /** Of the target. */
  url: string
  /** Milliseconds since the epoch. */
  now: number
  /** The words by which products are found, of those behind `after` by their rowids: what the search index of the target is made of. */
  products: (after: bigint, limit: number) => Searchable[]
  watch: Watch
  /**
   * Done once all is there and was compared, before anybody is let in.
   * @returns storage names of documents that went into the bucket; undefined where there is none
   */
  before: () => Promise<readonly string[] | undefined>
}
export type Searchable = SearchedProduct & { readonly rowid: bigint }

export type Watch = {
  /** @param total rows of all tables, and products of the search index */
  onBegin(step: 'looking' | 'moving' | 'comparing', total: number, done: number): void
  onDone(rows: number, table: string): void
}

export type Moved = { readonly tables: number; readonly rows: number; readonly products: number }

/** A table of the source, and what its columns are in the target. */
type Plan = { readonly table: SourceTable; readonly columns: readonly Column[] }

/** Of a piece of rows of the usual length, and of one of the longest there is. */
const [bytesOfPiece, bytesMax] = [1_000_000, 32_000_000]
const rowsMax = 5_000
const rowsFirst = 20
const productsAtOnce = 500
const problemsMax = 20

/**
 * Moves all of it, or goes on where an earlier run of the same source has stopped.
 * @throws DatabaseRefused where the target is not empty, something in the source cannot be moved, or what is there is not what was sent
 */
export const move = ({ source, url, now, products, watch, before }: Move): Promise<Moved> =>
  withTarget(url, { fingerprint: source.fingerprint, migrations: postgresMigrations, now }, async (target) => {
    const plans = planOf(source, await target.columns())
    const rows = plans.reduce((sum, { table }) => sum + table.rows, 0)
    const documents = plans.find(({ table }) => table.name === 'product_documents')?.table.rows ?? 0
    if (plans.every(({ table }) => target.reached(table.name).rows === 0)) {
      await lookAt(source, plans, watch, rows)
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
    if (wrong.length > 0) throw new DatabaseRefused(`what is in the target is not what was sent:\n${listed(wrong)}`)
    await target.finish(await before())
    return { tables: plans.length, rows, products: documents }
  })

const listed = (lines: readonly string[]): string =>
  [...lines.slice(0, problemsMax), ...(lines.length > problemsMax ? [`and ${lines.length - problemsMax} more`] : [])]
    .map((line) => `  - ${line}`)
    .join('\n')

/**
 * Every table and column of the source, and where it goes.
 * @throws Error for one that the other side lacks: a migration has been forgotten, or what this says of types
 */
export function planOf(source: Pick<Source, 'tables'>, there: ReadonlyMap<string, ReadonlyMap<string, string>>): Plan[] {
  const names = new Set(source.tables.map(({ name }) => name))
  const missing = [
    ...[...there.keys()]
      .filter((name) => !names.has(name) && name !== wordsTable && !filledTables.has(name))
      .map((name) => `the source has no table ${name}`),
    ...[...names].filter((name) => !there.has(name)).map((name) => `the target has no table ${name}`),
  ]
  const plans = inOrder(source.tables).map((table) => {
    const types = there.get(table.name) ?? new Map<string, string>()
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
  if (missing.length > 0) throw new DatabaseRefused(`not every table can be moved: ${missing.join('; ')}`)
  return plans
}

/** @throws DatabaseRefused with all that the target would refuse half-way */
async function lookAt(source: Source, plans: readonly Plan[], watch: Watch, rows: number): Promise<void> {
  watch.onBegin('looking', rows, 0)
  const problems = source.dangling()
  let done = 0
  for (const { table, columns } of plans) {
    // Whoever presses Ctrl-C is heard between two tables.
    await Bun.sleep(0)
    problems.push(...source.problems(table.name, columns))
    done += table.rows
    watch.onDone(done, table.name)
  }
  if (problems.length > 0) throw new DatabaseRefused(`nothing was moved, because of what the database holds:\n${listed(problems)}`)
}

/** Tells how many rows are done, over all tables. */
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
  const most = Math.max(1, Math.min(rowsMax, Math.floor(bytesMax / (source.longest(table.name, names) + 1))))
  let limit = Math.min(rowsFirst, most)
  function pieceBehind(at: Reached): Piece | undefined {
    const rows = source.rows(table.name, names, at.upTo, limit)
    const last = rows.at(-1)
    if (!last) return undefined
    let { sum } = at
    let text = ''
    for (const row of rows) {
      const line = lineOf(kinds, row)
      sum = added(sum, line)
      text += `${line}\n`
    }
    const lines = Buffer.from(text)
    limit = Math.max(1, Math.min(most, Math.floor((bytesOfPiece * rows.length) / lines.length)))
    return { upTo: last[0], rows: at.rows + rows.length, sum, lines }
  }
  for (let piece = pieceBehind(target.reached(table.name)); piece; ) {
    const sent: Piece = piece
    const before = target.reached(table.name).rows
    let next: Piece | undefined
    // While the server is at work on one piece, the next is made.
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
    const sum = some.reduce((sum, product) => added(sum, lineOfWords(product)), at.sum)
    await target.putWords({ upTo: last.rowid, rows: at.rows + some.length, sum }, some)
    count(some.length, wordsTable)
  }
}

/** The index keeps each word once, and in an order of its own. */
const lineOfWords = ({ id, shopId, visibleFrom, words }: SearchedProduct): string =>
  [id, shopId, visibleFrom, [...new Set(words.split(' '))].sort().join(' ')].join('\t')

/** What of a table is not there as it was sent, in words. */
async function differences(source: Source, target: Target, { table, columns }: Plan, count: Count): Promise<string[]> {
  const { name } = table
  const sent = target.reached(name)
  const integers = columns.filter(({ kind }) => kind === 'integer').map((column) => column.name)
  const ours = source.figures(name, integers)
  const theirs = await target.figures(name, integers)
  let [rows, sum] = [0, 0n]
  await target.lines(
    name,
    columns.map((column) => column.name),
    (line) => {
      rows++
      sum = added(sum, line)
    },
  )
  count(table.rows, name)
  if (sent.rows !== table.rows || rows !== table.rows) return [`${name}: ${rows} rows of ${table.rows}`]
  if (ours.join() !== theirs.join()) return [`${name}: the sums of its numbers differ`]
  return sum === sent.sum ? [] : [`${name}: a row is not as it was sent`]
}

async function wordDifferences(target: Target, documents: number, count: Count): Promise<string[]> {
  const sent = target.reached(wordsTable)
  let [rows, sum] = [0, 0n]
  await target.words((product) => {
    rows++
    sum = added(sum, lineOfWords(product))
  })
  count(documents, wordsTable)
  if (rows !== documents || sent.rows !== documents) return [`${wordsTable}: ${rows} products of ${documents}`]
  return sum === sent.sum ? [] : [`${wordsTable}: a product is found by other words`]
}
