/** Breakers of processors in one process. */
import { describe, expect, test } from 'bun:test'
import { failuresMax } from '../../../../src/lib/breaker.ts'
import { type BreakerOf, createBreakers } from '../../../../src/modules/payments/payment-method/breakers.ts'

const stripe: BreakerOf = { processor: 'stripe', host: 'api.stripe.com' }
const btcpay: BreakerOf = { processor: 'btcpay', host: 'pay.shop.example' }

function breakersAt(start = 1_000_000) {
  let now = start
  const breakers = createBreakers(() => now)
  return {
    ...breakers,
    advance: (ms: number) => {
      now += ms
    },
    open: (at: BreakerOf) => {
      for (let nth = 0; nth < failuresMax; nth++) breakers.failed(at)
    },
  }
}

describe('breakers', () => {
  test("each processor and host has a separate breaker, so a merchant's dead server does not affect others", () => {
    const { open, of, all } = breakersAt()
    open(btcpay)
    expect(of(btcpay).state).toBe('OPEN')
    expect(of({ ...btcpay, host: 'api.stripe.com' }).state).toBe('CLOSED')
    expect(of({ ...btcpay, processor: 'stripe' }).state).toBe('CLOSED')
    expect(all().map(({ processor, host }) => [processor, host])).toEqual([['btcpay', 'pay.shop.example']])
  })

  test('the version changes only when a breaker starts or stops to block calls', () => {
    const { recordAnswer, failed, beginProbe, recordProbe, version, advance } = breakersAt()
    const versions = [version()]
    const recordVersion = () => versions.push(version())
    for (let nth = 1; nth < failuresMax; nth++) failed(stripe)
    recordVersion()
    recordAnswer(stripe)
    recordVersion()
    for (let nth = 0; nth < failuresMax; nth++) failed(stripe)
    recordVersion()
    advance(30_000)
    beginProbe(stripe)
    recordVersion()
    recordProbe(stripe, true)
    recordVersion()
    expect(versions).toEqual([0, 0, 0, 1, 1, 2])
  })

  test('one probe is due after the pause, and only one caller can start it', () => {
    const { open, due, beginProbe, recordProbe, advance, of } = breakersAt()
    open(stripe)
    expect([due(), beginProbe(stripe)]).toEqual([[], false])
    advance(30_000)
    expect(due()).toEqual([{ ...stripe, breaker: of(stripe) } as BreakerOf])
    expect([beginProbe(stripe), beginProbe(stripe), due()]).toEqual([true, false, []])
    recordProbe(stripe, false)
    advance(59_999)
    expect(due()).toEqual([])
    advance(1)
    expect(beginProbe(stripe)).toBe(true)
    recordProbe(stripe, true)
    expect(of(stripe).state).toBe('CLOSED')
  })

  test('the number of hosts is limited: closed breakers are dropped before open ones, and healthy hosts are not stored', () => {
    const { open, failed, recordAnswer, all, of, version } = breakersAt()
    open(btcpay)
    for (let nth = 0; nth < 5_000; nth++) failed({ processor: 'btcpay', host: `host-${nth}.example` })
    expect(all()).toHaveLength(200)
    expect(of(btcpay).state).toBe('OPEN')
    for (let nth = 0; nth < 5_000; nth++) recordAnswer({ processor: 'btcpay', host: `host-${nth}.example` })
    expect(all().map(({ host }) => host)).toEqual([btcpay.host])
    for (let nth = 0; nth < 200; nth++) open({ processor: 'btcpay', host: `dead-${nth}.example` })
    // The oldest breaker was dropped, and the version invalidates cached answers.
    expect([of(btcpay).state, all().length, version()]).toEqual(['CLOSED', 200, 202])
  })
})
