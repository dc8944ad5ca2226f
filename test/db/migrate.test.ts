/** Tests the migration runner, and that both migration trees match the schema. */
import { Database as Sqlite } from 'bun:sqlite'
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import pg from 'pg'
import { engine } from '../../db/columns.ts'
import { DatabaseRefused } from '../../db/engine.ts'
import { postgresMigrations, sqliteMigrations } from '../../db/migrations/index.ts'
import type { Migration } from '../../db/migrations/pending.ts'
import { migratePostgres } from '../../db/postgres/migrate.ts'
import { migrateSqlite } from '../../db/sqlite/migrate.ts'
import { emptyPostgres, temporaryDir } from '../support/database.ts'
import { startChild } from '../support/process.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const root = join(import.meta.dir, '..', '..')
const first: Migration = {
  tag: '0000_first',
  statements:
    'CREATE TABLE parents (id text PRIMARY KEY NOT NULL);--> statement-breakpoint\nCREATE TABLE children (id text PRIMARY KEY NOT NULL, parent text NOT NULL REFERENCES parents(id) ON DELETE CASCADE);',
}
const second: Migration = { tag: '0001_second', statements: 'ALTER TABLE parents ADD COLUMN name text;' }
const third: Migration = { tag: '0002_third', statements: 'ALTER TABLE parents RENAME COLUMN name TO title;' }
const failing: Migration = {
  tag: '0002_failing',
  statements: 'ALTER TABLE parents ADD COLUMN kept text;--> statement-breakpoint\nALTER TABLE nowhere ADD COLUMN lost text;',
}
const manyRows =
  'SELECT randomblob(1000) AS bytes FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT i FROM n)'
/** Creates a migration that takes long after its first change. */
const longMigration = (of: 'SQLite' | 'Postgres'): Migration => ({
  tag: '0002_long',
  statements: `ALTER TABLE parents ADD COLUMN half text;--> statement-breakpoint\n${of === 'SQLite' ? `CREATE TABLE more AS ${manyRows};--> statement-breakpoint\nCREATE TABLE evenmore AS ${manyRows};` : 'SELECT pg_sleep(1);'}`,
})
const messageOf = (run: () => unknown): string => {
  try {
    run()
    return 'done'
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`
  }
}
const withFile = <T>(file: string, read: (connection: Sqlite) => T): T => {
  const connection = new Sqlite(file, { create: true })
  try {
    return read(connection)
  } finally {
    connection.close()
  }
}

describe.skipIf(engine !== 'sqlite')('migrating a SQLite file', () => {
  const newFile = () => {
    const dir = temporaryDir()
    return { file: join(dir, 'souk.db'), options: { backups: join(dir, 'backups'), now: 1 } }
  }
  const columnsOf = (file: string) =>
    withFile(file, (connection) =>
      connection
        .query<{ name: string }, []>("SELECT name FROM pragma_table_info('parents')")
        .all()
        .map(({ name }) => name),
    )

  test('migrating a SQLite file runs missing migrations in order, once', () => {
    const { file, options } = newFile()
    expect(migrateSqlite(file, [first, second], options)).toEqual({ applied: ['0000_first', '0001_second'], backup: undefined })
    expect(migrateSqlite(file, [first, second], options)).toEqual({ applied: [], backup: undefined })
    expect(migrateSqlite(file, [first, second, third], options).applied).toEqual(['0002_third'])
    expect(columnsOf(file)).toEqual(['id', 'title'])
  })

  test('migrating a SQLite file copies an existing file before it changes it', () => {
    const { file, options } = newFile()
    migrateSqlite(file, [first], options)
    withFile(file, (connection) => connection.run("INSERT INTO parents VALUES ('kept')"))
    const { backup } = migrateSqlite(file, [first, second], options)
    expect(backup).toContain('before-0001_second')
    expect(columnsOf(backup ?? '')).toEqual(['id'])
    withFile(backup ?? '', (connection) => {
      expect(connection.query('SELECT id FROM parents').all()).toEqual([{ id: 'kept' }])
      expect(connection.query('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
    })
    expect(readdirSync(options.backups).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })

  test('migrating a SQLite file rolls back a failed migration and keeps the ones before it', () => {
    const { file, options } = newFile()
    expect(messageOf(() => migrateSqlite(file, [first, second, failing], options))).toContain('nowhere')
    expect(columnsOf(file)).toEqual(['id', 'name'])
    expect(migrateSqlite(file, [first, second, third], options).applied).toEqual(['0002_third'])
  })

  test('a killed migration of a SQLite file keeps the existing data, and the next start completes it', async () => {
    const { file, options } = newFile()
    migrateSqlite(file, [first], options)
    withFile(file, (connection) => {
      connection.run("INSERT INTO parents VALUES ('kept')")
      connection.run(`CREATE TABLE ballast AS ${manyRows}`)
    })
    const sizeOf = (path: string) => (existsSync(path) ? statSync(path).size : 0)
    const moments = [
      () => existsSync(options.backups) && readdirSync(options.backups).some((name) => name.endsWith('.tmp')),
      () => Math.max(sizeOf(`${file}-wal`), sizeOf(`${file}-journal`)) > 1_000_000,
    ]
    for (const isReached of moments) {
      await using child = startChild('migrate-until-killed.ts', [
        file,
        options.backups,
        JSON.stringify([first, second, longMigration('SQLite')]),
      ])
      while (!isReached()) await new Promise((resume) => setImmediate(resume))
      child.kill()
      expect(await child.exited).not.toBe(0)
      expect(columnsOf(file).length).toBeLessThan(3)
      withFile(file, (connection) => {
        expect(connection.query('SELECT id FROM parents').all()).toEqual([{ id: 'kept' }])
        expect(connection.query('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
      })
    }
    migrateSqlite(file, [first, second, third], options)
    expect(columnsOf(file)).toEqual(['id', 'title'])
    expect(readdirSync(options.backups).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })

  test('migrating a SQLite file rebuilds a table without losing rows that refer to it', () => {
    const { file, options } = newFile()
    migrateSqlite(file, [first], options)
    withFile(file, (connection) => {
      connection.run("INSERT INTO parents VALUES ('p')")
      connection.run("INSERT INTO children VALUES ('c', 'p')")
    })
    const rebuild = [
      'CREATE TABLE parents_new (id text PRIMARY KEY NOT NULL, extra text)',
      'INSERT INTO parents_new (id) SELECT id FROM parents',
      'DROP TABLE parents',
      'ALTER TABLE parents_new RENAME TO parents',
    ]
    migrateSqlite(file, [first, { tag: '0001_rebuild', statements: rebuild.join(';--> statement-breakpoint\n') }], options)
    expect(withFile(file, (connection) => connection.query('SELECT id FROM children').all())).toEqual([{ id: 'c' }])
  })

  test('migrating a SQLite file refuses a migration that would leave dangling references', () => {
    const { file, options } = newFile()
    migrateSqlite(file, [first], options)
    withFile(file, (connection) => {
      connection.run("INSERT INTO parents VALUES ('p')")
      connection.run("INSERT INTO children VALUES ('c', 'p')")
    })
    expect(messageOf(() => migrateSqlite(file, [first, { tag: '0001_bad', statements: 'DELETE FROM parents' }], options))).toContain(
      'dangling references',
    )
    expect(withFile(file, (connection) => connection.query('SELECT id FROM parents').all())).toEqual([{ id: 'p' }])
  })

  test('migrating a SQLite file refuses a file of a newer version and does not change it', () => {
    const { file, options } = newFile()
    migrateSqlite(file, [first, second], options)
    const before = Bun.hash(readFileSync(file))
    expect(messageOf(() => migrateSqlite(file, [first], options))).toContain('DatabaseRefused: the database was written by a newer version')
    expect(Bun.hash(readFileSync(file))).toBe(before)
  })

  test("migrating a SQLite file refuses another program's database and a file that is not a database, unchanged", () => {
    const { file, options } = newFile()
    withFile(file, (connection) => connection.run('CREATE TABLE theirs (id integer)'))
    const originalHash = Bun.hash(readFileSync(file))
    expect(messageOf(() => migrateSqlite(file, [first], options))).toContain('DatabaseRefused: the file is a database of another program')
    expect(Bun.hash(readFileSync(file))).toBe(originalHash)

    const letter = `${file}.txt`
    const text =
      'a letter, and no database at all; long enough to be read as the header of one, which it then turns out not to be. '.repeat(3)
    writeFileSync(letter, text)
    expect(messageOf(() => migrateSqlite(letter, [first], options))).toContain('DatabaseRefused: the file is not a database')
    expect(readFileSync(letter, 'utf8')).toBe(text)
  })

  test('migrating a SQLite file is refused if mayMigrate is off', () => {
    const { file, options } = newFile()
    migrateSqlite(file, [first], options)
    expect(messageOf(() => migrateSqlite(file, [first, second], { ...options, mayMigrate: false }))).toContain(
      'DatabaseRefused: the database is older than this version',
    )
    expect(columnsOf(file)).toEqual(['id'])
  })

  test('migrating a SQLite file makes every table STRICT and sets the application id', () => {
    const { file, options } = newFile()
    migrateSqlite(file, sqliteMigrations, options)
    withFile(file, (connection) => {
      const loose = connection
        .query<{ name: string }, []>(
          "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND strict = 0 AND name NOT LIKE 'sqlite_%'",
        )
        .all()
      expect(loose).toEqual([])
      const strict = connection
        .query<{ n: number }, []>("SELECT count(*) AS n FROM pragma_table_list WHERE schema = 'main' AND strict = 1")
        .get()
      expect(strict?.n).toBeGreaterThan(10)
      expect(connection.query('PRAGMA application_id').get()).toEqual({ application_id: 0x736f756b })
      expect(connection.query('PRAGMA user_version').get()).toEqual({ user_version: sqliteMigrations.length })
    })
  })
})

describe.skipIf(engine !== 'postgres')('migrating a PostgreSQL database', () => {
  test('migrating a PostgreSQL database runs missing migrations in order, once, and refuses a newer version', async () => {
    const { url, drop } = await emptyPostgres()
    expect(await migratePostgres(url, [first, second], 0)).toEqual(['0000_first', '0001_second'])
    expect(await migratePostgres(url, [first, second], 0)).toEqual([])
    expect(await migratePostgres(url, [first, second, third], 0)).toEqual(['0002_third'])
    expect(await migratePostgres(url, [first], 0).catch((error: unknown) => error)).toBeInstanceOf(DatabaseRefused)
    await drop()
  })

  test('migrating a PostgreSQL database rolls back a failed run', async () => {
    const { url, drop } = await emptyPostgres()
    await migratePostgres(url, [first], 0)
    expect(await migratePostgres(url, [first, second, failing], 0).catch((error: Error) => error.message)).toContain('nowhere')
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const { rows } = await client.query("SELECT column_name FROM information_schema.columns WHERE table_name = 'parents'")
    await client.end()
    expect(rows).toEqual([{ column_name: 'id' }])
    await drop()
  })

  test('a killed migration of a PostgreSQL database keeps the existing data, and the next start completes it', async () => {
    const { url, drop } = await emptyPostgres()
    await migratePostgres(url, [first], 0)
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const asleep = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'"
    await using child = startChild('migrate-until-killed.ts', [url, '', JSON.stringify([first, second, longMigration('Postgres')])])
    while ((await client.query(asleep)).rowCount === 0) await client.query('SELECT pg_stat_clear_snapshot()')
    child.kill()
    expect(await child.exited).not.toBe(0)
    // The server notices the lost connection after its sleep.
    while ((await client.query(asleep)).rowCount !== 0) await client.query('SELECT pg_stat_clear_snapshot()')
    expect(await migratePostgres(url, [first, second, third], 0)).toEqual(['0001_second', '0002_third'])
    await client.end()
    await drop()
  })

  test('migrating a PostgreSQL database fails alone when it loses its connection while waiting for the lock', async () => {
    const { url, drop } = await emptyPostgres()
    await migratePostgres(url, [first], 0)
    const holder = new pg.Client({ connectionString: url })
    await holder.connect()
    await holder.query('BEGIN')
    await holder.query('SELECT tag FROM souk_migrations FOR UPDATE')
    const lost = migratePostgres(url, [first, second], 0).then(
      () => 'done',
      () => 'failed',
    )
    const waiting = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    while ((await holder.query(waiting)).rowCount === 0) await holder.query('SELECT pg_stat_clear_snapshot()')
    expect(await lost).toBe('failed')
    await holder.query('ROLLBACK')
    await holder.end()
    expect(await migratePostgres(url, [first, second], 0)).toEqual(['0001_second'])
    await drop()
  })

  test('migrating a PostgreSQL database happens once when two processes start together', async () => {
    for (let round = 0; round < 3; round++) {
      const { url, drop } = await emptyPostgres()
      await using one = startChild('migrate-postgres.ts', [url])
      await using other = startChild('migrate-postgres.ts', [url])
      await Promise.all([one.lines.next(), other.lines.next()])
      one.send('go')
      other.send('go')
      const applied = [(await one.lines.next()).value, (await other.lines.next()).value]
      expect(applied.map(Number).sort()).toEqual([0, postgresMigrations.length])
      expect(await Promise.all([one.exited, other.exited])).toEqual([0, 0])
      await drop()
    }
  })
})

describe('the migration trees', () => {
  test('the migration trees are ordered by name and list each file once', () => {
    for (const [tree, migrations] of Object.entries({ sqlite: sqliteMigrations, postgres: postgresMigrations })) {
      const files = readdirSync(join(root, 'db', 'migrations', tree))
        .filter((name) => name.endsWith('.sql'))
        .sort()
      expect(migrations.map(({ tag }) => `${tag}.sql`)).toEqual(files)
      for (const { tag, statements } of migrations)
        expect(statements).toBe(readFileSync(join(root, 'db', 'migrations', tree, `${tag}.sql`), 'utf8'))
    }
  })

  for (const tree of ['sqlite', 'postgres'] as const) {
    test(`the migration tree matches the schema (${tree})`, async () => {
      const copy = join(temporaryDir(), tree)
      cpSync(join(root, 'db', 'migrations', tree), copy, { recursive: true })
      const before = readdirSync(copy).sort()
      const config = join(copy, '..', 'drizzle.config.json')
      const dialect = tree === 'sqlite' ? 'sqlite' : 'postgresql'
      writeFileSync(config, JSON.stringify({ dialect, schema: join(root, 'db', 'schema', 'index.ts'), out: relative(root, copy) }))
      const drizzleKit = Bun.spawn(
        [
          'bun',
          '--bun',
          join(root, 'node_modules', '.bin', 'drizzle-kit'),
          'generate',
          '--name',
          'forgotten',
          '--config',
          relative(root, config),
        ],
        {
          cwd: root,
          env: { ...Bun.env, DATABASE_URL: tree === 'sqlite' ? '' : 'postgres://localhost/any' },
          stdout: 'pipe',
          stderr: 'pipe',
        },
      )
      const output = await new Response(drizzleKit.stdout).text()
      expect(await drizzleKit.exited).toBe(0)
      expect(output).toContain('No schema changes')
      expect(readdirSync(copy).sort()).toEqual(before)
      expect(existsSync(join(copy, '0000_first.sql'))).toBe(true)
    })
  }
})
