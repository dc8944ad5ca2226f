import { Database } from 'bun:sqlite'
import { afterAll } from 'bun:test'
import fc from 'fast-check'
import { longTestMs } from './timeouts.ts'
import './validated-once.ts'

/** Preloaded before any test, because the engine must be known before the first column is built. */
if (Bun.env['TEST_DATABASE_URL']) Bun.env['DATABASE_URL'] = Bun.env['TEST_DATABASE_URL']
else delete Bun.env['DATABASE_URL']

/**
 * Ends a property test before its time limit, which would hide the counterexample while it is being shrunk. A slow
 * machine does fewer runs, but at least one.
 */
fc.installGlobalPlugin(fc.interruptAfterTimeLimit(longTestMs / 2))

/**
 * Makes SQLite return unordered rows in reverse (sqlite.org/pragma.html#pragma_reverse_unordered_selects). This reveals
 * code that relies on their order, which PostgreSQL changes only in a few runs.
 */
const configured = new WeakSet<Database>()
const { run } = Database.prototype
Database.prototype.run = function (this: Database, ...args: Parameters<typeof run>) {
  if (!configured.has(this)) run.call(this, 'PRAGMA reverse_unordered_selects = ON')
  configured.add(this)
  return run.apply(this, args)
} as typeof run

// In plain `bun test` this removes the databases of all tests.
afterAll(
  async () => {
    const { cleanUp } = await import('./database.ts')
    await cleanUp()
  },
  { timeout: longTestMs },
)
