/** Connections are handed on without the driver's pool: who has which, who waits, and what becomes of broken ones. */
import { expect, test } from 'bun:test'
import { DatabaseUnavailable } from '../../db/engine.ts'
import { type ConnectionPoolOptions, createConnectionPool } from '../../db/postgres/connection-pool.ts'

type One = { nth: number; broken: boolean }

function kept(options: Partial<ConnectionPoolOptions<One>> = {}) {
  const opened: One[] = []
  const closed: [nth: number, broken: boolean][] = []
  const all = createConnectionPool<One>({
    max: 2,
    waitMs: 60_000,
    restMs: 60_000,
    open: async () => {
      const one = { nth: opened.length, broken: false }
      opened.push(one)
      return one
    },
    close: ({ nth }, broken) => void closed.push([nth, broken]),
    isBroken: ({ broken }) => broken,
    ...options,
  })
  return { ...all, opened, closed }
}

test('what was used last is used next, and no more are opened than are needed at once', async () => {
  const { take, giveBack, end, opened, closed } = kept()
  const [one, other] = [await take(), await take()]
  giveBack(one, false)
  giveBack(other, false)
  expect(await take()).toBe(other)
  giveBack(other, false)
  expect(opened.length).toBe(2)
  end()
  expect(closed).toEqual([
    [0, false],
    [1, false],
  ])
})

test('what somebody still uses at the end is closed when it is given back: else whoever closes all would wait for it for ever', async () => {
  const { take, giveBack, end, closed } = kept()
  const [one, other] = [await take(), await take()]
  giveBack(other, false)
  end()
  expect(closed).toEqual([[1, false]])
  giveBack(one, false)
  expect(closed).toEqual([
    [1, false],
    [0, false],
  ])
})

test('those who wait are served in their order', async () => {
  const { take, giveBack } = kept({ max: 1 })
  const one = await take()
  const served: string[] = []
  const waiting = ['a', 'b', 'c'].map(async (who) => {
    const mine = await take()
    served.push(who)
    giveBack(mine, false)
  })
  giveBack(one, false)
  await Promise.all(waiting)
  expect(served).toEqual(['a', 'b', 'c'])
})

test('who waits for too long is refused, and what is given back later goes to somebody else', async () => {
  const { take, giveBack } = kept({ max: 1, waitMs: 20 })
  const one = await take()
  const refused = await Promise.all([take(), take()].map((waiting) => waiting.catch((error: unknown) => error)))
  for (const error of refused) expect(error).toBeInstanceOf(DatabaseUnavailable)
  giveBack(one, false)
  expect(await take()).toBe(one)
})

test('one that is broken, given back or found so, is closed, and another is opened for whoever waits', async () => {
  const { take, giveBack, opened, closed } = kept({ max: 1 })
  const one = await take()
  const waiting = take()
  giveBack(one, true)
  const other = await waiting
  expect(other.nth).toBe(1)
  giveBack(other, false)
  other.broken = true
  expect((await take()).nth).toBe(2)
  expect(closed).toEqual([
    [0, true],
    [1, true],
  ])
  expect(opened.length).toBe(3)
})

test('one that cannot be opened is refused to who asked, and the next who waits tries again', async () => {
  let tries = 0
  const { take } = kept({
    max: 1,
    open: async () => {
      if (++tries === 1) throw new Error('not there')
      return { nth: tries, broken: false }
    },
  })
  const [first, second] = await Promise.allSettled([take(), take()])
  expect([first.status, second.status]).toEqual(['rejected', 'fulfilled'])
})

test('one that nobody uses is closed after a while', async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>()
  const { take, giveBack } = kept({ restMs: 5, close: (one, broken) => resolve([one.nth, broken]) })
  giveBack(await take(), false)
  expect(await promise).toEqual([0, false])
})
