import { describe, expect, test } from 'bun:test'
import { isFresh, ownServices, type ProcessStart, pauseAfter } from '../../../../src/modules/operations/deploy-status/domain.ts'

const now = 10_000_000
const minute = 60_000
const start = (id: string, more: Partial<ProcessStart> = {}): ProcessStart => ({
  ...{ id, revision: '1.0.0', startedAt: now - 60 * minute, seenAt: now - minute, stoppedAt: null },
  ...more,
})
const countsOf = (starts: readonly ProcessStart[], selfId = 'a') =>
  ownServices(starts, selfId, now).map(({ service, desired, running, state }) => [service, desired, running, state])

describe("the instance's own services", () => {
  test("the instance's services count all processes that have not ended, and run while they report", () => {
    expect(countsOf([start('a'), start('b')])).toEqual([
      ['server', 2, 2, 'steady'],
      ['jobs', 2, 2, 'steady'],
    ])
    expect(countsOf([start('a'), start('b', { stoppedAt: now - 1 })])[0]).toEqual(['server', 1, 1, 'steady'])
    expect(countsOf([])[0]).toEqual(['server', 0, 0, 'unknown'])
  })

  test('a silent process is missing for 15 minutes, and then no longer expected', () => {
    expect(countsOf([start('a'), start('b', { seenAt: now - 3 * minute })])[0]).toEqual(['server', 2, 1, 'degraded'])
    expect(countsOf([start('a'), start('b', { seenAt: now - 15 * minute })])[0]).toEqual(['server', 1, 1, 'steady'])
  })

  test('this process runs as a server, because it responds; its jobs must report', () => {
    expect(countsOf([start('a', { seenAt: now - 5 * minute })])).toEqual([
      ['server', 1, 1, 'steady'],
      ['jobs', 1, 0, 'degraded'],
    ])
  })

  test('two revisions at once are a deploy in progress, and the one started last is shown', () => {
    const [server] = ownServices([start('a'), start('b', { revision: '1.1.0', startedAt: now - minute })], 'a', now)
    expect(server).toMatchObject({ state: 'rolling', revision: '1.1.0', desired: 2, running: 2 })
  })
})

test('a response is fresh for a minute, and never from the future', () => {
  const cached = { asOf: now, items: [] }
  expect([now, now + minute - 1, now + minute, now - 1].map((at) => isFresh(cached, at))).toEqual([true, true, false, false])
})

test('a provider is paused twice as long after each failure, up to five minutes, or as long as it asks', () => {
  expect([1, 2, 3, 6, 7, 2_000].map((failures) => pauseAfter(failures))).toEqual([5_000, 10_000, 20_000, 160_000, 300_000, 300_000])
  expect([pauseAfter(1, 30_000), pauseAfter(7, 1_000)]).toEqual([30_000, 300_000])
})
