/**
 * `bun run test [--all|--heavy] [FILE …]` runs the test suite. Without files it runs those that plain `bun test` finds.
 * `--heavy` runs the heavy files instead (`*.heavy.ts`: browser, crash loops, many generated cases), and `--all` both.
 * Such a run first compiles souk, and tests start that binary: it starts six times as fast, and it is what users run. A
 * run of named files starts the source, like `bun test`.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { compile, entries, packConsole } from '../src/build.ts'
import {
  apiDocumentTests,
  consoleTestFiles,
  demoTests,
  engineNeutralFiles,
  heavyTestFiles,
  sqliteFileTests,
  storefrontTests,
  testFiles,
} from './support/engine-neutral.ts'
import { longTestMs } from './support/timeouts.ts'

const isTier = (argument: string) => argument === '--all' || argument === '--heavy'
const tiers = Bun.argv.slice(2).filter(isTier)
const fileArguments = Bun.argv.slice(2).filter((argument) => !isTier(argument))
const isWholeSuite = fileArguments.every((argument) => argument.startsWith('-'))
const onPostgres = Boolean(Bun.env['TEST_DATABASE_URL'])

/** Files that do not depend on the engine. The run on SQLite covers them. */
const coveredOnSqlite =
  isWholeSuite && onPostgres
    ? [...engineNeutralFiles(), ...apiDocumentTests, ...demoTests, ...sqliteFileTests, ...storefrontTests, ...consoleTestFiles]
    : []
const isCovered = new Set(coveredOnSqlite)
const filesOf = (all: readonly string[]) => all.filter((file) => !isCovered.has(file))
const light = filesOf(testFiles())
const heavy = filesOf(heavyTestFiles())
const isHeavyOnly = tiers.includes('--heavy') && !tiers.includes('--all')
const files = isWholeSuite ? [...(isHeavyOnly ? [] : light), ...(tiers.length > 0 ? heavy : [])].map((file) => `./${file}`) : []
if (isCovered.size > 0)
  process.stderr.write(`left out on PostgreSQL: ${isCovered.size} files of tests that the run on SQLite covers
`)

/** Two more workers than cores, because tests spend part of their time waiting for processes, disks and servers. */
const workers = navigator.hardwareConcurrency + 2

/**
 * Settings that make short tests faster. The last compiler stage does not pay off: without it tests take about 5 % less
 * time. Keeping freed memory for the next test saves about 10 %.
 */
const fastEnvironment = { BUN_JSC_useFTLJIT: '0', MIMALLOC_PURGE_DELAY: '-1' }

/** Name prefix of the PostgreSQL databases that the tests create and reuse. */
const run = `souk_test_${crypto.randomUUID().slice(0, 8)}`

async function dropDatabases(): Promise<void> {
  const client = new pg.Client({ connectionString: Bun.env['TEST_DATABASE_URL'] })
  await client.connect()
  const { rows } = await client.query<{ name: string }>('SELECT datname AS name FROM pg_database WHERE starts_with(datname, $1)', [run])
  for (const { name } of rows) await client.query(`DROP DATABASE ${name} WITH (FORCE)`)
  await client.end()
}

/** Starts the pooler that reuses sessions between tests. Returns the environment for the tests, and a stop function. */
async function startPooler(): Promise<{ env: Record<string, string>; stop(): void }> {
  const pooler = Bun.spawn([process.execPath, join(import.meta.dir, 'support', 'session-pooler.ts')], { stdin: 'pipe', stdout: 'pipe' })
  const { value } = await pooler.stdout.getReader().read()
  return { env: { SOUK_TEST_POOLER: new TextDecoder().decode(value).trim() }, stop: () => pooler.kill() }
}

const memoryMinBytes = 4 * 1024 ** 3
/**
 * Returns the directory for temporary files: in memory if it is large enough and may hold programs. The tests create
 * thousands of databases: on a disk they take a sixth more CPU time and wait for each commit. TMPDIR chooses another.
 */
function temporaryRoot(): string {
  if (Bun.env['TMPDIR'] !== undefined || process.platform !== 'linux') return tmpdir()
  if (!/^\S+ \/dev\/shm tmpfs rw(?!\S*,noexec)/m.test(readFileSync('/proc/mounts', 'utf8'))) return tmpdir()
  const { bavail, bsize } = statfsSync('/dev/shm')
  return Math.min(bavail * bsize, freemem()) >= memoryMinBytes ? '/dev/shm' : tmpdir()
}

const folder = mkdtempSync(join(temporaryRoot(), 'souk-suite-'))
// Some tests start the binary as an unprivileged user.
chmodSync(folder, 0o711)
const pooler = onPostgres ? await startPooler() : undefined
try {
  const program = join(folder, 'souk')
  if (isWholeSuite) {
    compile([...entries, await packConsole(folder)], program)
    chmodSync(program, 0o755)
  }
  const tests = Bun.spawn(
    [
      ...[process.execPath, 'test', `--parallel=${workers}`, '--no-isolate', '--timeout', `${longTestMs}`],
      ...['--timings', onPostgres ? 'test/timings.postgres.json' : 'test/timings.json'],
      ...fileArguments,
      ...files,
    ],
    {
      cwd: join(import.meta.dir, '..'),
      env: {
        ...Bun.env,
        ...fastEnvironment,
        ...pooler?.env,
        TMPDIR: folder,
        SOUK_TEST_RUN: run,
        ...(isWholeSuite ? { SOUK_PROGRAM: program } : {}),
      },
      stdio: ['inherit', 'inherit', 'inherit'],
    },
  )
  // Forwards signals to the tests, so that the folder is removed after they end.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => tests.kill(signal))
  process.exitCode = await tests.exited
  if (isWholeSuite && tiers.length === 0)
    process.stderr.write(
      `${heavy.length} heavy files (browser, crash loops, many generated cases) were left out: bun run test --all runs them too\n`,
    )
} finally {
  pooler?.stop()
  if (onPostgres) await dropDatabases()
  // Last, because a disk that an ended test left mounted makes it fail.
  rmSync(folder, { recursive: true, force: true })
}
