/**
 * `bun run test`. The whole suite begins with souk compiled from the sources as they are, and the tests that start souk start that:
 * it takes a sixth of the time, and it is what is shipped. Runs that name files, and `bun test` by hand, start the source.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compile, entries } from '../src/build.ts'
import { engineNeutral, ofTheDemo, ofTheDocument, ofTheFile } from './support/engine-neutral.ts'

const given = Bun.argv.slice(2)
const isWhole = given.every((argument) => argument.startsWith('-'))
const onPostgres = Boolean(Bun.env['TEST_DATABASE_URL'])

/** What cannot tell one engine from the other has been tried on SQLite. */
const leftOut = isWhole && onPostgres ? [...engineNeutral(), ...ofTheDocument, ...ofTheDemo, ...ofTheFile] : []
if (leftOut.length > 0)
  process.stderr.write(`left out on Postgres: ${leftOut.length} files of tests that load nothing of either engine, or ask it nothing\n`)

/** One more than cores: a fifth of the time of two is spent in waiting, for processes, disks, servers and jobs. */
const workers = navigator.hardwareConcurrency + 1

const folder = mkdtempSync(join(tmpdir(), 'souk-suite-'))
try {
  const program = join(folder, 'souk')
  if (isWhole) {
    compile(entries, program)
    // Some tests start it as somebody who may not everything.
    chmodSync(folder, 0o711)
    chmodSync(program, 0o755)
  }
  const tests = Bun.spawn(
    [
      ...[process.execPath, 'test', `--parallel=${workers}`, '--no-isolate', '--timeout', '300000'],
      ...['--timings', onPostgres ? 'test/timings.postgres.json' : 'test/timings.json'],
      ...leftOut.flatMap((file) => ['--path-ignore-patterns', file]),
      ...given,
    ],
    {
      cwd: join(import.meta.dir, '..'),
      env: { ...Bun.env, ...(isWhole ? { SOUK_PROGRAM: program } : {}) },
      stdio: ['inherit', 'inherit', 'inherit'],
    },
  )
  // What ends this run ends the tests, and then the folder goes.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => tests.kill(signal))
  process.exitCode = await tests.exited
} finally {
  rmSync(folder, { recursive: true, force: true })
}
