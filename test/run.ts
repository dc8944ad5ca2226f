/**
 * `bun run test`. The whole suite begins with souk compiled from the sources as they are, and the tests that start souk start that:
 * it takes a sixth of the time, and it is what is shipped. Runs that name files, and `bun test` by hand, start the source.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { compile, entries, packConsole } from '../src/build.ts'
import { engineNeutral, ofTheConsole, ofTheDemo, ofTheDocument, ofTheFile, ofTheStorefront } from './support/engine-neutral.ts'

const given = Bun.argv.slice(2)
const isWhole = given.every((argument) => argument.startsWith('-'))
const onPostgres = Boolean(Bun.env['TEST_DATABASE_URL'])

/** What cannot tell one engine from the other has been tried on SQLite. */
const leftOut =
  isWhole && onPostgres ? [...engineNeutral(), ...ofTheDocument, ...ofTheDemo, ...ofTheFile, ...ofTheStorefront, ...ofTheConsole] : []
if (leftOut.length > 0)
  process.stderr.write(`left out on Postgres: ${leftOut.length} files of tests that load nothing of either engine, or ask it nothing\n`)

/** Two more than cores: a fifth of the time of two is spent in waiting, for processes, disks, servers, browsers and jobs. */
const workers = navigator.hardwareConcurrency + 2

/**
 * Most tests are over before the last stage of the compiler is paid off: without it opening apps and buying take some twentieth less.
 * Memory that is given back is asked for again by the next test: keeping it saves a tenth.
 */
const hasty = { BUN_JSC_useFTLJIT: '0', MIMALLOC_PURGE_DELAY: '-1' }

/** What the names of databases begin with that the tests make on Postgres, and have one after the other. */
const run = `souk_test_${crypto.randomUUID().slice(0, 8)}`

async function dropDatabases(): Promise<void> {
  const client = new pg.Client({ connectionString: Bun.env['TEST_DATABASE_URL'] })
  await client.connect()
  const { rows } = await client.query<{ name: string }>('SELECT datname AS name FROM pg_database WHERE starts_with(datname, $1)', [run])
  for (const { name } of rows) await client.query(`DROP DATABASE ${name} WITH (FORCE)`)
  await client.end()
}

/** Hands sessions on from one test to the next. Returns what tells the tests of it, and what ends it. */
async function startPooler(): Promise<{ env: Record<string, string>; stop(): void }> {
  const pooler = Bun.spawn([process.execPath, join(import.meta.dir, 'support', 'session-pooler.ts')], { stdin: 'pipe', stdout: 'pipe' })
  const { value } = await pooler.stdout.getReader().read()
  return { env: { SOUK_TEST_POOLER: new TextDecoder().decode(value).trim() }, stop: () => pooler.kill() }
}

const folder = mkdtempSync(join(tmpdir(), 'souk-suite-'))
const pooler = onPostgres ? await startPooler() : undefined
try {
  const program = join(folder, 'souk')
  if (isWhole) {
    compile([...entries, await packConsole(folder)], program)
    // Some tests start it as somebody who may not everything.
    chmodSync(folder, 0o711)
    chmodSync(program, 0o755)
  }
  const tests = Bun.spawn(
    [
      ...[process.execPath, 'test', `--parallel=${workers}`, '--no-isolate', '--timeout', '900000'],
      ...['--timings', onPostgres ? 'test/timings.postgres.json' : 'test/timings.json'],
      ...leftOut.flatMap((file) => ['--path-ignore-patterns', file]),
      ...given,
    ],
    {
      cwd: join(import.meta.dir, '..'),
      env: { ...Bun.env, ...hasty, ...pooler?.env, SOUK_TEST_RUN: run, ...(isWhole ? { SOUK_PROGRAM: program } : {}) },
      stdio: ['inherit', 'inherit', 'inherit'],
    },
  )
  // What ends this run ends the tests, and then the folder goes.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => tests.kill(signal))
  process.exitCode = await tests.exited
} finally {
  rmSync(folder, { recursive: true, force: true })
  pooler?.stop()
  if (onPostgres) await dropDatabases()
}
