/** A migrated database of its own for every test: a file of the same bytes, or on Postgres a copied database. */
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { engine } from '../../db/columns.ts'
import { postgresMigrations, sqliteMigrations } from '../../db/migrations/index.ts'
import { openDatabase } from '../../db/open.ts'
import { migratePostgres } from '../../db/postgres/migrate.ts'
import { migrateSqlite } from '../../db/sqlite/migrate.ts'

export type TestDatabase = { url: string; dataDir: string; drop(): Promise<void> }

const serverUrl = Bun.env['TEST_DATABASE_URL'] ?? ''
/** Databases of this process: a process of an earlier run may have had its number, and left some. */
const ours = `${process.pid}_${crypto.randomUUID().slice(0, 8)}`
let made = 0

/** An empty directory that is gone when the file's tests have run. */
export function temporaryDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'souk-test-'))
  directories.add(dir)
  return dir
}
const directories = new Set<string>()

/** Removes what the tests of a file left: called after each file, because a worker that runs many ends without a word. */
export async function cleanUp(): Promise<void> {
  for (const dir of directories) rmSync(dir, { recursive: true, force: true })
  directories.clear()
  idle.length = 0
  for (const { client, database } of kept.splice(0)) {
    await client.end()
    await database.drop()
  }
  const client = administrator
  administrator = undefined
  await (await client)?.end()
}

export async function testDatabase(): Promise<TestDatabase> {
  if (engine === 'postgres') return databaseLike(await postgresTemplate())
  const dataDir = temporaryDir()
  const file = join(dataDir, 'souk.db')
  sqliteTemplate ??= migratedSqlite(temporaryDir())
  writeFileSync(file, sqliteTemplate)
  return { url: `file:${file}`, dataDir, drop: async () => rmSync(dataDir, { recursive: true, force: true }) }
}

let sqliteTemplate: Uint8Array | undefined

function migratedSqlite(dir: string): Uint8Array {
  const file = join(dir, 'template.db')
  migrateSqlite(file, sqliteMigrations, { backups: dir, now: 0 })
  return readFileSync(file)
}

/**
 * A migrated Postgres database, kept on the server for every worker and for the next run with the same migrations. The workers
 * know nothing of each other: the first one makes it while the others wait for the lock, and names it when it is whole.
 */
function postgresTemplate(): Promise<string> {
  template ??= (async () => {
    const name = `souk_template_${Bun.hash(JSON.stringify(postgresMigrations) + migratePostgres).toString(36)}`
    await administer('SELECT pg_advisory_lock(736285)')
    try {
      if ((await administer(`SELECT 1 FROM pg_database WHERE datname = '${name}'`)).length > 0) return name
      await dropDatabase(`${name}_new`)
      await administer(`CREATE DATABASE ${name}_new`)
      await migratePostgres(urlOf(`${name}_new`), postgresMigrations, 0)
      await administer(`ALTER DATABASE ${name}_new RENAME TO ${name}`)
      return name
    } finally {
      await administer('SELECT pg_advisory_unlock(736285)')
    }
  })()
  return template
}
let template: Promise<string> | undefined

/** From 15 on, a server copies a small database by its log unless told otherwise, which takes some three times as long. */
function howToCopy(): Promise<string> {
  copying ??= (async () => {
    const [server] = await administer<{ server_version_num: string }>('SHOW server_version_num')
    return Number(server?.server_version_num) >= 150_000 ? 'STRATEGY FILE_COPY' : ''
  })()
  return copying
}
let copying: Promise<string> | undefined

async function databaseLike(source: string): Promise<TestDatabase> {
  const name = `souk_test_${ours}_${made++}`
  await administer(`CREATE DATABASE ${name} TEMPLATE ${source} ${await howToCopy()}`)
  return { url: urlOf(name), dataDir: temporaryDir(), drop: () => dropDatabase(name) }
}

const dropDatabase = (name: string) => administer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`).then(() => undefined)

/** A second database that holds the same. Nobody may have the first one open. */
export async function copyOf({ url, dataDir }: Pick<TestDatabase, 'url' | 'dataDir'>): Promise<TestDatabase> {
  if (engine === 'postgres') return databaseLike(new URL(url).pathname.slice(1))
  const copy = await testDatabase()
  for (const suffix of ['', '-wal']) {
    const file = join(dataDir, `souk.db${suffix}`)
    if (existsSync(file)) copyFileSync(file, join(copy.dataDir, `souk.db${suffix}`))
  }
  return copy
}

/** A database that is lent again and again, and the connection on which it is filled. */
type Kept = { database: TestDatabase; client: pg.Client }
const kept: Kept[] = []
const idle: Kept[] = []

/**
 * The same, where many are wanted one after another: on Postgres one that was dropped before holds, to the row, what is to be copied
 * instead of what it held, which takes a third of the time of making one and dropping it. Nobody may write to the first one any more.
 */
export async function lentCopyOf(source: TestDatabase): Promise<TestDatabase> {
  if (engine === 'sqlite') return copyOf(source)
  const one = idle.pop() ?? (await keptDatabase())
  const contents = known.get(source) ?? contentsOf(source.url)
  known.set(source, contents)
  await refill(one.client, await contents)
  return { url: one.database.url, dataDir: temporaryDir(), drop: async () => void idle.push(one) }
}
const known = new WeakMap<TestDatabase, ReturnType<typeof contentsOf>>()

async function keptDatabase(): Promise<Kept> {
  const database = await testDatabase()
  const one = { database, client: await connected(database.url) }
  kept.push(one)
  return one
}

/** The rows of a Postgres database by table, as JSON, and the columns that are written: what is generated follows from them. */
async function contentsOf(url: string): Promise<{ name: string; columns: string; rows: string }[]> {
  const client = await connected(url)
  try {
    const { rows: tables } = await client.query<{ name: string; columns: string }>(`
      select c.oid::regclass::text as name, string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
      where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace group by c.oid`)
    const all = tables.map(({ name }) => `select '${name}' as name, json_agg(t)::text as rows from ${name} t`).join(' union all ')
    const { rows: held } = await client.query<{ name: string; rows: string | null }>(all)
    const columns = new Map(tables.map((table) => [table.name, table.columns]))
    return held.flatMap(({ name, rows }) => (rows === null ? [] : { name, rows, columns: columns.get(name) ?? '' }))
  } finally {
    await client.end()
  }
}

/** As the server restores a dump: no trigger fires, and no reference is looked up. */
async function refill(client: pg.Client, contents: Awaited<ReturnType<typeof contentsOf>>): Promise<void> {
  // Of whoever was killed, or stopped for good, nothing may come any more. (Told to wait, the server looks ten times a second.)
  let others: number | null = 1
  while (others) {
    const ending = 'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()'
    others = (await client.query(ending)).rowCount
  }
  const { rows: used } = await client.query<{ name: string }>(`
    select oid::regclass::text as name from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace and pg_relation_size(oid) > 0`)
  const emptying = used.map(({ name }) => `delete from ${name};`)
  const filling = contents.map(
    ({ name, columns, rows }) =>
      `insert into ${name} (${columns}) select ${columns} from json_populate_recordset(null::${name}, ${client.escapeLiteral(rows)});`,
  )
  await client.query(['begin; set local session_replication_role = replica;', ...emptying, ...filling, 'commit'].join('\n'))
}

/** An empty Postgres database, without a single table. */
export async function emptyPostgres(): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `souk_empty_${ours}_${made++}`
  await administer(`CREATE DATABASE ${name}`)
  return { url: urlOf(name), drop: () => dropDatabase(name) }
}

/** A migrated database of its own, opened without the rest of the program. */
export async function openTestDatabase() {
  const { url, dataDir, drop } = await testDatabase()
  const { db } = await openDatabase({ url, dataDir, as: 'server', now: 0, random: Math.random })
  return {
    db,
    url,
    dataDir,
    async [Symbol.asyncDispose]() {
      await db.close()
      await drop()
    },
  }
}

function urlOf(database: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${database}`
  return url.href
}

/** The connection on which databases are made and dropped: opening one each time costs as much as the copy itself. */
let administrator: Promise<pg.Client> | undefined

async function administer<Row extends pg.QueryResultRow>(statement: string): Promise<Row[]> {
  administrator ??= connected(serverUrl)
  return (await (await administrator).query<Row>(statement)).rows
}

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return client
}
