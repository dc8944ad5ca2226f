import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { selectForSlots } from '../../../../src/core/delivery-queue.ts'
import {
  type Attempt,
  type AttemptSlot,
  afterAttempt,
  disabledAfter,
  failuresTolerated,
  fullShopsAndEndpoints,
  gaveWay,
  type Health,
  hasSlot,
  healthAfter,
  healthy,
  type Outcome,
  onlyHealthy,
  patienceMs,
  retentionMs,
  retryPausesMs,
  selectToAbort,
  slotsMax,
  slotsPerShop,
  webhookSecretSeal,
} from '../../../../src/modules/messaging/webhook/domain.ts'

const now = 1_000_000
test('messages are kept for thirty days', () => {
  expect(retentionMs).toBe(2_592_000_000)
})

test('the seal of a webhook secret contains the shop and the endpoint', () => {
  expect(webhookSecretSeal('shop_1', 'whe_1')).toBe('shop_1/webhook-endpoint/whe_1')
})

const answered = (status: number) => ({ answered: status, failure: null })
const aborted = { answered: null, failure: gaveWay } as const

describe('a delivery after an attempt', () => {
  test('a delivery is done after a 2xx response, even if the response is cut off', () => {
    for (const status of [200, 204, 299])
      for (const failure of [null, 'answer too large'] as const)
        expect(afterAttempt({ answered: status, failure }, 1, now, 0.5)).toEqual({
          status: 'DELIVERED',
          nextAt: now,
          lastStatus: status,
          lastError: null,
        })
  })

  test('a delivery waits for its next pause after another response or an error, and records it', () => {
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

  test('a delivery fails after the last pause, and at once after 410', () => {
    const failed = { status: 'FAILED', nextAt: now } as const
    expect(afterAttempt(answered(500), 9, now, 0.5)).toEqual({ ...failed, lastStatus: 500, lastError: 'answered 500' })
    expect(afterAttempt(answered(410), 1, now, 0.5)).toEqual({ ...failed, lastStatus: 410, lastError: 'answered 410' })
  })

  test('an attempt that was aborted for others does not count and is retried soon', () => {
    for (const attempts of [1, 9])
      expect(afterAttempt(aborted, attempts, now, 0.5)).toEqual({
        status: 'PENDING',
        attempts: attempts - 1,
        nextAt: now + 5_000,
        lastStatus: null,
        lastError: 'gave way',
      })
  })

  test('retry pauses vary randomly by ten percent', () => {
    for (const [nth, pause] of retryPausesMs.entries())
      expect([0, 0.25, 1].map((chance) => afterAttempt(answered(500), nth + 1, now, chance).nextAt - now)).toEqual([
        (pause * 9) / 10,
        (pause * 19) / 20,
        (pause * 11) / 10,
      ])
  })
})

const minute = 60_000
const day = 24 * 60 * minute
const afterAll = (outcomes: readonly Outcome[], at = now): Health =>
  outcomes.reduce<Health>((health, outcome) => healthAfter(health, outcome, at, 0.5) ?? health, healthy)

describe('the health of an endpoint', () => {
  test('from the third failure in a row, an endpoint rests twice as long each time, up to ten minutes', () => {
    const rests = Array.from({ length: 12 }, (_, nth) => afterAll(Array(nth + 1).fill(answered(500))).retryAt)
    expect(rests.map((until) => (until === null ? null : until - now))).toEqual([
      ...[null, null, 5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 320_000],
      ...[10 * minute, 10 * minute, 10 * minute],
    ])
    const tenth = afterAll(Array(10).fill(answered(500)))
    expect([0, 1].map((chance) => (healthAfter(tenth, answered(500), now, chance)?.retryAt ?? 0) - now)).toEqual([9 * minute, 11 * minute])
  })

  test('one success resets the health of an endpoint, and failures keep the time of the first one', () => {
    const timeout = { answered: null, failure: 'timeout' } as const
    const first = healthAfter(healthy, timeout, now, 0.5) ?? healthy
    expect(first).toEqual({ ...healthy, failures: 1, failingSince: now })
    const fourth = healthAfter(afterAll(Array(3).fill(timeout)), answered(404), now + 7, 0.5)
    expect(fourth).toMatchObject({ failures: failuresTolerated + 1, failingSince: now })
    expect(healthAfter(fourth ?? healthy, answered(204), now + 8, 0.5)).toEqual(healthy)
  })

  test('an internal error does not affect the health of an endpoint', () => {
    expect(healthAfter(healthy, { answered: null, failure: 'internal error' }, now, 0.5)).toBeUndefined()
  })

  test('aborted attempts make an endpoint rest but never count as failures', () => {
    const slow = afterAll(Array(50).fill(aborted))
    expect(slow).toEqual({ ...healthy, failures: 1, retryAt: now + 5_000 })
    expect(healthAfter(slow, answered(200), now, 0.5)).toEqual(healthy)
    const failing = afterAll(Array(6).fill(answered(500)))
    expect(healthAfter(failing, aborted, now + day, 0.5)).toEqual({ ...failing, retryAt: now + day + 40_000 })
  })

  test('an endpoint is disabled by 410 and stays disabled', () => {
    const disabled = healthAfter(healthy, answered(410), now, 0.5) ?? healthy
    expect(disabled).toMatchObject({ disabledAt: now, disabledReason: 'GONE' })
    for (const late of [500, 410, 200])
      expect(healthAfter(disabled, answered(late), now + day, 0.5)).toMatchObject({ disabledAt: now, disabledReason: 'GONE' })
  })

  test('an endpoint is disabled after both five days and twenty attempts without success', () => {
    const failing = (failures: number, ms: number) => healthAfter({ ...healthy, failures, failingSince: now - ms }, answered(500), now, 0.5)
    expect(disabledAfter).toEqual({ ms: 5 * day, failures: 20 })
    expect(failing(19, 5 * day)).toMatchObject({ disabledAt: now, disabledReason: 'FAILING' })
    expect(failing(18, 5 * day)).toMatchObject({ disabledAt: null, disabledReason: null })
    expect(failing(500, 5 * day - 1)).toMatchObject({ disabledAt: null, disabledReason: null })
  })
})

describe('slots for deliveries', () => {
  const slot = fc.record({ shopId: fc.nat(40).map(String), endpointId: fc.constantFrom('1', '2', '3'), failures: fc.nat(1) })
  // An endpoint belongs to one shop.
  const slots = fc
    .array(slot, { maxLength: 200 })
    .map((all) => all.map(({ endpointId, ...one }) => ({ ...one, endpointId: `${one.shopId}/${endpointId}` })))
  const mostOf = (all: readonly AttemptSlot[], key: keyof AttemptSlot) =>
    Math.max(
      0,
      ...Map.groupBy(all, (one) => one[key])
        .values()
        .map((of) => of.length),
    )

  test('slots never exceed the limits of shop, endpoint and total, and no slot stays free that a delivery fits', () => {
    fc.assert(
      fc.property(slots, slots, (due, started) => {
        const inFlight = selectForSlots(started, [], hasSlot)
        const chosen = selectForSlots(due, inFlight, hasSlot)
        const all = [...inFlight, ...chosen]
        expect(mostOf(all, 'shopId')).toBeLessThanOrEqual(slotsMax.shop)
        expect(mostOf(all, 'endpointId')).toBeLessThanOrEqual(slotsMax.endpoint)
        expect(all.length).toBeLessThanOrEqual(slotsMax.all)
        expect(due.filter((one) => chosen.includes(one))).toEqual(chosen)
        const { shops, endpoints } = fullShopsAndEndpoints(all)
        for (const one of due)
          if (!chosen.includes(one))
            expect(
              (one.failures > 0 && onlyHealthy(all.length)) ||
                all.length === slotsMax.all ||
                shops.includes(one.shopId) ||
                endpoints.includes(one.endpointId),
            ).toBe(true)
      }),
    )
  })

  test('a shop without deliveries in flight gets a slot if any is free', () => {
    fc.assert(
      fc.property(slots, (started) => {
        const inFlight = selectForSlots(started, [], hasSlot)
        fc.pre(inFlight.length < slotsMax.all)
        const newcomer = { shopId: 'new', endpointId: 'new/1', failures: 0 }
        expect(selectForSlots([newcomer], inFlight, hasSlot)).toEqual([newcomer])
      }),
    )
  })

  test('failing endpoints get at most three quarters of the slots', () => {
    const failed = Array.from({ length: 100 }, (_, at) => ({ shopId: `${at}`, endpointId: `${at}/1`, failures: 1 }))
    expect(selectForSlots(failed, [], hasSlot)).toHaveLength(48)
  })

  test('a shop gets four, three, two or one slots as fewer are free', () => {
    expect(slotsMax).toEqual({ all: 64, shop: 4, endpoint: 2 })
    expect([64, 32, 31, 24, 23, 16, 15, 1, 0].map(slotsPerShop)).toEqual([4, 4, 3, 3, 2, 2, 1, 1, 1])
    const greedy = Array.from({ length: 300 }, (_, at) => ({ shopId: `${at % 20}`, endpointId: `${at % 20}/${at % 60}`, failures: 0 }))
    expect(slotsMax.all - selectForSlots(greedy, [], hasSlot).length).toBeGreaterThanOrEqual(slotsMax.all / 4)
  })

  test('an endpoint is full with two deliveries in flight and a shop with four', () => {
    const inFlight = [
      { shopId: 'a', endpointId: 'a1' },
      { shopId: 'b', endpointId: 'b1' },
      { shopId: 'b', endpointId: 'b1' },
      { shopId: 'c', endpointId: 'c1' },
      { shopId: 'c', endpointId: 'c2' },
      { shopId: 'c', endpointId: 'c3' },
      { shopId: 'c', endpointId: 'c4' },
    ]
    expect(fullShopsAndEndpoints(inFlight)).toEqual({ shops: ['c'], endpoints: ['b1'] })
  })

  const attempt = (shopId: string, beganAt: number, failures = 0): Attempt => ({
    shopId,
    endpointId: `${shopId}/1`,
    beganAt,
    failures,
    mayGiveWay: true,
  })

  test('aborts old attempts in order: failed endpoints, busy shops, oldest; none that was aborted before', () => {
    const old = now - patienceMs
    const young = attempt('a', old + 1, 9)
    const failed = attempt('b', old, 1)
    const many = [attempt('c', old - 1), attempt('c', old)]
    const oldest = attempt('d', old - 5)
    const older = attempt('e', old - 4)
    const before = { ...attempt('f', old - 9, 9), mayGiveWay: false }
    const all = [young, older, before, oldest, ...many, failed]
    const order = [failed, ...many, oldest, older]
    for (let waiting = 0; waiting < 7; waiting++) expect(selectToAbort(all, waiting, now)).toEqual(order.slice(0, waiting))
  })
})
