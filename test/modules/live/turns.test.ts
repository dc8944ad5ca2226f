/** Whose turn it is to have a page of the past read. */
import { expect, test } from 'bun:test'
import { createTurns } from '../../../src/modules/live/turns.ts'

test('of those who wait each has a turn before anybody has another, one at a time, with a rest as long as each took', async () => {
  let now = 0
  const slept: number[] = []
  const turns = createTurns({
    now: () => now,
    async sleep(ms) {
      slept.push(ms)
      await Bun.sleep(0)
    },
  })
  const had: string[] = []
  let atOnce = 0
  const ask = (who: string, nth: number) =>
    turns.run(who, async () => {
      expect(++atOnce).toBe(1)
      await Bun.sleep(0)
      now += nth * 1_000
      atOnce--
      had.push(`${who}${nth}`)
      return nth
    })
  const greedy = Array.from({ length: 5 }, (_, nth) => ask('a', nth))
  const others = [ask('b', 0), ask('b', 1), ask('c', 0)]
  // Who asks for the next only when they have had one is no worse off.
  const one = (async () => {
    for (let nth = 0; nth < 3; nth++) await ask('d', nth)
  })()
  expect(await Promise.all([...greedy, ...others])).toEqual([0, 1, 2, 3, 4, 0, 1, 0])
  await one
  // The first was had when nobody else was there.
  expect(had).toEqual(['a0', 'a1', 'b0', 'c0', 'd0', 'a2', 'b1', 'd1', 'a3', 'd2', 'a4'])
  expect(slept).toEqual([0, 1_000, 0, 0, 0, ...Array.from({ length: 6 }, () => 1_000)])
})

test('a piece that fails fails whoever asked for it, and nobody else', async () => {
  const turns = createTurns({ now: () => 0, sleep: Bun.sleep })
  const fails = turns.run('a', () => Promise.reject(new Error('away')))
  const goes = turns.run('a', async () => 'read')
  expect(await fails.catch((error: Error) => error.message)).toBe('away')
  expect(await goes).toBe('read')
  expect(await turns.run('b', async () => 'later')).toBe('later')
})
