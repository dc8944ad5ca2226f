import { describe, expect, test } from 'bun:test'
import { OutgoingError, type OutgoingFailure, type SafeFetchOptions } from '../../../../src/core/outgoing.ts'
import { UcpError } from '../../../../src/lib/ucp/errors.ts'
import { createProfileReader } from '../../../../src/modules/agents/platform/profiles.ts'

const url = 'https://agent.example/profile'
const minute = 60_000
const profile = { ucp: { version: '2026-08-25', capabilities: {} } }

type Reply = { status?: number; body?: unknown; cacheControl?: string } | OutgoingFailure

/** Returns a profile reader with a clock and replies that the test controls. */
function setUp(reply: (url: string, nth: number) => Reply | Promise<Reply> = () => ({})) {
  let now = 1_000_000
  const fetched: { url: string; options: SafeFetchOptions }[] = []
  const reader = createProfileReader(
    async (address, options) => {
      fetched.push({ url: address, options })
      const answer = await reply(address, fetched.length)
      if (typeof answer === 'string') throw new OutgoingError(answer)
      const { status = 200, body = profile, cacheControl } = answer
      const bytes = body instanceof Uint8Array ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
      return { status, headers: new Headers(cacheControl === undefined ? {} : { 'cache-control': cacheControl }), bytes }
    },
    () => now,
  )
  return {
    fetched,
    read: (address = url, isStale = false) => reader.read(address, isStale),
    /** Returns the code of a refusal, or `read`. */
    attempt: (address = url, isStale = false) =>
      reader.read(address, isStale).then(
        () => 'read',
        (error: unknown) => (error instanceof UcpError ? error.code : error),
      ),
    advance: (ms: number) => {
      now += ms
    },
  }
}

describe('a profile that is fetched', () => {
  test('has limits of time and size, and is parsed once for concurrent callers', async () => {
    const { read, fetched } = setUp()
    const [one, other] = await Promise.all([read(), read()])
    expect(one).toBe(other)
    expect(fetched.length).toBe(1)
    expect(fetched[0]).toMatchObject({ url, options: { timeoutMs: 5_000, connectTimeoutMs: 3_000, bytesMax: 131_072 } })
  })

  test.each([
    [undefined, 1],
    ['no-store', 1],
    ['max-age=0', 1],
    ['max-age=5', 1],
    ['public, max-age=600', 10],
    ['MAX-AGE="600"', 10],
    ['s-maxage=600', 1],
    ['max-age=999999999', 24 * 60],
    ['max-age=99999999999999999999', 24 * 60],
  ])('with cache-control %p is cached for %p minutes', async (cacheControl, minutes) => {
    const { read, fetched, advance } = setUp(() => (cacheControl === undefined ? {} : { cacheControl }))
    await read()
    advance(minutes * minute - 1)
    await read()
    expect(fetched.length).toBe(1)
    advance(1)
    await read()
    expect(fetched.length).toBe(2)
  })

  test('that lacks a key is fetched again at most once a minute, and stays cached if that fails', async () => {
    const { attempt, read, fetched, advance } = setUp((_, nth) => (nth === 3 ? 'timeout' : { cacheControl: 'max-age=3600' }))
    const first = await read()
    expect(await read(url, true)).toBe(first)
    advance(minute)
    expect(await read(url, true)).not.toBe(first)
    expect(await attempt(url, true)).toBe('read')
    expect(fetched.length).toBe(2)
    advance(minute)
    expect(await attempt(url, true)).toBe('read')
    expect(await attempt(url, true)).toBe('read')
    expect(await attempt()).toBe('read')
    expect(fetched.length).toBe(3)
  })
})

describe('a profile that cannot be read', () => {
  test.each([
    ...(['timeout', 'connection failed', 'certificate not trusted', 'redirect', 'answer too large', 'address not allowed'] as const).map(
      (failure) => [failure, failure, 'profile_unreachable'] as const,
    ),
    ['a forbidden port', 'port not allowed', 'invalid_profile_url'],
    ['404', { status: 404 }, 'profile_unreachable'],
    ['500', { status: 500 }, 'profile_unreachable'],
    ['204', { status: 204, body: '' }, 'profile_unreachable'],
    ['no body', { body: '' }, 'profile_malformed'],
    ['HTML', { body: '<html>' }, 'profile_malformed'],
    ['half a body', { body: '[' }, 'profile_malformed'],
    ['deep lists', { body: '['.repeat(100_000) }, 'profile_malformed'],
    ['deep objects', { body: `${'{"ucp":'.repeat(15_000)}1${'}'.repeat(15_000)}` }, 'profile_malformed'],
    ['broken UTF-8', { body: Buffer.from([0x22, 0xff, 0x22]) }, 'profile_malformed'],
    ['a list', { body: [] }, 'profile_malformed'],
    ['another version', { body: { ucp: { version: '2026-01-11' } } }, 'version_unsupported'],
  ] as [string, Reply, string][])('because of %s is refused', async (_, reply, code) => {
    expect(await setUp(() => reply).attempt()).toBe(code)
  })

  test('has an invalid URL if its address is forbidden', async () => {
    const { attempt } = setUp(() => 'address not allowed')
    for (const address of [
      'http://agent.example/',
      'https://10.0.0.1/',
      'https://[fe80::1]/',
      'https://169.254.169.254/',
      'https://localhost/',
    ])
      expect([address, await attempt(address)]).toEqual([address, 'invalid_profile_url'])
  })

  test('by http has an invalid URL if its host does not resolve, but not if its port is closed', async () => {
    const { attempt } = setUp(() => 'connection failed')
    expect(await attempt('http://agent.example/')).toBe('invalid_profile_url')
    for (const address of ['http://127.0.0.1:9999/', 'http://localhost:9999/', 'https://agent.example/'])
      expect([address, await attempt(address)]).toEqual([address, 'profile_unreachable'])
  })

  test('is fetched again after a minute, then after twice as long each time, up to an hour', async () => {
    const { attempt, fetched, advance } = setUp((_, nth) => (nth < 10 ? 'timeout' : {}))
    for (const minutes of [1, 2, 4, 8, 16, 32, 60, 60, 60]) {
      const before = fetched.length
      expect(await attempt()).toBe('profile_unreachable')
      expect(fetched.length).toBe(before + 1)
      advance(minutes * minute - 1)
      expect(await attempt()).toBe('profile_unreachable')
      expect(fetched.length).toBe(before + 1)
      advance(1)
    }
    expect(await attempt()).toBe('read')
  })
})

describe('profiles of new platforms', () => {
  test('share 30 fetches a minute, while cached ones are read and fetched again', async () => {
    const { attempt, read, fetched, advance } = setUp((address) => (address === url ? {} : 'timeout'))
    await read()
    advance(minute)
    const others = Array.from({ length: 1_000 }, (_, nth) => `https://stranger-${nth}.example/`)
    const found = await Promise.all(others.map((address) => attempt(address)))
    expect(found.filter((code) => code === 'profile_unreachable').length).toBe(30)
    expect(found.filter((code) => code === 'unavailable').length).toBe(970)
    expect(await attempt()).toBe('read')
    expect(fetched.filter((one) => one.url === url).length).toBe(2)
    const refusal = await read('https://another.example/').catch((error: unknown) => error)
    expect(refusal).toMatchObject({ code: 'unavailable', status: 503, retryAfterSeconds: 60 })
    advance(minute)
    expect(await attempt('https://another.example/')).toBe('profile_unreachable')
  })

  test('do not evict a cached profile that is in use', async () => {
    const { attempt, fetched, advance } = setUp(() => ({ cacheControl: 'max-age=86400' }))
    expect(await attempt()).toBe('read')
    for (let nth = 0; nth < 1_500; nth++) {
      if (nth % 30 === 0) advance(minute)
      expect(await attempt(`https://stranger-${nth}.example/`)).toBe('read')
      expect(await attempt()).toBe('read')
    }
    expect(fetched.length).toBe(1_501)
    expect(fetched.filter((one) => one.url === url).length).toBe(1)
  })
})
