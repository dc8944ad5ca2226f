/** Tests recording the last use of keys and sessions. */
import { describe, expect, test } from 'bun:test'
import { createLastUsedRecorder } from '../../src/core/last-used.ts'
import type { Log } from '../../src/lib/log.ts'

function createTestRecorder(write: () => Promise<void> = async () => undefined) {
  let now = 1_000_000
  const records: [string, number][] = []
  const logged: unknown[] = []
  const warn: Log['warn'] = (event, fields) => void logged.push([event, fields])
  const db = {
    async write(work: (tx: undefined) => Promise<void>) {
      await write()
      await work(undefined)
    },
  }
  const deps = { db, clock: { now: () => now }, log: { warn } } as unknown as Parameters<typeof createLastUsedRecorder>[0]
  const touch = createLastUsedRecorder(deps, 'key', async (_tx, id, at) => void records.push([id, at]))
  return {
    ...{ records, logged, now: () => now },
    async use(lastUsedAt: number | null) {
      touch({ id: 'one', lastUsedAt })
      touch({ id: 'one', lastUsedAt })
      await Bun.sleep(0)
    },
    advance(ms: number) {
      now += ms
    },
  }
}

describe('the last use of a key', () => {
  test('the last use of a key is recorded once for concurrent uses, and again after a minute', async () => {
    const { records, use, now, advance } = createTestRecorder()
    await use(null)
    const first = now()
    expect(records).toEqual([['one', first]])
    advance(59_999)
    await use(first)
    expect(records).toHaveLength(1)
    advance(1)
    await use(first)
    expect(records).toEqual([
      ['one', first],
      ['one', first + 60_000],
    ])
  })

  test('a last use that cannot be recorded is logged as last_used_not_noted and recorded at the next use', async () => {
    const failure = new Error('the disk is full')
    let fails = true
    const { records, logged, use } = createTestRecorder(async () => {
      if (fails) throw failure
    })
    await use(null)
    expect(logged).toEqual([['key.last_used_not_noted', { error: failure }]])
    fails = false
    await use(null)
    expect([records.length, logged.length]).toEqual([1, 1])
  })
})
