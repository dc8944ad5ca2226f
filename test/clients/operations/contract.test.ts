/** Tests the contract of the providers of the operations pages, over HTTP against stand-ins. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { ProviderError } from '../../../src/core/operations.ts'
import { type Fault, faults } from '../../support/providers/stand-in.ts'
import { type ProviderFixture, providerFixtures } from '../../support/providers/worlds.ts'
import { longTestMs } from '../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

/** Time limits: long enough for a slow machine, and short where a server is silent on purpose. */
const totalMs = 60_000
const silentMs = 200

async function failureOf(world: ProviderFixture, kind: Fault, from = 1): Promise<ProviderError> {
  world.server.requests.length = 0
  world.server.fault = { kind, from }
  try {
    return await world.provider.ask().then(
      (services) => Promise.reject(new Error(`it returned ${JSON.stringify(services)}`)),
      (error: unknown) => (error instanceof ProviderError ? error : Promise.reject(error)),
    )
  } finally {
    world.server.fault = undefined
  }
}

describe.each(Object.keys(providerFixtures))('the provider %s', (name) => {
  let world: ProviderFixture
  let calls = 0
  beforeAll(async () => {
    world = (await providerFixtures[name]?.(totalMs)) as ProviderFixture
  })
  afterAll(() => world.server.close())

  test('returns all pages with requests and responses as documented by the provider', async () => {
    expect(await world.provider.ask()).toEqual(world.expected)
    expect(world.server.breaches).toEqual([])
    calls = world.server.requests.length
    expect(calls).toBeGreaterThan(1)
  })

  const fastFaults = (Object.keys(faults) as Fault[]).filter((kind) => !['slow', 'silent'].includes(kind))
  test.each(fastFaults)('fails with the reason and no secrets when the first response is %s', async (kind) => {
    const error = await failureOf(world, kind)
    expect(error.message).toMatch(faults[kind])
    expect(error.message).not.toMatch(/secret|Sign in|unexpected|127\.0\.0\.1|token/)
  })

  test('returns nothing when a later call fails, rather than a part', async () => {
    for (const from of new Set([2, Math.ceil(calls / 2), calls])) {
      const error = await failureOf(world, 'broken', from)
      expect(error.message).toBe('status 500')
    }
    expect(await world.provider.ask()).toEqual(world.expected)
  })

  test('uses the Retry-After of the provider, up to an hour', async () => {
    expect((await failureOf(world, 'overloaded')).retryAfterMs).toBe(7_000)
    // ECS sends no retry time.
    expect((await failureOf(world, 'throttled')).retryAfterMs).toBe(name === 'ecs' ? undefined : 30_000)
  })

  test.each(['slow', 'silent'] as const)('times out for all calls together when the provider is %s', async (kind) => {
    const withShortLimit = (await providerFixtures[name]?.(silentMs)) as ProviderFixture
    try {
      expect((await failureOf(withShortLimit, kind)).message).toMatch(faults[kind])
    } finally {
      await withShortLimit.server.close()
    }
  })

  test('returns an empty list when the provider has nothing', async () => {
    world.empty()
    expect(await world.provider.ask()).toEqual([])
    expect(world.server.breaches).toEqual([])
  })
})

describe('the provider ecs', () => {
  test('a service that no longer exists is omitted, and a service that ECS cannot describe is an error', async () => {
    const world = (await providerFixtures['ecs']?.(20_000)) as ProviderFixture
    try {
      for (const [reason, services] of [
        ['MISSING', true],
        ['ACCESS_DENIED', false],
      ] as const) {
        world.failing?.(reason)
        const request = world.provider.ask()
        if (services) expect((await request).length).toBe(world.expected.length - 1)
        else await expect(request).rejects.toThrow('a service could not be described')
      }
    } finally {
      await world.server.close()
    }
  })
})

describe('the provider github', () => {
  test('unchanged responses of GitHub are requested by ETag and reused', async () => {
    const world = (await providerFixtures['github']?.(totalMs)) as ProviderFixture
    await world.provider.ask()
    world.server.requests.length = 0
    expect(await world.provider.ask()).toEqual(world.expected)
    const [tagged, all] = [world.server.requests.filter(({ headers }) => headers['if-none-match']), world.server.requests]
    expect(all.filter((request) => !tagged.includes(request)).every(({ path }) => path.includes('/commits/'))).toBe(true)
    expect(tagged.length).toBeGreaterThan(3)
    await world.server.close()
  })
})
