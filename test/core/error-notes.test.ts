import { describe, expect, test } from 'bun:test'
import { countErrors, titleOf } from '../../src/core/error-notes.ts'
import { hourMs } from '../../src/lib/day.ts'
import type { Log } from '../../src/lib/log.ts'

const nothing = () => undefined
const silentLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing }
const at = 100 * hourMs + 5

describe('error summaries', () => {
  test('the title of an error has its event, job, route, class, code and source line, and never its message', () => {
    const error = Object.assign(new RangeError('4111 1111 1111 1111 of ana@example.com'), { code: 'ERR_CARD' })
    error.stack =
      'RangeError: ana@example.com\n    at f (/usr/lib/x.js:1:1)\n    at g (/home/ana/souk/src/modules/selling/order/saga/saga.ts:12:3)'
    const fields = { error, job: 'sell', order: 'order_1', email: 'ana@example.com', route: '/v2/orders/:orderId', method: 'GET' }
    expect(titleOf('job.failed', fields)).toBe(
      'job.failed sell GET /v2/orders/:orderId RangeError ERR_CARD modules/selling/order/saga/saga.ts:12',
    )
    error.stack = 'x\n    at g (/$bunfs/root/chunk-1a2b.js:7:3)'
    expect(titleOf('job.failed', { error })).toBe('job.failed RangeError ERR_CARD chunk-1a2b.js:7')
    expect(titleOf('job.failed', { error: 'ana@example.com', job: 'ana smith' })).toBe('job.failed')
  })

  test('errors are counted by kind and hour, still logged, and not counted twice after take', () => {
    const lines: string[] = []
    let now = at
    const { log, notes } = countErrors({ ...silentLog, error: (event) => void lines.push(event) }, () => now)
    log.error('a')
    log.error('b')
    now += 10
    log.error('a')
    now += hourMs
    log.error('a')
    log.warn('c')
    const counts = notes.take()
    expect(counts.map(({ title, hour, count, lastSeen }) => [title, hour / hourMs, count, lastSeen - at])).toEqual([
      ['a', 100, 2, 10],
      ['b', 100, 1, 0],
      ['a', 101, 1, hourMs + 10],
    ])
    expect(lines).toEqual(['a', 'b', 'a', 'a'])
    expect(notes.take()).toEqual([])
    notes.restore(counts.slice(0, 1))
    log.error('b')
    expect(notes.take().map(({ title, count }) => [title, count])).toEqual([
      ['a', 2],
      ['b', 1],
    ])
  })

  test('more than 200 kinds of errors are counted together, also after take', () => {
    const { log, notes } = countErrors(silentLog, () => at)
    for (let nth = 0; nth < 150; nth++) log.error(`event-${nth}`)
    const first = notes.take()
    for (let nth = 100; nth < 1_000; nth++) log.error(`event-${nth}`)
    const kinds = new Set([...first, ...notes.take()].map(({ title }) => title))
    expect(kinds.size).toBe(201)
    expect(kinds).toContain('other errors')
  })
})
