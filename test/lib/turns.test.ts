import { describe, expect, test } from 'bun:test'
import { createTurns } from '../../src/lib/turns.ts'

/** Callers whose turns end when the test says so; `served` has them in the order of their turns. */
function callersOf({ atOnce = 1, key = 100, kind = 100 }: { atOnce?: number; key?: number; kind?: number } = {}) {
  const turns = createTurns({ atOnce, waitingMax: { key, kind }, full: (ahead) => new Error(`${ahead} wait`) })
  const served: string[] = []
  const refused: string[] = []
  const ends: (() => void)[] = []
  /** Waits until whatever can begin has begun. */
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve))
  return {
    served,
    refused,
    settle,
    come(ofKind: string, ofKey: string, name = ofKey): void {
      turns.take(ofKind, ofKey).then(
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
    async endOne(): Promise<void> {
      await settle()
      ends.shift()?.()
      await settle()
    },
  }
}

describe('turns', () => {
  test('turns go to as many at once as there are, and in the order of coming where all are alike', async () => {
    const callers = callersOf({ atOnce: 2 })
    for (const name of ['1', '2', '3', '4']) callers.come('kind', 'key', name)
    await callers.settle()
    expect(callers.served).toEqual(['1', '2'])
    await callers.endOne()
    expect(callers.served).toEqual(['1', '2', '3'])
    expect(await callers.serveAll()).toEqual(['1', '2', '3', '4'])
  })

  test('turns go round the keys of a kind, however many of one wait', async () => {
    const callers = callersOf()
    for (let nth = 1; nth <= 4; nth++) callers.come('kind', 'many', `many ${nth}`)
    callers.come('kind', 'few', 'few')
    callers.come('kind', 'other', 'other')
    expect(await callers.serveAll()).toEqual(['many 1', 'few', 'other', 'many 2', 'many 3', 'many 4'])
  })

  test('turns remember who had one: a key that comes for the first time goes before one that comes over and over', async () => {
    const callers = callersOf()
    for (let nth = 1; nth <= 3; nth++) {
      callers.come('kind', 'eager', `eager ${nth}`)
      await callers.serveAll()
    }
    callers.come('kind', 'holder')
    callers.come('kind', 'eager', 'eager 4')
    callers.come('kind', 'new')
    expect(await callers.serveAll()).toEqual(['eager 1', 'eager 2', 'eager 3', 'holder', 'new', 'eager 4'])
  })

  test('turns alternate between kinds, however many of one wait and from however many keys', async () => {
    const callers = callersOf()
    for (let nth = 1; nth <= 6; nth++) callers.come('customer', `c${nth}`)
    for (let nth = 1; nth <= 2; nth++) callers.come('merchant', `m${nth}`)
    expect(await callers.serveAll()).toEqual(['c1', 'm1', 'c2', 'm2', 'c3', 'c4', 'c5', 'c6'])
  })

  test('turns are refused at once to a key that has too many waiting, with how many wait, and to no other', async () => {
    const callers = callersOf({ key: 2 })
    for (let nth = 1; nth <= 4; nth++) callers.come('kind', 'many', `many ${nth}`)
    callers.come('kind', 'few', 'few')
    await callers.settle()
    expect(callers.refused).toEqual(['many 4: 2 wait'])
    expect(await callers.serveAll()).toEqual(['many 1', 'few', 'many 2', 'many 3'])
  })

  test('turns of a full kind are given up by the key that has the most waiting, from the back, for one that has fewer', async () => {
    const callers = callersOf({ key: 10, kind: 4 })
    for (let nth = 1; nth <= 5; nth++) callers.come('kind', 'many', `many ${nth}`)
    callers.come('kind', 'few', 'few 1')
    callers.come('kind', 'few', 'few 2')
    callers.come('kind', 'few', 'few 3')
    callers.come('other kind', 'other')
    await callers.settle()
    expect(callers.refused.toSorted()).toEqual(['few 3: 4 wait', 'many 4: 4 wait', 'many 5: 4 wait'])
    expect(await callers.serveAll()).toEqual(['many 1', 'other', 'few 1', 'many 2', 'few 2', 'many 3'])
  })

  test('turns that are ended twice make room for one', async () => {
    const turns = createTurns({ atOnce: 1, waitingMax: { key: 9, kind: 9 }, full: () => new Error('full') })
    const end = await turns.take('kind', 'key')
    end()
    end()
    await turns.take('kind', 'key')
    let begun = false
    turns.take('kind', 'key').then(() => {
      begun = true
    })
    await new Promise<void>((resolve) => setImmediate(resolve))
    expect(begun).toBe(false)
  })
})
