/** A migrated database of its own for every test: a copied file, or on Postgres a copied database. */
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
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
let made = 0

/** An empty directory that is gone when the tests have run. */
export function temporaryDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'souk-test-'))
  directories.add(dir)
  return dir
}
const directories = new Set<string>()

/** Removes what the tests left: called once, when all have run (the runner fires no exit event). */
export async function cleanUp(): Promise<void> {
  for (const dir of directories) rmSync(dir, { recursive: true, force: true })
  if (postgresTemplate) await administer(`DROP DATABASE IF EXISTS ${await postgresTemplate} WITH (FORCE)`)
}

let sqliteTemplate: string | undefined
let postgresTemplate: Promise<string> | undefined

export async function testDatabase(): Promise<TestDatabase> {
  return engine === 'sqlite' ? copiedFile(temporaryDir()) : copiedDatabase()
}

function copiedFile(dataDir: string): TestDatabase {
  if (!sqliteTemplate || !existsSync(sqliteTemplate)) {
    sqliteTemplate = join(temporaryDir(), 'template.db')
    migrateSqlite(sqliteTemplate, sqliteMigrations, { backups: dataDir, now: 0 })
  }
  const file = join(dataDir, 'souk.db')
  copyFileSync(sqliteTemplate, file)
  return { url: `file:${file}`, dataDir, drop: async () => rmSync(dataDir, { recursive: true, force: true }) }
}

async function copiedDatabase(): Promise<TestDatabase> {
  postgresTemplate ??= makeTemplate()
  return databaseLike(await postgresTemplate)
}

let copying: Promise<string> | undefined

/** From 15 on, a server copies a small database by its log unless told otherwise, which takes some three times as long. */
function howToCopy(): Promise<string> {
  copying ??= (async () => {
    const client = new pg.Client({ connectionString: serverUrl })
    await client.connect()
    try {
      const { rows } = await client.query<{ server_version_num: string }>('SHOW server_version_num')
      return Number(rows[0]?.server_version_num) >= 150_000 ? 'STRATEGY FILE_COPY' : ''
    } finally {
      await client.end()
    }
  })()
  return copying
}

async function databaseLike(template: string): Promise<TestDatabase> {
  const name = `${await postgresTemplate}_${made++}`
  await administer(`CREATE DATABASE ${name} TEMPLATE ${template} ${await howToCopy()}`)
  return { url: urlOf(name), dataDir: temporaryDir(), drop: () => administer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) }
}

/** A second database that holds the same. Nobody may have the first one open. */
export async function copyOf({ url, dataDir }: TestDatabase): Promise<TestDatabase> {
  if (engine === 'postgres') return databaseLike(new URL(url).pathname.slice(1))
  const copy = await testDatabase()
  for (const suffix of ['', '-wal']) {
    const file = join(dataDir, `souk.db${suffix}`)
    if (existsSync(file)) copyFileSync(file, join(copy.dataDir, `souk.db${suffix}`))
  }
  return copy
}

/** An empty Postgres database, without a single table. */
export async function emptyPostgres(): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `souk_empty_${process.pid}_${made++}`
  await administer(`CREATE DATABASE ${name}`)
  return { url: urlOf(name), drop: () => administer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) }
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

async function makeTemplate(): Promise<string> {
  const name = `souk_test_${process.pid}_${Bun.hash(import.meta.path + performance.timeOrigin).toString(36)}`
  await administer(`CREATE DATABASE ${name}`)
  await migratePostgres(urlOf(name), postgresMigrations, 0)
  return name
}

function urlOf(database: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${database}`
  return url.href
}

async function administer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
