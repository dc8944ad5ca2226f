import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createPasswords } from '../../src/clients/passwords.ts'
import type { PasswordCaller } from '../../src/core/deps.ts'
import { runInRequest } from '../../src/core/request-context.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const caller: PasswordCaller = { kind: 'customer', address: '203.0.113.1' }
const busy = (retryAfterSeconds: number) => new Error(String(retryAfterSeconds))
/** A value that is no hash. It waits in the queue like any other, but its check takes no time. */
const damaged = 'damaged'

describe('password hashing', () => {
  test('a password matches only its own hash, and each hash of it differs', async () => {
    const { hash, verify } = createPasswords(busy)
    const [one, other] = await Promise.all([hash('correct horse', caller), hash('correct horse', caller)])
    expect(one).not.toBe(other)
    expect(await verify('correct horse', one, caller)).toBe(true)
    expect(await verify('Correct horse', one, caller)).toBe(false)
  })

  test('no password is correct when there is no account', async () => {
    const { verify } = createPasswords(busy)
    expect(await verify('anything at all', undefined, caller)).toBe(false)
    expect(await verify('nobody has this password', undefined, caller)).toBe(false)
  })

  test('a password is refused with a retry time when its turn comes too late, and others are not delayed', async () => {
    const { hash } = createPasswords(busy, 1)
    const longAgo = performance.now() - 60_000
    const outcome = (arrivedAt?: number) =>
      runInRequest(
        'test',
        () =>
          hash('password', caller).then(
            () => 'hashed',
            ({ message }: Error) => message,
          ),
        arrivedAt,
      )
    const outcomes = await Promise.all([outcome(), outcome(performance.now()), outcome(longAgo)])
    expect(outcomes.slice(0, 2)).toEqual(['hashed', 'hashed'])
    expect(Number(outcomes[2])).toBeGreaterThanOrEqual(1)
    expect(await outcome()).toBe('hashed')
  })

  test('a password of another network is checked next, even after six from different addresses of one network', async () => {
    for (const crowd of [(nth: number) => `2001:db8:77:${nth}::/64`, (nth: number) => `198.51.100.${nth}`]) {
      const { hash, verify } = createPasswords(busy, 1)
      const stored = await hash('right', caller)
      const verified: string[] = []
      const verifyFrom = (address: string) => verify('right', stored, { kind: 'merchant', address }).then(() => verified.push(address))
      const many = Array.from({ length: 6 }, (_, nth) => verifyFrom(crowd(nth)))
      await Promise.all([...many, verifyFrom('203.0.113.7')])
      expect(verified.indexOf('203.0.113.7')).toBeLessThanOrEqual(2)
    }
  })

  test('a password of a merchant is checked next, even after eight of customers from any address', async () => {
    const { hash, verify } = createPasswords(busy, 1)
    const stored = await hash('right', caller)
    const verified: string[] = []
    const verifyFrom = (kind: PasswordCaller['kind'], address: string, name: string) =>
      verify('right', stored, { kind, address }).then(() => verified.push(name))
    const customers = Array.from({ length: 8 }, (_, nth) => verifyFrom('customer', `198.51.100.${nth % 5}`, 'customer'))
    const merchant = verifyFrom('merchant', '198.51.100.1', 'merchant')
    await Promise.all([...customers, merchant])
    // One check was running, and the queue may have owed the next turn to a customer.
    expect(verified.indexOf('merchant')).toBeLessThanOrEqual(2)
  })

  test('a password of another address is checked next, even after eight correct ones of one address', async () => {
    const { hash, verify } = createPasswords(busy, 1)
    const stored = await hash('right', caller)
    const verified: string[] = []
    const verifyFrom = (address: string) => verify('right', stored, { kind: 'customer', address }).then(() => verified.push(address))
    await Promise.all([...Array.from({ length: 8 }, () => verifyFrom('198.51.100.1')), verifyFrom('198.51.100.2')])
    expect(verified.indexOf('198.51.100.2')).toBeLessThanOrEqual(2)
  })

  test('a damaged password hash is an error and does not block others', async () => {
    const { verify, hash } = createPasswords(busy)
    for (let nth = 0; nth < 4; nth++)
      expect(
        await verify('x', damaged, caller).then(
          () => 'answered',
          () => 'refused',
        ),
      ).toBe('refused')
    expect(await hash('afterwards', caller)).toStartWith('$argon2id$')
  })
})
