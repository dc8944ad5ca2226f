import { expect, test } from 'bun:test'
import { createWaitlist } from '../../../src/core/limits/waitlist.ts'

/** Whether a promise has settled by now. */
async function settled(promise: Promise<void> | 'full' | undefined): Promise<boolean> {
  if (!(promise instanceof Promise)) return false
  const pending = Symbol()
  return (await Promise.race([promise, Promise.resolve().then(() => pending)])) !== pending
}

test('nobody waits where nobody is at work', () => {
  const turns = createWaitlist({ key: 10, all: 10 })
  expect(turns.watch(['a']).next()).toBeUndefined()
  turns.begin(['b'])
  expect(turns.watch(['a']).next()).toBeUndefined()
  expect(turns.watch([]).next()).toBeUndefined()
})

test('who waits is woken by the first end of what they wait for, and by nothing else', async () => {
  const turns = createWaitlist({ key: 10, all: 10 })
  const [first, second, other] = [turns.begin(['a', 'b']), turns.begin(['a']), turns.begin(['c'])]
  const waits = ['a', 'b', 'c'].map((key) => turns.watch([key]).next())
  expect(await Promise.all(waits.map(settled))).toEqual([false, false, false])
  second()
  expect(await Promise.all(waits.map(settled))).toEqual([true, false, false])
  first()
  expect(await Promise.all(waits.map(settled))).toEqual([true, true, false])
  other()
  expect(await Promise.all(waits.map(settled))).toEqual([true, true, true])
})

test('an end since the watch began is not missed, though nobody is at work any more', async () => {
  const turns = createWaitlist({ key: 10, all: 10 })
  const end = turns.begin(['a'])
  const [watch, stranger] = [turns.watch(['a']), turns.watch(['b'])]
  end()
  expect(await settled(watch.next())).toBe(true)
  expect(stranger.next()).toBeUndefined()
  expect(turns.watch(['a']).next()).toBeUndefined()
})

test('a watch that was stopped hears of no end', () => {
  const turns = createWaitlist({ key: 10, all: 10 })
  const end = turns.begin(['a'])
  const watch = turns.watch(['a'])
  watch.stop()
  end()
  expect(watch.next()).toBeUndefined()
})

test('so many wait and no more; who was woken leaves room for others', async () => {
  const turns = createWaitlist({ key: 2, all: 10 })
  const ends = [0, 1, 2].map(() => turns.begin(['a']))
  const waits = [0, 1].map(() => turns.watch(['a']).next())
  expect(turns.watch(['a']).next()).toBe('full')
  ends[0]?.()
  expect(await Promise.all(waits.map(settled))).toEqual([true, false])
  expect([0, 1].map(() => turns.watch(['a']).next() === 'full')).toEqual([false, true])
})

test('who is at work twice on one thing is at work until both are done', () => {
  const turns = createWaitlist({ key: 10, all: 10 })
  const ends = [turns.begin(['a']), turns.begin(['a'])]
  ends[0]?.()
  expect(turns.watch(['a']).next()).toBeDefined()
  ends[1]?.()
  expect(turns.watch(['a']).next()).toBeUndefined()
})

test('those who wait for one key leave room for those who wait for another, up to a number in all', async () => {
  const turns = createWaitlist({ key: 2, all: 3 })
  for (const key of ['a', 'b']) turns.begin([key])
  const waits = ['a', 'a', 'a', 'b', 'b'].map((key) => turns.watch([key]).next())
  expect(waits.map((wait) => wait === 'full')).toEqual([false, false, true, false, true])
})

test('one end wakes one of those who wait, the one who waits the longest; the last end wakes all', async () => {
  const turns = createWaitlist({ key: 10, all: 10 })
  const ends = [turns.begin(['a', 'x']), turns.begin(['a', 'y'])]
  const waits = [0, 1, 2].map(() => turns.watch(['a']).next())
  ends[0]?.()
  expect(await Promise.all(waits.map(settled))).toEqual([true, false, false])
  ends[1]?.()
  expect(await Promise.all(waits.map(settled))).toEqual([true, true, true])
})
