import { expect, test } from 'bun:test'
import { createSharedToken } from '../../../src/clients/processors/shared-token.ts'

const lifeMs = 3_600_000

/** Creates a shared token whose requests return `1`, `2`, … when the test calls `give`. */
function createTokenSource() {
  let now = 1_000_000
  const waiting: PromiseWithResolvers<{ value: string; expiresAt: number }>[] = []
  const shared = createSharedToken(
    () => {
      const next = Promise.withResolvers<{ value: string; expiresAt: number }>()
      waiting.push(next)
      return next.promise
    },
    () => now,
  )
  const give = (at: number) => waiting[at - 1]?.resolve({ value: String(at), expiresAt: now + lifeMs })
  const refuse = (at: number) => waiting[at - 1]?.reject(new Error(`no token ${at}`))
  const advance = (ms: number) => {
    now += ms
  }
  return { shared, give, refuse, requestCount: () => waiting.length, advance }
}

test('callers during a token request share its token', async () => {
  const { shared, give, requestCount } = createTokenSource()
  const all = [shared.get(), shared.renew('0'), shared.refresh(), shared.get()]
  give(1)
  expect(await Promise.all(all)).toEqual(['1', '1', '1', '1'])
  expect(await shared.get()).toBe('1')
  expect(requestCount()).toBe(1)
})

test('a caller refused with an old token gets the current one without a request', async () => {
  const { shared, give, requestCount } = createTokenSource()
  const first = shared.get()
  give(1)
  await first
  const second = shared.renew('1')
  give(2)
  expect(await second).toBe('2')
  expect(await shared.renew('1')).toBe('2')
  expect(requestCount()).toBe(2)
})

test('a failed token request fails all its waiters, and the next caller requests again', async () => {
  const { shared, give, refuse, requestCount } = createTokenSource()
  const all = Promise.allSettled([shared.get(), shared.get()])
  refuse(1)
  expect((await all).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  const next = shared.get()
  give(2)
  expect(await next).toBe('2')
  expect(requestCount()).toBe(2)
})

test('a token is used until shortly before it expires', async () => {
  const { shared, give, requestCount, advance } = createTokenSource()
  const first = shared.get()
  give(1)
  await first
  advance(lifeMs - 60_001)
  expect(await shared.get()).toBe('1')
  advance(1)
  const second = shared.get()
  give(2)
  expect(await second).toBe('2')
  expect(requestCount()).toBe(2)
})
