import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { createFairQueue } from '../../../src/core/limits/fair-queue.ts'
import { longTestMs } from '../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

type Options = { atOnce?: number; waitMaxMs?: number; waitingMax?: number; usualMs?: number }

/** Callers whose turns end when the test says so, by a clock that the test moves; `served` has them in the order of their turns. */
function callersOf({ atOnce = 1, waitMaxMs = 1_000, waitingMax = 1_000, usualMs = 1 }: Options = {}) {
  let ms = 0
  const turns = createFairQueue({
    atOnce,
    waitMaxMs,
    waitingMax,
    initialTurnMs: usualMs,
    now: () => ms,
    full: (wait) => new Error(`${wait} ms`),
  })
  const served: string[] = []
  const refused: string[] = []
  const ends: (() => void)[] = []
  /** Waits until whatever can begin has begun. */
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve))
  return {
    served,
    refused,
    settle,
    pass(by: number): void {
      ms += by
    },
    /** @param path names divided by blanks */
    come(path: string, name = path, until?: number): void {
      turns.acquire(path.split(' '), until).then(
        (end) => {
          served.push(name)
          ends.push(end)
        },
        (error: Error) => void refused.push(`${name}: ${error.message}`),
      )
    },
    /** Ends turns, the oldest first, until nobody waits any more. */
    async serveAll(): Promise<string[]> {
      await settle()
      for (let end = ends.shift(); end; end = ends.shift()) {
        end()
        await settle()
      }
      return served
    },
    /** Ends a turn that took so long. */
    async endOne(tookMs = 1): Promise<void> {
      await settle()
      ms += tookMs
      ends.shift()?.()
      await settle()
    },
  }
}

describe('turns', () => {
  test('turns go to as many at once as there are, and in the order of coming where all are alike', async () => {
    const callers = callersOf({ atOnce: 2 })
    for (const name of ['1', '2', '3', '4']) callers.come('kind key', name)
    await callers.settle()
    expect(callers.served).toEqual(['1', '2'])
    await callers.endOne()
    expect(callers.served).toEqual(['1', '2', '3'])
    expect(await callers.serveAll()).toEqual(['1', '2', '3', '4'])
  })

  test('turns go round those who wait side by side, however many wait under one name', async () => {
    const callers = callersOf()
    for (let nth = 1; nth <= 4; nth++) callers.come('many', `many ${nth}`)
    callers.come('few')
    callers.come('other')
    expect(await callers.serveAll()).toEqual(['many 1', 'many 2', 'few', 'other', 'many 3', 'many 4'])
  })

  test('turns go round at every level: a kind of many networks, and a network of many addresses, have one turn in each round', async () => {
    const callers = callersOf()
    callers.come('customer here a', 'running')
    for (let nth = 1; nth <= 4; nth++) callers.come(`customer wide ${nth}`)
    callers.come('customer quiet one')
    callers.come('merchant quiet one')
    callers.come('merchant quiet two')
    expect(await callers.serveAll()).toEqual([
      'running',
      'customer wide 1',
      'merchant quiet one',
      'customer quiet one',
      'merchant quiet two',
      'customer wide 2',
      'customer wide 3',
      'customer wide 4',
    ])
  })

  test('turns of one who was served before come after those who were there, and before all who come later under ever new names', async () => {
    const callers = callersOf()
    callers.come('shop', 'shop 1')
    await callers.serveAll()
    for (let nth = 1; nth <= 3; nth++) callers.come(`there${nth}`)
    callers.come('shop', 'shop 2')
    for (let nth = 1; nth <= 500 && !callers.served.includes('shop 2'); nth++) {
      callers.come(`new${nth}`)
      await callers.endOne()
    }
    expect(callers.served).toEqual(['shop 1', 'there1', 'there2', 'there3', 'shop 2'])
  })

  test('turns are refused to whoever would come last, once those who wait would take too long: to the longest line, and of equals to the newest', async () => {
    const callers = callersOf({ waitMaxMs: 40, usualMs: 10 })
    callers.come('running')
    for (let nth = 1; nth <= 4; nth++) callers.come('many', `many ${nth}`)
    callers.come('few', 'few 1')
    callers.come('few', 'few 2')
    await callers.settle()
    expect(callers.refused).toEqual(['many 4: 40 ms', 'many 3: 40 ms'])
    callers.come('few', 'few 3')
    callers.come('other')
    callers.come('another')
    callers.come('one too many')
    await callers.settle()
    expect(callers.refused.slice(2)).toEqual(['few 3: 40 ms', 'few 2: 40 ms', 'many 2: 40 ms', 'one too many: 40 ms'])
    expect(await callers.serveAll()).toEqual(['running', 'many 1', 'few 1', 'other', 'another'])
  })

  test('turns let fewer wait as they turn out to take longer, and more as they take less', async () => {
    const room = async (tookMs: number) => {
      const callers = callersOf({ waitMaxMs: 1_000, usualMs: 100 })
      for (let nth = 0; nth < 50; nth++) {
        callers.come('before')
        await callers.endOne(tookMs)
      }
      callers.come('running')
      for (let nth = 0; nth < 100; nth++) callers.come('line')
      await callers.settle()
      return 100 - callers.refused.length
    }
    expect([await room(50), await room(100), await room(200)]).toEqual([19, 10, 5])
  })

  test('turns go on as before after one during which the process stood still for an hour', async () => {
    const callers = callersOf({ waitMaxMs: 1_000, usualMs: 100 })
    callers.come('running')
    await callers.endOne(3_600_000)
    callers.come('running', 'again')
    for (let nth = 0; nth < 5; nth++) callers.come('line', `${nth}`)
    await callers.settle()
    expect(callers.refused).toEqual([])
  })

  test('turns are refused to whoever has waited too long after all, or until when they said, as soon as the next one ends', async () => {
    const callers = callersOf({ waitMaxMs: 100, usualMs: 1 })
    callers.come('running', 'running')
    callers.come('next')
    callers.come('patient')
    callers.come('short', 'short', 20)
    await callers.endOne(30)
    expect([callers.served, callers.refused.length]).toEqual([['running', 'next'], 1])
    expect(callers.refused[0]).toStartWith('short: ')
    await callers.endOne(70)
    expect([callers.served, callers.refused.length]).toEqual([['running', 'next'], 2])
    callers.come('late', 'late', 99)
    await callers.settle()
    expect(callers.refused.length).toBe(3)
    callers.come('afterwards')
    expect(await callers.serveAll()).toEqual(['running', 'next', 'afterwards'])
  })

  test('turns of any length let no more than so many wait', async () => {
    const callers = callersOf({ waitingMax: 2, usualMs: 0 })
    for (let nth = 1; nth <= 4; nth++) callers.come('key', `${nth}`)
    await callers.settle()
    expect(callers.refused).toEqual(['4: 0 ms'])
    expect(await callers.serveAll()).toEqual(['1', '2', '3'])
  })

  test('turns that are ended twice make room for one', async () => {
    const turns = createFairQueue({ atOnce: 1, waitMaxMs: 9, waitingMax: 9, initialTurnMs: 1, now: () => 0, full: () => new Error('full') })
    const end = await turns.acquire(['key'])
    end()
    end()
    await turns.acquire(['key'])
    let begun = false
    turns.acquire(['key']).then(() => {
      begun = true
    })
    await new Promise<void>((resolve) => setImmediate(resolve))
    expect(begun).toBe(false)
  })
})

type Waiting = { path: readonly [string, string, string]; since: number; until: number; ahead: readonly [number, number, number] }

const someName = (names: number) => fc.nat(names - 1).map(String)
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ path: fc.tuple(someName(2), someName(5), someName(4)), until: fc.option(fc.nat(60), { nil: 1e9 }) }),
  },
  { weight: 2, arbitrary: fc.record({ ended: fc.nat(20) }) },
)

/** Whether two paths have the first `level` names in common. */
const isBeside = (one: readonly string[], other: readonly string[], level: number) =>
  one.slice(0, level).every((name, at) => name === other[at])
/** How many different names there are at a level among those who share what comes before. */
const namesAt = (waiting: readonly Waiting[], path: readonly string[], level: number) =>
  new Set(waiting.filter((other) => isBeside(other.path, path, level)).map((other) => other.path[level])).size

test('turns, whatever comes and in whatever order: none runs idle while somebody waits, nobody waits for too long or behind a newcomer, and whoever is alone under a name waits for no more than one turn of each beside it', async () => {
  const [atOnce, waitMaxMs, usualMs] = [2, 100, 10]
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 150 }), async (steps) => {
      let ms = 0
      const turns = createFairQueue({
        atOnce,
        waitMaxMs,
        waitingMax: 50,
        initialTurnMs: usualMs,
        now: () => ms,
        full: () => new Error('full'),
      })
      const waiting = new Set<Waiting>()
      const ends: (() => void)[] = []
      const served: (readonly string[])[] = []
      const settle = async () => {
        for (let nth = 0; nth < 5; nth++) await Promise.resolve()
      }
      const begin = (one: Waiting & { servedBefore: number }) => {
        waiting.delete(one)
        expect(ms).toBeLessThanOrEqual(one.until)
        // At each level, of those who share what comes before: what had turns since it came, under other names than its own.
        for (const level of [0, 1, 2]) {
          const since = served.slice(one.servedBefore).filter((path) => isBeside(path, one.path, level))
          const own = since.findIndex((path) => path[level] === one.path[level])
          const others = own === -1 ? since : since.slice(0, own)
          expect(new Set(others.map((path) => path[level])).size).toBe(others.length)
          expect(others.length).toBeLessThanOrEqual(one.ahead[level] ?? 0)
        }
        served.push(one.path)
      }
      for (const next of [...steps, ...Array.from({ length: 200 }, () => ({ ended: 1 }))]) {
        if ('ended' in next) {
          ms += next.ended
          ends.shift()?.()
        } else {
          const { path } = next
          const there = [...waiting]
          const one = {
            path,
            since: ms,
            until: Math.min(ms + next.until, ms + waitMaxMs),
            ahead: [namesAt(there, path, 0), namesAt(there, path, 1), namesAt(there, path, 2)] as const,
            servedBefore: served.length,
          }
          waiting.add(one)
          turns.acquire(path, ms + next.until).then(
            (end) => {
              begin(one)
              ends.push(end)
            },
            () => void waiting.delete(one),
          )
        }
        await settle()
        if (waiting.size > 0) expect(ends.length).toBe(atOnce)
        expect(waiting.size).toBeLessThanOrEqual(50)
        if ('ended' in next) for (const { since } of waiting) expect(ms - since).toBeLessThanOrEqual(waitMaxMs)
      }
      expect([waiting.size, ends.length]).toEqual([0, 0])
    }),
    { numRuns: 300 },
  )
})
