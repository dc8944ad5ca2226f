/** Tests the warning about a long write-ahead log. */
import { expect, test } from 'bun:test'
import { checkpoint } from '../../jobs/checkpoint.ts'
import type { Log } from '../../src/lib/log.ts'

test('a write-ahead log of more than 256 MB is logged as database.log_is_long; PostgreSQL has none', async () => {
  const limit = 256 * 1024 * 1024
  for (const [bytes, isLogged] of [
    [limit, false],
    [limit + 1, true],
    [undefined, false],
  ] as const) {
    const logged: unknown[] = []
    const at = (level: string) => (event: string, fields: unknown) => void logged.push([level, event, fields])
    const log: Log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
    await checkpoint({ db: { checkpoint: async () => bytes }, log } as unknown as Parameters<typeof checkpoint>[0])
    expect(logged).toEqual(isLogged ? [['warn', 'database.log_is_long', { bytes }]] : [])
  }
})
