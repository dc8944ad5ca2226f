/** What this process remembers of processors that do not answer. */
import { describe, expect, test } from 'bun:test'
import { failuresMax } from '../../../../src/lib/breaker.ts'
import { type BreakerOf, createBreakers } from '../../../../src/modules/payments/payment-method/breakers.ts'

const stripe: BreakerOf = { processor: 'stripe', host: 'api.stripe.com' }
const own: BreakerOf = { processor: 'btcpay', host: 'pay.shop.example' }

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
  test('each processor and host has a breaker of its own: a dead server of a merchant opens nobody else’s', () => {
    const { open, of, all } = breakersAt()
    open(own)
    expect(of(own).state).toBe('OPEN')
    expect(of({ ...own, host: 'api.stripe.com' }).state).toBe('CLOSED')
    expect(of({ ...own, processor: 'stripe' }).state).toBe('CLOSED')
    expect(all().map(({ processor, host }) => [processor, host])).toEqual([['btcpay', 'pay.shop.example']])
  })

  test('the version changes when calls begin or cease to pass, and at nothing else', () => {
    const { answered, failed, beginProbe, probed, version, advance } = breakersAt()
    const versions = [version()]
    const note = () => versions.push(version())
    for (let nth = 1; nth < failuresMax; nth++) failed(stripe)
    note()
    answered(stripe)
    note()
    for (let nth = 0; nth < failuresMax; nth++) failed(stripe)
    note()
    advance(30_000)
    beginProbe(stripe)
    note()
    probed(stripe, true)
    note()
    expect(versions).toEqual([0, 0, 0, 1, 1, 2])
  })

  test('one probe is due once the pause is over, and is taken by one only', () => {
    const { open, due, beginProbe, probed, advance, of } = breakersAt()
    open(stripe)
    expect([due(), beginProbe(stripe)]).toEqual([[], false])
    advance(30_000)
    expect(due()).toEqual([{ ...stripe, breaker: of(stripe) } as BreakerOf])
    expect([beginProbe(stripe), beginProbe(stripe), due()]).toEqual([true, false, []])
    probed(stripe, false)
    advance(59_999)
    expect(due()).toEqual([])
    advance(1)
    expect(beginProbe(stripe)).toBe(true)
    probed(stripe, true)
    expect(of(stripe).state).toBe('CLOSED')
  })

  test('hosts are bounded: one that only counts is forgotten before one that is open, and what is well is not kept at all', () => {
    const { open, failed, answered, all, of, version } = breakersAt()
    open(own)
    for (let nth = 0; nth < 5_000; nth++) failed({ processor: 'btcpay', host: `host-${nth}.example` })
    expect(all()).toHaveLength(200)
    expect(of(own).state).toBe('OPEN')
    for (let nth = 0; nth < 5_000; nth++) answered({ processor: 'btcpay', host: `host-${nth}.example` })
    expect(all().map(({ host }) => host)).toEqual([own.host])
    for (let nth = 0; nth < 200; nth++) open({ processor: 'btcpay', host: `dead-${nth}.example` })
    // The oldest made room, and whoever keeps answers knows.
    expect([of(own).state, all().length, version()]).toEqual(['CLOSED', 200, 202])
  })
})
