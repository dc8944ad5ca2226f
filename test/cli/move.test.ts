/** Tests moving an instance from SQLite into PostgreSQL. */
import { Database as Sqlite } from 'bun:sqlite'
import { expect, setDefaultTimeout, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { copyFileSync, cpSync, existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { getTableColumns, getTableName, is, Table } from 'drizzle-orm'
import pg from 'pg'
import { engine } from '../../db/columns.ts'
import { postgresMigrations, sqliteMigrations } from '../../db/migrations/index.ts'
import { planOf } from '../../db/moving/move.ts'
import { withTarget } from '../../db/moving/target.ts'
import { lockDataDir } from '../../db/open.ts'
import { transactionColumn } from '../../db/postgres/change-feed.ts'
import * as schema from '../../db/schema/index.ts'
import { tagTerm } from '../../db/search-words.ts'
import { migrateSqlite } from '../../db/sqlite/migrate.ts'
import { startS3 } from '../clients/documents/s3-server.ts'
import { testApp } from '../support/app.ts'
import { cuttableProxy } from '../support/cuttable-connection.ts'
import { emptyPostgres, temporaryDir } from '../support/database.ts'
import { lendingOn, pdf } from '../support/lending-documents.ts'
import { ok } from '../support/selling.ts'
import { longTestMs } from '../support/timeouts.ts'
import { draftApplication, uploadDocument } from './draft-application.ts'
import { merchantLogin, pause, serve, signUp, souk, startCommand, withFile } from './souk.ts'

setDefaultTimeout(longTestMs)

const keys = { JWT_SECRET: 'j'.repeat(32), ENCRYPTION_KEY: 'e'.repeat(32), INTEGRATION_API_KEY: 'i'.repeat(32) }
const onPostgres = test.skipIf(engine !== 'postgres')
const hashOf = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex')
const refusedWith = (reason: string) => ({ status: 1, stdout: '', stderr: expect.stringContaining(reason) })

async function connect(url: string) {
  // The engine configures the driver of this process to parse INT8 as a number. These tests need the text.
  const types = new pg.TypeOverrides()
  types.setTypeParser(pg.types.builtins.INT8, (text: string) => text)
  const client = new pg.Client({ connectionString: url, types })
  client.on('error', () => undefined)
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}

/** Texts that are hard to copy: characters that COPY or JSON escapes, and an empty text. */
const texts = ['tab\tand\nline \\ \\N \b\v\f\r', '', 'é 🛒 שלום "quoted" \u0001\u2028 {},']
const integers: Readonly<Record<string, readonly bigint[]>> = {
  boolean: [1n, 0n, 1n],
  integer: [2_147_483_647n, -2_147_483_648n, 0n],
  bigint: [9_007_199_254_740_993n, -1n, 0n],
}
/** Column types of the schema. */
const types = new Map<string, Map<string, string>>(
  Object.values(schema)
    .filter((one) => is(one, Table))
    .map((table) => [
      getTableName(table),
      new Map(Object.values(getTableColumns(table)).map((column) => [column.name, column.getSQLType().replace(/ COLLATE .*/, '')])),
    ]),
)

/** Tables that only the SQLite engine uses. */
const engineTables = new Set(['souk_migrations', 'product_ranks', 'managed_ranks', 'customer_ranks', 'search_shops'])

/** Creates a database with three rows in every table. The values have the column's type, and references are valid. */
function createFullDatabase(): { dataDir: string; file: string; tables: Map<string, unknown[]> } {
  const dataDir = temporaryDir()
  const file = join(dataDir, 'souk.db')
  migrateSqlite(file, sqliteMigrations, { backups: dataDir, now: 0 })
  using db = new Sqlite(file, { strict: true, safeIntegers: true })
  const list = <Row>(query: string) => db.query<Row, []>(query).all()
  const names = list<{ name: string }>("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' ORDER BY name")
    .map(({ name }) => name)
    .filter((name) => !name.startsWith('sqlite_') && !engineTables.has(name))
  expect(names).toEqual([...types.keys()].sort())
  db.run('PRAGMA foreign_keys = OFF')
  db.run('BEGIN')
  for (const name of names) {
    const columns = list<{ name: string; pk: bigint }>(`SELECT name, pk FROM pragma_table_info('${name}')`)
    const foreign = new Set(list<{ from: string }>(`SELECT "from" FROM pragma_foreign_key_list('${name}')`).map(({ from }) => from))
    db.run(`DELETE FROM "${name}"`)
    for (const nth of [0, 1, 2]) {
      const row = columns.map((column) => {
        const type = types.get(name)?.get(column.name) ?? ''
        if (type !== 'text') return integers[type]?.[nth]
        // A reference names the key of another table, in a column of the same name.
        if (foreign.has(column.name) || column.pk > 0n) return `key ${nth} ${texts[nth]}`
        if (name === 'products' && column.name === 'tags') return '["Blue Sky"]'
        if (name === 'products' && column.name === 'options') return '[{"name":"Size","values":["Large"]}]'
        return `${texts[nth]} ${name}.${column.name} ${nth}`
      })
      db.query(`INSERT INTO "${name}" VALUES (${columns.map(() => '?').join(', ')})`).run(...(row as never[]))
    }
  }
  db.run('COMMIT')
  expect(list('SELECT * FROM pragma_foreign_key_check')).toEqual([])
  const tables = new Map(names.map((name) => [name, list(`SELECT * FROM "${name}" ORDER BY rowid`)]))
  db.run('PRAGMA wal_checkpoint(TRUNCATE)')
  return { dataDir, file, tables }
}

/** Converts a row of PostgreSQL to SQLite's values: numbers and booleans to bigint. */
const toSqliteRow = (table: string, row: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      const isNumber = types.get(table)?.get(name) !== 'text' && value !== null
      return [name, isNumber ? BigInt(value as string | number | boolean) : value]
    }),
  )

onPostgres('souk move copies every table exactly, wherever it is interrupted', async () => {
  const { dataDir, file, tables } = createFullDatabase()
  const before = hashOf(file)
  const target = await emptyPostgres()
  const to = (url: string) => ['move', '--to', url]

  // An invalid --to is reported as such, not as an invalid setting.
  const wrongLogin = await souk(to(target.url.replace(/[^/]*$/, 'nowhere')), dataDir, { settings: keys })
  expect(wrongLogin).toEqual(refusedWith('The server in --to rejected the login'))

  // The server disconnects during the copy.
  {
    await using wire = await cuttableProxy(target.url, 'COPY "orders"', 'before')
    wire.arm()
    expect(await souk(to(wire.url), dataDir, { settings: keys })).toEqual(refusedWith("doesn't answer"))
  }
  await using client = await connect(target.url)
  const countCopied = async () => Number((await client.query('select count(*) as n from souk_move')).rows[0].n)
  const first = await countCopied()
  expect(first).toBeGreaterThan(1)
  expect(first).toBeLessThan(tables.size)
  // An unfinished copy cannot be served, read, or used as the target of another instance.
  const served = await souk(['serve'], temporaryDir(), { settings: { ...keys, DATABASE_URL: target.url } })
  expect(served).toEqual(refusedWith('is being moved to this database'))
  const otherDir = temporaryDir()
  copyFileSync(file, join(otherDir, 'souk.db'))
  expect(await souk(to(target.url), otherDir, { settings: keys })).toEqual(refusedWith('of another instance'))

  // The command is killed during a transaction, after others were committed.
  await client.query('begin; lock table webhook_deliveries in access exclusive mode')
  const killed = startCommand(to(target.url), dataDir, keys)
  const waiting = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
  await using other = await connect(target.url)
  while ((await other.query(waiting)).rows.length === 0) await pause()
  killed.kill('SIGKILL')
  await killed.exited
  await client.query('rollback')
  expect(await countCopied()).toBeGreaterThan(first)

  // A change in the target between two runs is detected and keeps the shop closed.
  await client.query("update shops set title = title || '!' where updated_at = 0; update users set created_at = 1 where created_at = 0")
  const differs = await souk(to(target.url), dataDir, { settings: keys })
  expect(differs).toEqual(refusedWith('the target differs from the source'))
  for (const what of ['shops: a row is not as it was sent', 'users: the sums of its numbers differ'])
    expect(differs.stderr).toContain(`  - ${what}\n`)
  await client.query(
    "update shops set title = rtrim(title, '!') where updated_at = 0; update users set created_at = 0 where created_at = 1",
  )

  const moved = await souk(to(target.url), dataDir, { settings: keys })
  expect(moved).toMatchObject({ status: 0, stderr: '' })
  expect(moved.stdout).toContain(`Move complete: ${tables.size * 3} rows in ${tables.size} tables, 3 products in the search index`)
  expect(hashOf(file)).toBe(before)
  for (const [table, rows] of tables) {
    // The search index still has to be filled, which is reported.
    const { rows: targetRows } = await client.query(`select * from "${table}" ${table === 'search_fills' ? "where below <> '~'" : ''}`)
    const sorted = (all: unknown[]) => all.map((row) => Bun.inspect(row, { sorted: true })).sort()
    // PostgreSQL's engine adds this column, which is not part of the schema.
    for (const row of targetRows) delete row[transactionColumn]
    expect([table, sorted(targetRows.map((row) => toSqliteRow(table, row)))]).toEqual([table, sorted(rows)])
  }
  const { rows: words } = await client.query(
    `select product_id from product_words where words @@ '''large'' & ''${tagTerm('blue sky')}'''::tsquery`,
  )
  expect(words).toHaveLength(3)
  expect((await client.query("select subject from search_fills where below = '~' order by 1")).rows).toEqual([
    { subject: 'CUSTOMERS' },
    { subject: 'ORDERS' },
    { subject: 'PRODUCTS' },
  ])
  expect((await client.query("select to_regclass('souk_move') as state")).rows).toEqual([{ state: null }])
  expect(await souk(to(target.url), dataDir, { settings: keys })).toEqual(refusedWith('the target is not empty'))
  await client.end()
  await other.end()
  await target.drop()
})

onPostgres('a read error within a batch aborts the move and rolls the batch back', async () => {
  const target = await emptyPostgres()
  await withTarget(target.url, { fingerprint: 'a', migrations: postgresMigrations, now: 0 }, async (to) => {
    const batch = { upTo: 1n, rows: 1, sum: 0n, lines: Buffer.from('a\tb\t0\n') }
    const put = to.put('attempts', ['id', 'bucket', 'at'], batch, () => {
      throw new Error('the disk failed')
    })
    await expect(put).rejects.toThrow('the disk failed')
    expect([to.reached('attempts').rows, await to.figures('attempts', [])]).toEqual([0, ['0']])
  })
  await target.drop()
})

onPostgres('after souk move, logins, keys and secrets work, the check is clean, and an order can be placed', async () => {
  const dataDir = temporaryDir()
  let privateKey = ''
  {
    await using server = await serve(dataDir, lendingOn)
    const { token, ...signedUp } = await signUp(server)
    privateKey = signedUp.privateKey
    expect((await uploadDocument(server, token, draftApplication(join(dataDir, 'souk.db')), 'ein_letter', pdf(1_000))).status).toBe(200)
    const created = await fetch(`${server.url}/product-v2`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-service-api-key': privateKey },
      body: JSON.stringify({
        title: 'Café mug',
        status: 'ACTIVE',
        tags: ['Kitchen'],
        variants: [{ price: { amount: 1_000, currency: 'USD' }, onHand: 3 }],
      }),
    })
    expect(created.status).toBe(201)
    // A database that a server uses cannot be moved.
    expect(await souk(['move', '--to', 'postgres://souk@127.0.0.1:1/nowhere'], dataDir)).toEqual(
      refusedWith(`souk is running on ${dataDir}. Stop it first`),
    )
    await server.end('SIGTERM')
  }
  const target = await emptyPostgres()
  const envFile = join(temporaryDir(), 'souk.env')
  await using s3 = startS3()
  const moved = await souk(['move', '--to', target.url, '--env-file', envFile], dataDir, { settings: s3.settings })
  expect(moved).toMatchObject({ status: 0, stderr: '' })
  const served = await souk(['serve'], dataDir, { settings: s3.settings })
  expect([served.status, served.stdout]).toEqual([1, ''])
  expect(served.stderr).toContain(`delete ${join(dataDir, 'MOVED')} to use this instance instead`)
  // Commands that change the moved file are refused too, because nothing reads it any more.
  for (const command of [
    ['setup', '--email', 'late@example.com'],
    ['reset-password', '--email', 'late@example.com'],
  ])
    expect(await souk(command, dataDir, { settings: s3.settings, stdin: `${crypto.randomUUID()}\n` })).toEqual(
      refusedWith('moved to PostgreSQL'),
    )
  // A repeated command reports that the move is complete. A failure afterwards leaves the old instance closed.
  const repeated = await souk(['move', '--to', target.url], dataDir, { settings: s3.settings })
  expect(repeated).toEqual(refusedWith('This instance was already moved'))
  const wrongLogin = target.url.replace('souk@', 'nobody@')
  expect(await souk(['move', '--to', wrongLogin], dataDir, { settings: s3.settings })).toMatchObject({ status: 1 })
  expect(existsSync(join(dataDir, 'MOVED'))).toBe(true)
  expect(moved.stdout).toContain('1 document of loan applications copied to the bucket')
  expect(statSync(envFile).mode & 0o777).toBe(0o600)
  const settings = Object.fromEntries(
    readFileSync(envFile, 'utf8')
      .trim()
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )
  expect(settings).toMatchObject({ DATABASE_URL: target.url })
  for (const secret of [settings['JWT_SECRET'], settings['ENCRYPTION_KEY']]) expect(moved.stdout).not.toContain(secret)
  // The target works on another machine, without the files of the first one.
  const otherDir = temporaryDir()
  const checked = await souk(['check'], otherDir, { settings: { ...settings, ...s3.settings } })
  expect(checked).toMatchObject({ status: 0, stderr: '' })
  expect(checked.stdout).toContain('ok    documents\n')
  expect(s3.objects.size).toBe(1)

  const { DATABASE_URL: url = '', ...secrets } = settings
  const app = await testApp(secrets, { database: { url, dataDir: otherDir, drop: target.drop }, realPasswords: true, startAt: Date.now() })
  const login = ok(await app.call('POST', '/merchant/login', { body: merchantLogin }))
  const { token } = { token: login.body.data.accessToken as string }
  expect(ok(await app.call('GET', '/shops/v2/private-key', { token })).body.privateKey).toBe(privateKey)
  // Every process knows the session and opens the keys.
  const otherProcess = await testApp(secrets, {
    database: { url, dataDir: otherDir, drop: target.drop },
    as: 'command',
    startAt: Date.now(),
  })
  expect(ok(await otherProcess.call('GET', '/shops/v2/private-key', { token })).body.privateKey).toBe(privateKey)
  await otherProcess.close()
  const results = ok(await app.call('GET', '/product-v2/public/shop/a-shop?q=cafe%20mug')).body
  const variantId: string = results.data[0].variants[0].id
  const { publishableKey: key } = ok(await app.call('GET', '/shops/v2/public/name/a-shop')).body
  const cart = ok(await app.call('POST', '/cart', { key, body: { email: 'guest@example.com' } })).body.id
  ok(await app.call('POST', `/cart/${cart}/items`, { key, body: { variantId, quantity: 1 } }))
  const { body } = ok(
    await app.call('POST', `/cart/${cart}/checkout`, {
      key,
      body: { method: 'card' },
      headers: { 'idempotency-key': crypto.randomUUID() },
    }),
    201,
  )
  expect(body.order).toMatchObject({ status: 'CONFIRMED', number: 1 })
  await app.close()
  await target.drop()
})

onPostgres('of two concurrent moves into one database, one succeeds and the other is refused', async () => {
  const { dataDir } = createFullDatabase()
  const other = temporaryDir()
  cpSync(dataDir, other, { recursive: true, preserveTimestamps: true })
  const target = await emptyPostgres()
  const outcomes = await Promise.all([dataDir, other].map((from) => souk(['move', '--to', target.url], from, { settings: keys })))
  expect(outcomes.map(({ status }) => status).sort()).toEqual([0, 1])
  expect(outcomes.find(({ status }) => status === 1)?.stderr).toContain('Not moved: another `souk move` is at work')
  expect(await souk(['move', '--to', target.url], dataDir, { settings: keys })).toMatchObject({ status: 1 })
  await target.drop()
})

onPostgres('an instance whose move was killed at its end is not served, and the move can be continued', async () => {
  const { dataDir } = createFullDatabase()
  const target = await emptyPostgres()
  await using client = await connect(target.url)
  await client.query(`CREATE FUNCTION stops() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
    IF EXISTS (SELECT FROM pg_event_trigger_dropped_objects() WHERE object_name = 'souk_move') THEN
      PERFORM pg_sleep(1);
      RAISE EXCEPTION 'not now';
    END IF;
  END $$`)
  await client.query('CREATE EVENT TRIGGER stops ON sql_drop EXECUTE FUNCTION stops()')
  const moving = startCommand(['move', '--to', target.url], dataDir, keys)
  const isAtEnd = async () =>
    (
      await client.query(
        "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'DROP TABLE souk_move%' AND state = 'active' AND datname = current_database()",
      )
    ).rowCount === 1
  while (!(await isAtEnd())) await pause()
  moving.kill('SIGKILL')
  await moving.exited
  expect(await souk(['serve'], dataDir, { settings: keys })).toEqual(refusedWith('moved to PostgreSQL'))
  while (await isAtEnd()) await pause()
  // The move continues; if no process was admitted to the target, the instance is unchanged.
  expect(await souk(['move', '--to', target.url], dataDir, { settings: keys })).toMatchObject({ status: 1, stdout: '' })
  expect(existsSync(join(dataDir, 'MOVED'))).toBe(false)
  await client.query('DROP EVENT TRIGGER stops')
  expect(await souk(['move', '--to', target.url], dataDir, { settings: keys })).toMatchObject({ status: 0, stderr: '' })
  expect(existsSync(join(dataDir, 'MOVED'))).toBe(true)
  await client.end()
  await target.drop()
})

onPostgres('souk move refuses invalid data and a target that is not empty before it copies anything', async () => {
  const { dataDir, file } = createFullDatabase()
  const target = await emptyPostgres()
  const move = () => souk(['move', '--to', target.url], dataDir, { settings: keys })
  const [last] = sqliteMigrations.slice(-1)
  const deletedMigration = withFile(
    file,
    (db) => db.query('DELETE FROM souk_migrations WHERE tag = ? RETURNING applied_at AS at').get(last?.tag ?? '') as { at: number },
  )
  expect(await move()).toEqual(refusedWith(`The database is older than this version (missing: ${last?.tag}`))
  withFile(file, (db) => db.query('INSERT INTO souk_migrations VALUES (?, ?)').run(last?.tag ?? '', deletedMigration.at))

  const lock = lockDataDir(dataDir)
  expect(await move()).toEqual(refusedWith(`souk is running on ${dataDir}. Stop it first`))
  lock?.release()
  expect(await souk(['move', '--to', 'postgres://souk@127.0.0.1:1/nowhere'], dataDir, { settings: keys })).toEqual(
    refusedWith("doesn't answer"),
  )
  expect(await souk(['move', '--to', 'mysql://one/shop'], dataDir, { settings: keys })).toMatchObject({ status: 2 })

  withFile(file, (db) => db.query("UPDATE products SET tags = 'none' WHERE rowid = 1").run())
  const badJson = await emptyPostgres()
  expect(await souk(['move', '--to', badJson.url], dataDir, { settings: keys })).toEqual(refusedWith('is not valid JSON'))
  await badJson.drop()
  withFile(file, (db) => db.query("UPDATE products SET tags = '[]' WHERE rowid = 1").run())

  await using client = await connect(target.url)
  await client.query('create table theirs (id int)')
  expect(await move()).toEqual(refusedWith('the target is not empty: it has a table theirs'))
  await client.query('drop table theirs')

  withFile(file, (db) => {
    db.query("UPDATE shops SET title = 'a' || char(0) || 'b' WHERE rowid = 2").run()
    // Invalid UTF-8: an incomplete character, a lone surrogate, and a continuation byte.
    for (const [rowid, bytes] of ['c3', '61eda080', '80'].entries())
      db.query(`UPDATE products SET title = cast(x'${bytes}' AS TEXT) WHERE rowid = ${rowid + 1}`).run()
    db.query('UPDATE variants SET weight_grams = 3000000000 WHERE rowid = 1').run()
    db.query('UPDATE variants SET taxable = 2 WHERE rowid = 3').run()
    db.run('PRAGMA foreign_keys = OFF')
    db.query("UPDATE affiliate_clicks SET affiliate_id = 'nobody' WHERE rowid = 1").run()
  })
  const { stderr } = await move()
  for (const problem of [
    'affiliate_clicks.affiliate_id refers to rows of affiliates that are not there, in rowid 1',
    'products.title holds bytes that are no text (UTF-8), in rowid 1, 2, 3',
    'shops.title holds NUL characters, which PostgreSQL does not take, in rowid 2',
    'variants.weight_grams is too large for its column there, in rowid 1',
    'variants.taxable is neither true nor false, in rowid 3',
  ])
    expect(stderr).toContain(`  - ${problem}\n`)
  expect((await client.query('select 1 from shops')).rows).toEqual([])
  // After the repair it is moved into the same database, which is still empty.
  withFile(file, (db) => {
    db.query("UPDATE shops SET title = 'ab' WHERE rowid = 2").run()
    db.query('UPDATE variants SET weight_grams = 1, taxable = 1').run()
    db.query("UPDATE products SET title = 'é ' || rowid").run()
    db.query('UPDATE affiliate_clicks SET affiliate_id = (SELECT id FROM affiliates LIMIT 1) WHERE rowid = 1').run()
  })
  expect(await move()).toMatchObject({ status: 0 })
  await client.end()
  await target.drop()
})

onPostgres('souk move refuses tables or columns that only one of the databases has', () => {
  const table = (name: string, ...columns: string[]) => ({ name, columns, parents: [], rows: 0 })
  const targetRows = (...tables: [string, [string, string][]][]) => new Map(tables.map(([name, columns]) => [name, new Map(columns)]))
  const source = { tables: [table('a', 'id', 'at'), table('b', 'id')] }
  expect(() =>
    planOf(
      source,
      targetRows(
        [
          'a',
          [
            ['id', 'text'],
            ['at', 'jsonb'],
            ['more', 'text'],
          ],
        ],
        ['c', [['id', 'text']]],
      ),
    ),
  ).toThrow(
    "some tables can't be moved: the source has no table c; the target has no table b; the source has no column a.more; a.at is of the type jsonb; the target has no column b.id",
  )
})
