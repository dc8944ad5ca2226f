/** Gives each test a migrated database: a copy of a SQLite file, or a PostgreSQL database that later tests reuse. */
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { engine } from '../../db/columns.ts'
import { postgresMigrations, sqliteMigrations } from '../../db/migrations/index.ts'
import { openDatabase } from '../../db/open.ts'
import { migratePostgres } from '../../db/postgres/migrate.ts'
import { migrateSqlite } from '../../db/sqlite/migrate.ts'
import { restingName } from './session-pooler.ts'

export type TestDatabase = { url: string; dataDir: string; drop(): Promise<void> }

const serverUrl = Bun.env['TEST_DATABASE_URL'] ?? ''
/**
 * Port of the pooler that reuses sessions between tests (test/support/session-pooler.ts); set in a run of the suite.
 */
const poolerPort = Bun.env['SOUK_TEST_POOLER']
/** Name prefix of the databases that a run of the suite drops at its end. */
const run = Bun.env['SOUK_TEST_RUN']
/** Name prefix of this process's databases. Random, because an earlier process with the same id may have left some. */
const namePrefix = `${run ?? 'souk_test'}_${process.pid}_${crypto.randomUUID().slice(0, 8)}`
let createdCount = 0

/** Creates an empty directory, which is removed after the tests of the file. */
export function temporaryDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'souk-test-'))
  directories.add(dir)
  return dir
}
const directories = new Set<string>()

/**
 * Removes directories and databases after each test file, because a worker runs no code at its own end. In a run of the
 * suite the databases stay for the next file: test/run.ts drops them.
 */
export async function cleanUp(): Promise<void> {
  for (const dir of directories) rmSync(dir, { recursive: true, force: true })
  directories.clear()
  if (run !== undefined) return
  idle.length = 0
  for (const one of reusedDatabases.splice(0)) await closeAndDrop(one)
  const client = administrator
  administrator = undefined
  await (await client)?.end()
}

export async function testDatabase(): Promise<TestDatabase> {
  if (engine === 'postgres') return lendDatabase()
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
 * Returns the name of a migrated PostgreSQL database that all workers and later runs with the same migrations copy. The
 * first worker creates it while the others wait for the lock, and renames it when it is complete.
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

/**
 * Returns the fastest copy option. Since version 15, servers copy by the log by default, which takes three times as
 * long.
 */
function copyOption(): Promise<string> {
  copyOptionPromise ??= (async () => {
    const [server] = await administer<{ server_version_num: string }>('SHOW server_version_num')
    return Number(server?.server_version_num) >= 150_000 ? 'STRATEGY FILE_COPY' : ''
  })()
  return copyOptionPromise
}
let copyOptionPromise: Promise<string> | undefined

async function createCopy(source: string): Promise<string> {
  const name = `${namePrefix}_${createdCount++}`
  await administer(`CREATE DATABASE ${name} TEMPLATE ${source} ${await copyOption()}`)
  return name
}

const dropDatabase = (name: string) => administer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`).then(() => undefined)

/** Copies a database. Nothing may write to the source any more; on SQLite it must be closed. */
export async function copyOf(source: TestDatabase): Promise<TestDatabase> {
  if (engine === 'postgres') {
    const contents = contentsBySource.get(source) ?? contentsOf(source.url)
    contentsBySource.set(source, contents)
    return lendDatabase(await contents)
  }
  const copy = await testDatabase()
  for (const suffix of ['', '-wal']) {
    const file = join(source.dataDir, `souk.db${suffix}`)
    if (existsSync(file)) copyFileSync(file, join(copy.dataDir, `souk.db${suffix}`))
  }
  return copy
}
const contentsBySource = new WeakMap<TestDatabase, Promise<Contents>>()

/** A reused database, the connection that fills it, and the hash of its original tables and settings. */
type ReusedDatabase = { name: string; client: pg.Client; isLost: boolean; shape: string; isNew: boolean }
const reusedDatabases: ReusedDatabase[] = []
const idle: ReusedDatabase[] = []

/**
 * Returns a database with the wanted rows. Refilling a used database takes a third of the time of creating and dropping
 * one.
 * @param wanted the rows; by default those of a migrated database
 */
async function lendDatabase(wanted?: Contents): Promise<TestDatabase> {
  const one = (await takeIdleDatabase()) ?? (await createReusedDatabase())
  migratedContents ??= await contentsOf(urlOf(one.name))
  if (wanted && one.isNew) await empty(one)
  if (wanted || !one.isNew) await refill(one.client, wanted ?? migratedContents)
  one.isNew = false
  return { url: pooledUrlOf(one.name), dataDir: temporaryDir(), drop: async () => void idle.push(one) }
}
/** Rows of a migrated database before any write. */
let migratedContents: Contents | undefined

async function createReusedDatabase(): Promise<ReusedDatabase> {
  const name = await createCopy(await postgresTemplate())
  const client = await connectTo(urlOf(name))
  const one = { name, client, isLost: false, shape: (await inspectDatabase(client)).shape, isNew: true }
  watch(one)
  reusedDatabases.push(one)
  return one
}

/** Notes when a test ends the database's connection. */
function watch(one: ReusedDatabase): void {
  one.client.on('error', () => {
    one.isLost = true
  })
}

async function closeAndDrop({ name, client }: ReusedDatabase): Promise<void> {
  await client.end().catch(() => undefined)
  await dropDatabase(name)
}

type Contents = readonly { name: string; columns: string; rows: string }[]

/** Returns the rows of a PostgreSQL database by table as JSON, and the columns that are not generated. */
async function contentsOf(url: string): Promise<Contents> {
  const client = await connectTo(url)
  try {
    const { rows: tables } = await client.query<{ name: string; columns: string }>(`
      select c.oid::regclass::text as name, string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
      where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace group by c.oid`)
    const all = tables.map(({ name }) => `select '${name}' as name, json_agg(t)::text as rows from ${name} t`).join(' union all ')
    const { rows: tableRows } = await client.query<{ name: string; rows: string | null }>(all)
    const columns = new Map(tables.map((table) => [table.name, table.columns]))
    return tableRows.flatMap(({ name, rows }) => (rows === null ? [] : { name, rows, columns: columns.get(name) ?? '' }))
  } finally {
    await client.end()
  }
}

/** Disables triggers and foreign-key checks, as the server does to restore a dump. */
const withoutTriggers = 'set local session_replication_role = replica;'
/** Tables of more bytes are vacuumed, because the server would scan their deleted rows. */
const vacuumMinBytes = 64 * 1024

/** Returns an idle database without rows. Drops those whose tables, triggers or settings were changed. */
async function takeIdleDatabase(): Promise<ReusedDatabase | undefined> {
  const one = idle.pop()
  if (!one) return undefined
  if (one.isLost) {
    Object.assign(one, { client: await connectTo(urlOf(one.name)), isLost: false })
    watch(one)
  }
  if (await empty(one)) return one
  reusedDatabases.splice(reusedDatabases.indexOf(one), 1)
  await closeAndDrop(one)
  return takeIdleDatabase()
}

/** Number of checks within which closed connections normally disappear. */
const closeChecksMax = 20

/** Deletes all rows. Returns false without changes if the tables or settings differ from the original ones. */
async function empty({ client, shape }: ReusedDatabase): Promise<boolean> {
  // No connection of a stopped test may write later. (With its timeout argument, the server polls only ten times a
  // second.)
  const others = `from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and application_name <> '${restingName}'`
  const isAlone = async () => (await client.query(`select 1 ${others}`)).rowCount === 0
  // Waits briefly first: a connection that was just closed becomes a reusable session of the pooler.
  for (let looks = 0; looks < closeChecksMax && !(await isAlone()); looks++) await Bun.sleep(2)
  while (!(await isAlone())) await client.query(`select pg_terminate_backend(pid) ${others}`)
  const found = await inspectDatabase(client)
  if (found.shape !== shape) return false
  await client.query(['begin;', withoutTriggers, ...found.used.map(({ name }) => `delete from ${name};`), 'commit'].join('\n'))
  const large = found.used.flatMap(({ name, bytes }) => (bytes > vacuumMinBytes ? name : []))
  if (large.length > 0) await client.query(`vacuum ${large.join(', ')}`)
  return true
}

type Inspection = { shape: string; used: { name: string; bytes: number }[] }

/** Returns a hash of tables, triggers and settings, and the tables that contain or contained rows. */
async function inspectDatabase(client: pg.Client): Promise<Inspection> {
  const { rows } = await client.query<Inspection>(`
    select md5(concat(
        (select string_agg(concat(relname, relnatts, relchecks, relrowsecurity), ' ' order by relname) from pg_class where relnamespace = 'public'::regnamespace),
        (select string_agg(concat(tgname, tgenabled), ' ' order by tgname, tgrelid) from pg_trigger where not tgisinternal),
        (select string_agg(setconfig::text, ' ' order by setrole) from pg_db_role_setting s join pg_database d on d.oid = setdatabase where datname = current_database())
      )) as shape,
      (select coalesce(json_agg(json_build_object('name', oid::regclass::text, 'bytes', pg_relation_size(oid))), '[]') from pg_class
        where relkind = 'r' and relnamespace = 'public'::regnamespace and pg_relation_size(oid) > 0) as used`)
  return rows[0] as Inspection
}

/** Inserts rows into an empty database. */
async function refill(client: pg.Client, contents: Contents): Promise<void> {
  const filling = contents.map(
    ({ name, columns, rows }) =>
      `insert into ${name} (${columns}) select ${columns} from json_populate_recordset(null::${name}, ${client.escapeLiteral(rows)});`,
  )
  await client.query(['begin;', withoutTriggers, ...filling, 'commit'].join('\n'))
}

/** Creates a PostgreSQL database without tables. */
export async function emptyPostgres(): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `${namePrefix}_empty_${createdCount++}`
  await administer(`CREATE DATABASE ${name}`)
  return { url: urlOf(name), drop: () => dropDatabase(name) }
}

/** Opens a new migrated database without the rest of the program. */
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

/** Returns the URL that bypasses the pooler, so that each session is new and has the current settings. */
export const unpooledUrl = (url: string): string => urlOf(new URL(url).pathname.slice(1))

/** Returns the URL of a test's database, through the pooler if it runs. */
function pooledUrlOf(database: string): string {
  const url = new URL(urlOf(database))
  if (poolerPort !== undefined) url.host = `127.0.0.1:${poolerPort}`
  return url.href
}

/** The connection that creates and drops databases. Opening one each time would cost as much as a copy. */
let administrator: Promise<pg.Client> | undefined

async function administer<Row extends pg.QueryResultRow>(statement: string): Promise<Row[]> {
  administrator ??= connectTo(serverUrl)
  return (await (await administrator).query<Row>(statement)).rows
}

async function connectTo(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return client
}
