import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { createFairQueue } from '../../../src/core/limits/fair-queue.ts'
import { longTestMs } from '../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

type Options = { atOnce?: number; waitMaxMs?: number; waitingMax?: number; initialTurnMs?: number }

/**
 * Creates callers of a fair queue. The test ends their turns and advances the clock. `served` lists callers in the
 * order of their turns.
 */
function createCallers({ atOnce = 1, waitMaxMs = 1_000, waitingMax = 1_000, initialTurnMs = 1 }: Options = {}) {
  let ms = 0
  const queue = createFairQueue({
    atOnce,
    waitMaxMs,
    waitingMax,
    initialTurnMs,
    now: () => ms,
    full: (wait) => new Error(`${wait} ms`),
  })
  const served: string[] = []
  const refused: string[] = []
  const ends: (() => void)[] = []
  /** Waits until every turn that can start has started. */
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve))
  return {
    served,
    refused,
    settle,
    advance(by: number): void {
      ms += by
    },
    /** @param path names separated by spaces */
    enqueue(path: string, name = path, until?: number): void {
      queue.acquire(path.split(' '), until).then(
        (end) => {
          served.push(name)
          ends.push(end)
        },
        (error: Error) => void refused.push(`${name}: ${error.message}`),
      )
    },
    /** Ends turns, the oldest first, until none is left. */
    async serveAll(): Promise<string[]> {
      await settle()
      for (let end = ends.shift(); end; end = ends.shift()) {
        end()
        await settle()
      }
      return served
    },
    /** Ends the oldest turn after `tookMs`. */
    async endOne(tookMs = 1): Promise<void> {
      await settle()
      ms += tookMs
      ends.shift()?.()
      await settle()
    },
  }
}

describe('turns', () => {
  test('the queue runs up to `atOnce` turns, in order of arrival for equal callers', async () => {
    const callers = createCallers({ atOnce: 2 })
    for (const name of ['1', '2', '3', '4']) callers.enqueue('kind key', name)
    await callers.settle()
    expect(callers.served).toEqual(['1', '2'])
    await callers.endOne()
    expect(callers.served).toEqual(['1', '2', '3'])
    expect(await callers.serveAll()).toEqual(['1', '2', '3', '4'])
  })

  test('turns alternate between names, however many callers wait under one name', async () => {
    const callers = createCallers()
    for (let nth = 1; nth <= 4; nth++) callers.enqueue('many', `many ${nth}`)
    callers.enqueue('few')
    callers.enqueue('other')
    expect(await callers.serveAll()).toEqual(['many 1', 'many 2', 'few', 'other', 'many 3', 'many 4'])
  })

  test('turns alternate at every level: a kind with many networks, or a network with many addresses, gets one turn per round', async () => {
    const callers = createCallers()
    callers.enqueue('customer here a', 'running')
    for (let nth = 1; nth <= 4; nth++) callers.enqueue(`customer wide ${nth}`)
    callers.enqueue('customer quiet one')
    callers.enqueue('merchant quiet one')
    callers.enqueue('merchant quiet two')
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

  test('a caller that had a turn waits for those already waiting, but not for later arrivals under new names', async () => {
    const callers = createCallers()
    callers.enqueue('shop', 'shop 1')
    await callers.serveAll()
    for (let nth = 1; nth <= 3; nth++) callers.enqueue(`there${nth}`)
    callers.enqueue('shop', 'shop 2')
    for (let nth = 1; nth <= 500 && !callers.served.includes('shop 2'); nth++) {
      callers.enqueue(`new${nth}`)
      await callers.endOne()
    }
    expect(callers.served).toEqual(['shop 1', 'there1', 'there2', 'there3', 'shop 2'])
  })

  test('when the wait is too long, the last caller of the longest line is refused; of equal lines, the newest', async () => {
    const callers = createCallers({ waitMaxMs: 40, initialTurnMs: 10 })
    callers.enqueue('running')
    for (let nth = 1; nth <= 4; nth++) callers.enqueue('many', `many ${nth}`)
    callers.enqueue('few', 'few 1')
    callers.enqueue('few', 'few 2')
    await callers.settle()
    expect(callers.refused).toEqual(['many 4: 40 ms', 'many 3: 40 ms'])
    callers.enqueue('few', 'few 3')
    callers.enqueue('other')
    callers.enqueue('another')
    callers.enqueue('one too many')
    await callers.settle()
    expect(callers.refused.slice(2)).toEqual(['few 3: 40 ms', 'few 2: 40 ms', 'many 2: 40 ms', 'one too many: 40 ms'])
    expect(await callers.serveAll()).toEqual(['running', 'many 1', 'few 1', 'other', 'another'])
  })

  test('the queue admits fewer waiters as turns take longer, and more as they take less', async () => {
    const countAdmitted = async (tookMs: number) => {
      const callers = createCallers({ waitMaxMs: 1_000, initialTurnMs: 100 })
      for (let nth = 0; nth < 50; nth++) {
        callers.enqueue('before')
        await callers.endOne(tookMs)
      }
      callers.enqueue('running')
      for (let nth = 0; nth < 100; nth++) callers.enqueue('line')
      await callers.settle()
      return 100 - callers.refused.length
    }
    expect([await countAdmitted(50), await countAdmitted(100), await countAdmitted(200)]).toEqual([19, 10, 5])
  })

  test('a turn of an hour, during which the process was blocked, does not shorten the queue', async () => {
    const callers = createCallers({ waitMaxMs: 1_000, initialTurnMs: 100 })
    callers.enqueue('running')
    await callers.endOne(3_600_000)
    callers.enqueue('running', 'again')
    for (let nth = 0; nth < 5; nth++) callers.enqueue('line', `${nth}`)
    await callers.settle()
    expect(callers.refused).toEqual([])
  })

  test('a caller is refused after its maximum wait or its own deadline, when the next turn ends', async () => {
    const callers = createCallers({ waitMaxMs: 100, initialTurnMs: 1 })
    callers.enqueue('running', 'running')
    callers.enqueue('next')
    callers.enqueue('patient')
    callers.enqueue('short', 'short', 20)
    await callers.endOne(30)
    expect([callers.served, callers.refused.length]).toEqual([['running', 'next'], 1])
    expect(callers.refused[0]).toStartWith('short: ')
    await callers.endOne(70)
    expect([callers.served, callers.refused.length]).toEqual([['running', 'next'], 2])
    callers.enqueue('late', 'late', 99)
    await callers.settle()
    expect(callers.refused.length).toBe(3)
    callers.enqueue('afterwards')
    expect(await callers.serveAll()).toEqual(['running', 'next', 'afterwards'])
  })

  test('at most `waitingMax` callers wait, however short the turns are', async () => {
    const callers = createCallers({ waitingMax: 2, initialTurnMs: 0 })
    for (let nth = 1; nth <= 4; nth++) callers.enqueue('key', `${nth}`)
    await callers.settle()
    expect(callers.refused).toEqual(['4: 0 ms'])
    expect(await callers.serveAll()).toEqual(['1', '2', '3'])
  })

  test('a turn that is ended twice frees one place', async () => {
    const queue = createFairQueue({ atOnce: 1, waitMaxMs: 9, waitingMax: 9, initialTurnMs: 1, now: () => 0, full: () => new Error('full') })
    const end = await queue.acquire(['key'])
    end()
    end()
    await queue.acquire(['key'])
    let hasBegun = false
    queue.acquire(['key']).then(() => {
      hasBegun = true
    })
    await new Promise<void>((resolve) => setImmediate(resolve))
    expect(hasBegun).toBe(false)
  })
})

type Waiting = { path: readonly [string, string, string]; since: number; until: number; neighbours: readonly [number, number, number] }

const anyName = (names: number) => fc.nat(names - 1).map(String)
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ path: fc.tuple(anyName(2), anyName(5), anyName(4)), until: fc.option(fc.nat(60), { nil: 1e9 }) }),
  },
  { weight: 2, arbitrary: fc.record({ ended: fc.nat(20) }) },
)

/** Checks whether two paths share their first `level` names. */
const sharesPrefix = (one: readonly string[], other: readonly string[], level: number) =>
  one.slice(0, level).every((name, at) => name === other[at])
/** Counts the distinct names at a level among waiters that share the names before it. */
const countNamesAt = (waiting: readonly Waiting[], path: readonly string[], level: number) =>
  new Set(waiting.filter((other) => sharesPrefix(other.path, path, level)).map((other) => other.path[level])).size

test('for any arrivals: no turn is idle while a caller waits, no caller waits too long or behind a newcomer, and a lone caller waits for at most one turn of each neighbour', async () => {
  const [atOnce, waitMaxMs, initialTurnMs] = [2, 100, 10]
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 150 }), async (steps) => {
      let ms = 0
      const queue = createFairQueue({
        atOnce,
        waitMaxMs,
        waitingMax: 50,
        initialTurnMs,
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
        // At each level, among paths with the same prefix: before its first turn, each other name had at most one.
        for (const level of [0, 1, 2]) {
          const since = served.slice(one.servedBefore).filter((path) => sharesPrefix(path, one.path, level))
          const ownIndex = since.findIndex((path) => path[level] === one.path[level])
          const otherTurns = ownIndex === -1 ? since : since.slice(0, ownIndex)
          expect(new Set(otherTurns.map((path) => path[level])).size).toBe(otherTurns.length)
          expect(otherTurns.length).toBeLessThanOrEqual(one.neighbours[level] ?? 0)
        }
        served.push(one.path)
      }
      for (const next of [...steps, ...Array.from({ length: 200 }, () => ({ ended: 1 }))]) {
        if ('ended' in next) {
          ms += next.ended
          ends.shift()?.()
        } else {
          const { path } = next
          const waitingBefore = [...waiting]
          const one = {
            path,
            since: ms,
            until: Math.min(ms + next.until, ms + waitMaxMs),
            neighbours: [
              countNamesAt(waitingBefore, path, 0),
              countNamesAt(waitingBefore, path, 1),
              countNamesAt(waitingBefore, path, 2),
            ] as const,
            servedBefore: served.length,
          }
          waiting.add(one)
          queue.acquire(path, ms + next.until).then(
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
