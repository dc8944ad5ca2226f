import { expect, test } from 'bun:test'
import { createWaitlist } from '../../../src/core/limits/waitlist.ts'

/** Checks whether a promise is already settled. */
async function isSettled(promise: Promise<void> | 'full' | undefined): Promise<boolean> {
  if (!(promise instanceof Promise)) return false
  const pending = Symbol()
  return (await Promise.race([promise, Promise.resolve().then(() => pending)])) !== pending
}

test('a watch does not wait when no work runs for its key', () => {
  const waitlist = createWaitlist({ key: 10, all: 10 })
  expect(waitlist.watch(['a']).next()).toBeUndefined()
  waitlist.begin(['b'])
  expect(waitlist.watch(['a']).next()).toBeUndefined()
  expect(waitlist.watch([]).next()).toBeUndefined()
})

test('a waiter is woken by the end of work on its key, and by nothing else', async () => {
  const waitlist = createWaitlist({ key: 10, all: 10 })
  const [first, second, other] = [waitlist.begin(['a', 'b']), waitlist.begin(['a']), waitlist.begin(['c'])]
  const waits = ['a', 'b', 'c'].map((key) => waitlist.watch([key]).next())
  expect(await Promise.all(waits.map(isSettled))).toEqual([false, false, false])
  second()
  expect(await Promise.all(waits.map(isSettled))).toEqual([true, false, false])
  first()
  expect(await Promise.all(waits.map(isSettled))).toEqual([true, true, false])
  other()
  expect(await Promise.all(waits.map(isSettled))).toEqual([true, true, true])
})

test('an end between `watch` and `next` is not missed', async () => {
  const waitlist = createWaitlist({ key: 10, all: 10 })
  const end = waitlist.begin(['a'])
  const [watch, otherWatch] = [waitlist.watch(['a']), waitlist.watch(['b'])]
  end()
  expect(await isSettled(watch.next())).toBe(true)
  expect(otherWatch.next()).toBeUndefined()
  expect(waitlist.watch(['a']).next()).toBeUndefined()
})

test('a stopped watch does not record an end', () => {
  const waitlist = createWaitlist({ key: 10, all: 10 })
  const end = waitlist.begin(['a'])
  const watch = waitlist.watch(['a'])
  watch.stop()
  end()
  expect(watch.next()).toBeUndefined()
})

test('waiters per key are limited, and a woken waiter makes room', async () => {
  const waitlist = createWaitlist({ key: 2, all: 10 })
  const ends = [0, 1, 2].map(() => waitlist.begin(['a']))
  const waits = [0, 1].map(() => waitlist.watch(['a']).next())
  expect(waitlist.watch(['a']).next()).toBe('full')
  ends[0]?.()
  expect(await Promise.all(waits.map(isSettled))).toEqual([true, false])
  expect([0, 1].map(() => waitlist.watch(['a']).next() === 'full')).toEqual([false, true])
})

test('a key with two running works has running work until both end', () => {
  const waitlist = createWaitlist({ key: 10, all: 10 })
  const ends = [waitlist.begin(['a']), waitlist.begin(['a'])]
  ends[0]?.()
  expect(waitlist.watch(['a']).next()).toBeDefined()
  ends[1]?.()
  expect(waitlist.watch(['a']).next()).toBeUndefined()
})

test('waiters of one key leave room for those of other keys, up to the total limit', async () => {
  const waitlist = createWaitlist({ key: 2, all: 3 })
  for (const key of ['a', 'b']) waitlist.begin([key])
  const waits = ['a', 'a', 'a', 'b', 'b'].map((key) => waitlist.watch([key]).next())
  expect(waits.map((wait) => wait === 'full')).toEqual([false, false, true, false, true])
})

test('one end wakes the longest waiter, and the last end wakes all', async () => {
  const waitlist = createWaitlist({ key: 10, all: 10 })
  const ends = [waitlist.begin(['a', 'x']), waitlist.begin(['a', 'y'])]
  const waits = [0, 1, 2].map(() => waitlist.watch(['a']).next())
  ends[0]?.()
  expect(await Promise.all(waits.map(isSettled))).toEqual([true, false, false])
  ends[1]?.()
  expect(await Promise.all(waits.map(isSettled))).toEqual([true, true, true])
})
