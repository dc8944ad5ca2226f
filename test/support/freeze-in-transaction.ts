/** Locks a row, prints `locked`, and then leaves its transaction open and idle until it is killed. */

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
