/**
 * The floor of buying: a bare program that writes the rows of an order, with input and output like bench/buying.ts.
 * souk buys once in each shop, and the rows that this leaves are the pattern: each is written again for every order of
 * the floor under new ids.
 * Like the three requests of a shopper, it commits the cart, its line, the placed order and the confirmed order. Stock
 * is reserved and sold under its row's lock, and the number is drawn without gaps.
 * Between the last two, souk's client asks the sandbox to authorize and capture, and the sandbox keeps its books.
 * Nothing is read, checked, priced, sealed or parsed: the ratio measures just that.
 * On Postgres a commit is one round trip of the bare driver, from `BEGIN` to `COMMIT`, with prepared statements of many
 * rows. On SQLite all waiting writers share a commit, like in souk, on the connection of the sandbox's books.
 */
import { randomUUID } from 'node:crypto'
import { getTableColumns, getTableName, is, sql, Table } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import pg from 'pg'
import { engine } from '../db/columns.ts'
import type { Database, Prepared } from '../db/engine.ts'
import { insertAllOf } from '../db/prepared.ts'
import * as schema from '../db/schema/index.ts'
import type { Instance } from '../src/instance.ts'
import { buyerAt, openFor } from './buying.ts'
import { type Buying, type BuyingResult, runCallers, type ShopToBuyIn } from './callers.ts'

type Row = Record<string, unknown>
type Statement = { readonly query: Prepared<never, 'change'>; readonly values: Row }
/** Writes in one commit. */
type Commit = (statements: readonly Statement[]) => Promise<void>

const connections = 12
const tables = (Object.values(schema) as unknown[]).filter((one) => is(one, Table)) as unknown as SQLiteTable[]

/** A literal statement whose values are the `$1…` of its text in the order of `names`. */
function statementOf(text: string, ...names: string[]): (values: Row) => Statement {
  const query: Prepared<never, 'change'> = {
    compiled: {
      text: engine === 'sqlite' ? text.replaceAll('$', '?') : text,
      name: Bun.hash(text).toString(36),
      bind: (values) => names.map((name) => values[name]),
      finish: (row) => row as never,
    },
  }
  return (values) => ({ query, values })
}

const statements = {
  touchCart: statementOf('update carts set updated_at = updated_at + 1 where id = $1', 'cart'),
  convertCart: statementOf(`update carts set status = 'CONVERTED', email = null where id = $1 and status = 'OPEN'`, 'cart'),
  reserve: statementOf('update variants set reserved = reserved + 1 where id = $1 and on_hand - reserved >= 1', 'variant'),
  sell: statementOf('update variants set reserved = reserved - 1, on_hand = on_hand - 1 where id = $1 and reserved >= 1', 'variant'),
  number: statementOf(
    'insert into order_numbers (shop_id, last) values ($1, 1) on conflict (shop_id) do update set last = order_numbers.last + 1',
    'shop',
  ),
  order: insertOrder(),
  confirm: statementOf(`update orders set status = 'CONFIRMED', updated_at = updated_at + 1 where id = $1`, 'order'),
  paid: statementOf(`update payments set status = 'CAPTURED', updated_at = updated_at + 1 where order_id = $1`, 'order'),
  steps: statementOf(`update saga_steps set state = 'DONE' where order_id = $1`, 'order'),
  answered: statementOf('update idempotency_keys set lease_until = lease_until + 1 where scope = $1 and key = $2', 'scope', 'key'),
}

/** The order, with the number drawn before in the same transaction. */
function insertOrder(): (order: Row) => Statement {
  const columns = Object.entries(getTableColumns(schema.orders))
  const boundColumns = columns.filter(([name]) => name !== 'number')
  const placeholderOf = (name: string) => `$${boundColumns.findIndex(([one]) => one === name) + 1}`
  const drawnNumber = `(select last from order_numbers where shop_id = ${placeholderOf('shopId')})`
  const names = [...boundColumns, ...columns.filter(([name]) => name === 'number')].map(([, column]) => column.name)
  const insert = statementOf(
    `insert into orders (${names.join(', ')}) values (${[...boundColumns.map(([name]) => placeholderOf(name)), drawnNumber].join(', ')})`,
    ...boundColumns.map(([name]) => name),
  )
  const encode = ([name, column]: (typeof boundColumns)[number], value: unknown) => [
    name,
    value === null ? null : column.mapToDriverValue(value),
  ]
  return (order) => insert(Object.fromEntries(boundColumns.map((column) => encode(column, order[column[0]]))))
}

/** The rows of one order by table, and the ids of order and cart. */
type Pattern = { rows: [table: string, rows: Row[]][]; order: string; cart: string }
const ids = /\b(?:cart|line|order|evt|pay|msg|txn|att)_[0-9a-z]{26}\b/g

/** Lets souk buy once and reads the rows of order and cart and the response. */
async function patternOf({ deps, ...instance }: Instance, shop: ShopToBuyIn): Promise<Pattern> {
  const order = await buyerAt({ deps, ...instance })(shop, 0)
  const { read } = deps.db
  const [{ cart_id: cart } = { cart_id: '' }] = await read.rows<{ cart_id: string }>(sql`select cart_id from orders where id = ${order}`)
  const readRows = async (table: SQLiteTable) => {
    const name = getTableName(table)
    const columns = Object.values(getTableColumns(table)).map((column) => column.name)
    const conditions = [
      ...(columns.includes('order_id') ? [sql`order_id = ${order}`] : []),
      ...(columns.includes('cart_id') ? [sql`cart_id = ${cart}`] : []),
      ...(name === 'carts' ? [sql`id = ${cart}`] : []),
      ...(name === 'outbox' ? [sql`body like ${`%${order}%`}`] : []),
      ...(name === 'idempotency_keys' ? [sql`key = (select key from idempotency_keys order by lease_until desc limit 1)`] : []),
    ]
    if (conditions.length === 0) return []
    const rows = await read.select().from(table).where(sql.join(conditions, sql` or `))
    return rows.length > 0 ? [[name, rows] as [string, Row[]]] : []
  }
  return { rows: (await Promise.all(tables.map(readRows))).flat(), order, cart }
}

const inserts = new Map(tables.map((table) => [getTableName(table), insertAllOf(table)]))

/** The statement with which souk's data layer inserts rows of a table. */
function insertStatement(name: string, rows: readonly Row[]): Statement[] {
  const collected: Statement[] = []
  const tx = { run: (query: Prepared<never, 'change'>, values: Row) => void collected.push({ query, values }) }
  void inserts.get(name)?.(tx as never, rows as never)
  return collected
}

/** Buys by writing the pattern's rows again. */
function buyerFrom(patterns: ReadonlyMap<string, Pattern>, { deps }: Instance, commit: Commit) {
  const sandbox = deps.processors.get('sandbox')
  if (!sandbox) throw new Error('there is no sandbox')
  let idCount = 0
  const runId = randomUUID().replaceAll('-', '').slice(0, 16)
  return async ({ shopId: shop, variantIds }: ShopToBuyIn, nth: number): Promise<void> => {
    const pattern = patterns.get(shop)
    if (!pattern) throw new Error('a shop without a pattern')
    const fresh = new Map<string, string>()
    const nextId = (id: string) =>
      fresh.getOrInsertComputed(
        id,
        () =>
          `${id.slice(0, id.indexOf('_'))}_${Bun.randomUUIDv7().replaceAll('-', '').slice(0, 12)}${runId.slice(0, 4)}${(++idCount).toString(36).padStart(10, '0')}`,
      )
    const key = randomUUID()
    const rows = new Map(JSON.parse(JSON.stringify(pattern.rows).replaceAll(ids, nextId)) as Pattern['rows'])
    const [order, cart, variant] = [nextId(pattern.order), nextId(pattern.cart), variantIds[nth % variantIds.length]]
    const of = (name: string) => rows.get(name) ?? []
    for (const row of of('carts')) Object.assign(row, { status: 'OPEN', email: `shopper${nth}@example.com` })
    for (const row of of('payments')) Object.assign(row, { attemptKey: key })
    for (const row of of('idempotency_keys')) Object.assign(row, { key })
    const laterTables = ['carts', 'cart_lines', 'orders', 'order_events', 'outbox', 'unified_transactions', 'gift_card_transactions']
    const [placed, ...laterEvents] = of('order_events')
    await commit(insertStatement('carts', of('carts')))
    await commit([statements.touchCart({ cart }), ...insertStatement('cart_lines', of('cart_lines'))])
    await commit([
      statements.convertCart({ cart }),
      statements.reserve({ variant }),
      statements.number({ shop }),
      ...of('orders').map(statements.order),
      ...[...rows].filter(([name]) => !laterTables.includes(name)).flatMap(([name, some]) => insertStatement(name, some)),
      ...insertStatement('order_events', placed ? [placed] : []),
    ])
    const [payment] = of('payments')
    const request = { paymentId: String(payment?.['id']), amount: Number(payment?.['amount']), currency: String(payment?.['currency']) }
    const { reference } = await sandbox.create({ ...request, token: undefined, returnUrl: undefined })
    await sandbox.capture({ ...request, reference })
    await commit([
      statements.confirm({ order }),
      statements.paid({ order }),
      statements.sell({ variant }),
      ...(rows.has('saga_steps') ? [statements.steps({ order })] : []),
      ...insertStatement('order_events', laterEvents),
      ...['outbox', 'unified_transactions'].flatMap((name) => insertStatement(name, of(name))),
      statements.answered({ scope: of('idempotency_keys')[0]?.['scope'], key }),
    ])
  }
}

const commitOnSqlite =
  (db: Database): Commit =>
  (all) =>
    db.write(async (tx) => {
      for (const { query, values } of all) tx.run(query, values)
    })

/** Bare connections; the longest waiting caller gets the next one. */
async function commitOnPostgres(url: string): Promise<Commit> {
  const free: pg.Client[] = []
  const waiting: ((client: pg.Client) => void)[] = []
  for (let nth = 0; nth < connections; nth++) {
    const client = new pg.Client({ connectionString: url, pipeline: true })
    await client.connect()
    free.push(client)
  }
  return async (all) => {
    const client = free.pop() ?? (await new Promise<pg.Client>((resolve) => waiting.push(resolve)))
    const answers = [
      client.query('BEGIN'),
      ...all.map(({ query: { compiled }, values }) =>
        client.query({ name: compiled.name, text: compiled.text, values: compiled.bind(values) }),
      ),
      client.query('COMMIT'),
    ]
    try {
      await Promise.all(answers)
    } finally {
      await Promise.allSettled(answers)
      const next = waiting.shift()
      if (next) next(client)
      else free.push(client)
    }
  }
}

async function runBuying(input: Buying): Promise<BuyingResult> {
  const instance = await openFor(input)
  const patterns = new Map<string, Pattern>()
  for (const shop of input.shops) patterns.set(shop.shopId, await patternOf(instance, shop))
  const commit = input.databaseUrl ? await commitOnPostgres(input.databaseUrl) : commitOnSqlite(instance.deps.db)
  return runCallers(input, instance.deps.db.stats, buyerFrom(patterns, instance, commit))
}

process.stdout.write(`${JSON.stringify(await runBuying((await Bun.stdin.json()) as Buying))}\n`)
process.exit(0)
