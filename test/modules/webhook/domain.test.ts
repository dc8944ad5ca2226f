import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  afterAttempt,
  crowded,
  keptMs,
  type Place,
  pausesMs,
  underWayMax,
  webhookSecretSeal,
  withRoom,
} from '../../../src/modules/webhook/domain.ts'

const now = 1_000_000
test('what was told is kept for thirty days', () => {
  expect(keptMs).toBe(2_592_000_000)
})

test('the secret of an endpoint stays bound to its shop and its endpoint', () => {
  expect(webhookSecretSeal('shop_1', 'whe_1')).toBe('shop_1/webhook-endpoint/whe_1')
})

const answered = (status: number) => ({ answered: status, failure: null })

describe('after an attempt, a delivery', () => {
  test('after an attempt, a delivery is done when the answer was one of success, even if the rest of it was lost', () => {
    for (const status of [200, 204, 299])
      for (const failure of [null, 'answer too large'] as const)
        expect(afterAttempt({ answered: status, failure }, 1, now, 0.5)).toEqual({
          status: 'DELIVERED',
          nextAt: now,
          lastStatus: status,
          lastError: null,
        })
  })

  test('after an attempt, a delivery waits for its next pause after any other answer, and after none, and says which', () => {
    for (const status of [199, 300, 404, 500])
      expect(afterAttempt(answered(status), 1, now, 0.5)).toEqual({
        status: 'PENDING',
        nextAt: now + 5_000,
        lastStatus: status,
        lastError: `answered ${status}`,
      })
    expect(afterAttempt({ answered: null, failure: 'timeout' }, 8, now, 0.5)).toEqual({
      status: 'PENDING',
      nextAt: now + 36_000_000,
      lastStatus: null,
      lastError: 'timeout',
    })
  })

  test('after an attempt, a delivery has failed once the last pause is over, and at once when the receiver says that it is gone', () => {
    const failed = { status: 'FAILED', nextAt: now } as const
    expect(afterAttempt(answered(500), 9, now, 0.5)).toEqual({ ...failed, lastStatus: 500, lastError: 'answered 500' })
    expect(afterAttempt(answered(410), 1, now, 0.5)).toEqual({ ...failed, lastStatus: 410, lastError: 'answered 410' })
  })

  test('pauses for a tenth less to a tenth more, by chance', () => {
    for (const [nth, pause] of pausesMs.entries())
      expect([0, 0.25, 1].map((chance) => afterAttempt(answered(500), nth + 1, now, chance).nextAt - now)).toEqual([
        (pause * 9) / 10,
        (pause * 19) / 20,
        (pause * 11) / 10,
      ])
  })
})

describe('room for deliveries', () => {
  const place = fc.record({ shopId: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g'), endpointId: fc.constantFrom('1', '2', '3') })
  // An endpoint belongs to one shop.
  const places = fc
    .array(place, { maxLength: 60 })
    .map((all) => all.map(({ shopId, endpointId }) => ({ shopId, endpointId: shopId + endpointId })))
  const mostOf = (all: readonly Place[], key: keyof Place) =>
    Math.max(
      0,
      ...Map.groupBy(all, (one) => one[key])
        .values()
        .map((of) => of.length),
    )

  test('room for deliveries is never taken beyond what a shop, an endpoint and all together may have, and never left when something fits', () => {
    fc.assert(
      fc.property(places, places, (due, started) => {
        const underWay = withRoom(started, [])
        const chosen = withRoom(due, underWay)
        const all = [...underWay, ...chosen]
        expect(mostOf(all, 'shopId')).toBeLessThanOrEqual(underWayMax.shop)
        expect(mostOf(all, 'endpointId')).toBeLessThanOrEqual(underWayMax.endpoint)
        expect(all.length).toBeLessThanOrEqual(underWayMax.all)
        expect(due.filter((one) => chosen.includes(one))).toEqual(chosen)
        const { shops, endpoints } = crowded(all)
        for (const one of due)
          if (!chosen.includes(one))
            expect(all.length === underWayMax.all || shops.includes(one.shopId) || endpoints.includes(one.endpointId)).toBe(true)
      }),
    )
  })

  test('room for deliveries is gone at an endpoint with two under way and at a shop with four', () => {
    const underWay = [
      { shopId: 'a', endpointId: 'a1' },
      { shopId: 'b', endpointId: 'b1' },
      { shopId: 'b', endpointId: 'b1' },
      { shopId: 'c', endpointId: 'c1' },
      { shopId: 'c', endpointId: 'c2' },
      { shopId: 'c', endpointId: 'c3' },
      { shopId: 'c', endpointId: 'c4' },
    ]
    expect(crowded(underWay)).toEqual({ shops: ['c'], endpoints: ['b1'] })
  })

  test('room for deliveries is gone for everybody with 24 under way', () => {
    const due = Array.from({ length: 30 }, (_, at) => ({ shopId: `shop ${at}`, endpointId: `endpoint ${at}` }))
    expect(withRoom(due, [])).toEqual(due.slice(0, 24))
    expect(withRoom(due.slice(24), due.slice(0, 24))).toEqual([])
  })
})
