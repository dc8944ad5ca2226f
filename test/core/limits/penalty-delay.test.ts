import { heapStats } from 'bun:jsc'
import { describe, expect, setDefaultTimeout, spyOn, test } from 'bun:test'
import { createPenaltyDelay } from '../../../src/core/limits/penalty-delay.ts'
import { testApp } from '../../support/app.ts'
import { rawConnection, serveTestApp } from '../../support/server.ts'
import { longTestMs } from '../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

/** Creates a delay: two errors at once, then one every 10 ms, within 40 ms. At most four wait. */
function createTestDelay() {
  let now = 1_000
  const slept: { ms: number; wake: () => void }[] = []
  const penaltyDelay = createPenaltyDelay({
    now: () => now,
    sleep: (ms) => new Promise((wake) => slept.push({ ms, wake })),
    apartMs: 10,
    atOnce: 2,
    waitMaxMs: 40,
    waitingMax: 4,
    sendersMax: 3,
  })
  return {
    /** Returns the delay of this sender's error in milliseconds. */
    wait(sender = 'a'): number {
      const before = slept.length
      const waits = penaltyDelay.wait(sender) !== undefined
      expect(slept.length - before).toBe(waits ? 1 : 0)
      return waits ? (slept.at(-1)?.ms ?? 0) : 0
    },
    advance(ms: number) {
      now += ms
    },
    async wakeAll() {
      for (const { wake } of slept) wake()
      await Promise.resolve()
      await Promise.resolve()
    },
  }
}

describe('repeated errors of one sender', () => {
  test('few errors of one sender are sent at once, many are spaced, and none waits longer than the maximum', async () => {
    const { wait, advance, wakeAll } = createTestDelay()
    expect([wait(), wait(), wait(), wait()]).toEqual([0, 0, 10, 20])
    advance(20)
    await wakeAll()
    expect([wait(), wait(), wait(), wait()]).toEqual([10, 20, 30, 40])
    await wakeAll()
    expect(wait()).toBe(40)
    await wakeAll()
    // After a pause the first errors are free again, however long the pause was.
    advance(1_000)
    expect([wait(), wait(), wait()]).toEqual([0, 0, 10])
  })

  test('errors of one sender do not delay other senders, and use bounded memory', async () => {
    const { wait, wakeAll } = createTestDelay()
    expect([wait('a'), wait('a'), wait('a'), wait('b'), wait('b'), wait('b')]).toEqual([0, 0, 10, 0, 0, 10])
    expect([wait('a'), wait('b')]).toEqual([20, 20])
    // Four errors wait, so that further ones are not delayed.
    expect([wait('a'), wait('c')]).toEqual([0, 0])
    await wakeAll()
    expect([wait('a'), wait('b')]).toEqual([40, 30])
    // The fourth sender replaces the one with the oldest error.
    wait('d')
    expect(wait('c')).toBe(0)
  })

  test('errors from many networks of an IPv6 /48 are spaced too', () => {
    let now = 1_000
    const waits: number[] = []
    const penaltyDelay = createPenaltyDelay({
      now: () => now,
      sleep: async (ms) => void waits.push(ms),
      apartMs: 16,
      atOnce: 2,
      sendersMax: 3,
    })
    const times = 65
    for (let nth = 0; nth < times; nth++) void penaltyDelay.wait(`2001:db8:7:${nth.toString(16)}::/64`)
    // A /48 has sixteen times as many free errors as one address, and a sixteenth of the spacing.
    expect(waits).toHaveLength(times - 32)
    expect([waits[0], waits.at(-1)]).toEqual([1, times - 32])
    // Other IPv6 sites and IPv4 addresses are not affected.
    expect([penaltyDelay.wait('2001:db8:8:1::/64'), penaltyDelay.wait('203.0.113.9')]).toEqual([undefined, undefined])
    now += 1_000
    expect(penaltyDelay.wait('2001:db8:7:1::/64')).toBeUndefined()
  })

  test('errors of large bodies are delayed, those of small bodies are not', async () => {
    await using app = await testApp()
    await using served = serveTestApp(app)
    const { promise: delay, resolve: endDelay } = Promise.withResolvers<void>()
    using wait = spyOn(app.deps.penaltyDelay, 'wait').mockReturnValue(delay)
    const send = async (body: string) => {
      const connection = await rawConnection(served.port)
      connection.send(
        `POST /merchant/login HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      )
      const { status, body: answer } = await connection.answer()
      connection.close()
      return `${status} ${JSON.parse(answer).message}`
    }
    const large = `{"unheard":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
    const answers = Array.from({ length: 3 }, () => send(large))
    while (wait.mock.calls.length < answers.length) await new Promise((resume) => setImmediate(resume))
    expect(await send('{"unheard":[]}')).toBe('400 unknown field: unheard')
    expect(wait).toHaveBeenCalledTimes(answers.length)
    endDelay()
    for (const answer of answers) expect(await answer).toBe('400 The body is nested deeper than 32 levels')
  })

  test('the parsed body is released before its error waits', async () => {
    await using app = await testApp()
    const { promise: over, resolve: end } = Promise.withResolvers<void>()
    using wait = spyOn(app.deps.penaltyDelay, 'wait').mockReturnValue(over)
    const countArrays = () => {
      Bun.gc(true)
      return heapStats().objectTypeCounts['Array'] ?? 0
    }
    const before = countArrays()
    const raw = `{"unheard":[${'[],'.repeat(900)}0],"more":"${'x'.repeat(3_000)}"}`
    const headers = { 'content-type': 'application/json', 'content-length': `${raw.length}` }
    const answers = Array.from({ length: 20 }, () => app.call('POST', '/merchant/login', { raw, headers }))
    while (wait.mock.calls.length < answers.length) await new Promise((resume) => setImmediate(resume))
    expect(countArrays() - before).toBeLessThan(5_000)
    end()
    for (const { status } of await Promise.all(answers)) expect(status).toBe(400)
  })

  test('errors of writes beyond the rate limit are delayed', async () => {
    await using app = await testApp({ STOREFRONT_WRITES_PER_MINUTE: '1' })
    using wait = spyOn(app.deps.penaltyDelay, 'wait')
    const { publishableKey: key } = await app.merchant()
    expect((await app.call('POST', '/cart', { key, body: {}, from: '203.0.113.7' })).status).toBe(201)
    expect(wait).not.toHaveBeenCalled()
    expect((await app.call('POST', '/cart', { key, body: {}, from: '203.0.113.7' })).status).toBe(429)
    expect(wait.mock.calls).toEqual([['203.0.113.7']])
  })
})
