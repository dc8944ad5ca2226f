/** Locks a row in a work of its own, says so, and then leaves its transaction alone for good. */

import { openPostgres } from '../../db/postgres/engine.ts'
import { lockedRowsOf } from '../../db/prepared.ts'
import { attempts } from '../../db/schema/people.ts'

const [url = '', id = ''] = Bun.argv.slice(2)
const db = openPostgres(url, Math.random, { timeouts: { idleInTransaction: 1_000 } })
await db.write(
  async (tx) => {
    await tx.first(lockedRowsOf(attempts, ['id']), { id })
    process.stdout.write('locked\n')
    await new Promise(() => setInterval(() => undefined, 60_000))
  },
  { isolation: 'locking' },
)
