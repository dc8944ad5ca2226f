import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createPasswords } from '../../src/clients/passwords.ts'
import type { PasswordCaller } from '../../src/core/deps.ts'
import { runInRequest } from '../../src/core/request-context.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const turn: PasswordCaller = { kind: 'customer', address: '203.0.113.1' }
const busy = (retryAfterSeconds: number) => new Error(String(retryAfterSeconds))
/** No hash: it waits its turn like any, and its turn costs nothing. */
const damaged = 'damaged'

describe('password hashing', () => {
  test('a password matches only its own hash, and each hash of it differs', async () => {
    const { hash, verify } = createPasswords(busy)
    const [one, other] = await Promise.all([hash('correct horse', turn), hash('correct horse', turn)])
    expect(one).not.toBe(other)
    expect(await verify('correct horse', one, turn)).toBe(true)
    expect(await verify('Correct horse', one, turn)).toBe(false)
  })

  test('no password is correct when there is no account', async () => {
    const { verify } = createPasswords(busy)
    expect(await verify('anything at all', undefined, turn)).toBe(false)
    expect(await verify('nobody has this password', undefined, turn)).toBe(false)
  })

  test('a password is refused with a retry time when its turn comes too late, and others are not delayed', async () => {
    const { hash } = createPasswords(busy, 1)
    const longAgo = performance.now() - 60_000
    const outcome = (cameAt?: number) =>
      runInRequest(
        'test',
        () =>
          hash('password', turn).then(
            () => 'hashed',
            ({ message }: Error) => message,
          ),
        cameAt,
      )
    const outcomes = await Promise.all([outcome(), outcome(performance.now()), outcome(longAgo)])
    expect(outcomes.slice(0, 2)).toEqual(['hashed', 'hashed'])
    expect(Number(outcomes[2])).toBeGreaterThanOrEqual(1)
    expect(await outcome()).toBe('hashed')
  })

  test('a password of another network is checked next, even after six from different addresses of one network', async () => {
    for (const crowd of [(nth: number) => `2001:db8:77:${nth}::/64`, (nth: number) => `198.51.100.${nth}`]) {
      const { hash, verify } = createPasswords(busy, 1)
      const stored = await hash('right', turn)
      const served: string[] = []
      const look = (address: string) => verify('right', stored, { kind: 'merchant', address }).then(() => served.push(address))
      const many = Array.from({ length: 6 }, (_, nth) => look(crowd(nth)))
      await Promise.all([...many, look('203.0.113.7')])
      expect(served.indexOf('203.0.113.7')).toBeLessThanOrEqual(2)
    }
  })

  test('a password of a merchant is checked next, even after eight of customers from any address', async () => {
    const { hash, verify } = createPasswords(busy, 1)
    const stored = await hash('right', turn)
    const served: string[] = []
    const look = (kind: PasswordCaller['kind'], address: string, name: string) =>
      verify('right', stored, { kind, address }).then(() => served.push(name))
    const customers = Array.from({ length: 8 }, (_, nth) => look('customer', `198.51.100.${nth % 5}`, 'customer'))
    const merchant = look('merchant', '198.51.100.1', 'merchant')
    await Promise.all([...customers, merchant])
    // One was under way, and one may have been next by the turns of the kinds.
    expect(served.indexOf('merchant')).toBeLessThanOrEqual(2)
  })

  test('a password of another address is checked next, even after eight correct ones of one address', async () => {
    const { hash, verify } = createPasswords(busy, 1)
    const stored = await hash('right', turn)
    const served: string[] = []
    const look = (address: string) => verify('right', stored, { kind: 'customer', address }).then(() => served.push(address))
    await Promise.all([...Array.from({ length: 8 }, () => look('198.51.100.1')), look('198.51.100.2')])
    expect(served.indexOf('198.51.100.2')).toBeLessThanOrEqual(2)
  })

  test('a damaged password hash is an error and does not block others', async () => {
    const { verify, hash } = createPasswords(busy)
    for (let nth = 0; nth < 4; nth++)
      expect(
        await verify('x', damaged, turn).then(
          () => 'answered',
          () => 'refused',
        ),
      ).toBe('refused')
    expect(await hash('afterwards', turn)).toStartWith('$argon2id$')
  })
})
