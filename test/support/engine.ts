import { Database } from 'bun:sqlite'
import { afterAll } from 'bun:test'
import fc from 'fast-check'
import { longTestMs } from './timeouts.ts'
import './validated-once.ts'

/** Loaded before any test: which engine the suite runs on is decided before the first column is built. */
if (Bun.env['TEST_DATABASE_URL']) Bun.env['DATABASE_URL'] = Bun.env['TEST_DATABASE_URL']
else delete Bun.env['DATABASE_URL']

/**
 * Ends a generated test before its time limit does, which would hide the counterexample of one that still looks for a smaller one. On a slow
 * machine it does fewer runs, but at least one.
 */
fc.installGlobalPlugin(fc.interruptAfterTimeLimit(longTestMs / 2))

/**
 * Rows without an order come in any: Postgres gives them by where each connection found room. So that whoever relies on it is seen, and not once
 * in a hundred runs, SQLite gives them the other way round (sqlite.org/pragma.html#pragma_reverse_unordered_selects).
 */
const turned = new WeakSet<Database>()
const { run } = Database.prototype
Database.prototype.run = function (this: Database, ...given: Parameters<typeof run>) {
  if (!turned.has(this)) run.call(this, 'PRAGMA reverse_unordered_selects = ON')
  turned.add(this)
  return run.apply(this, given)
} as typeof run

// With plain `bun test` it removes the databases of all tests at once.
afterAll(
  async () => {
    const { cleanUp } = await import('./database.ts')
    await cleanUp()
  },
  { timeout: longTestMs },
)
