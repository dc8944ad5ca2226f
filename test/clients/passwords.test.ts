import { describe, expect, test } from 'bun:test'
import { createPasswords } from '../../src/clients/passwords.ts'
import type { PasswordTurn } from '../../src/core/deps.ts'

const turn: PasswordTurn = { kind: 'customer', address: '203.0.113.1' }
const busy = (retryAfterSeconds: number) => new Error(String(retryAfterSeconds))
/** No hash: it waits its turn like any, and its turn costs nothing. */
const damaged = 'damaged'

describe('passwords', () => {
  test('passwords belong to their own hash only, and each hash is another', async () => {
    const { hash, verify } = createPasswords(busy)
    const [one, other] = await Promise.all([hash('correct horse', turn), hash('correct horse', turn)])
    expect(one).not.toBe(other)
    expect(await verify('correct horse', one, turn)).toBe(true)
    expect(await verify('Correct horse', one, turn)).toBe(false)
  })

  test('passwords are right for nobody when there is no account, the password of the stand-in included', async () => {
    const { verify } = createPasswords(busy)
    expect(await verify('anything at all', undefined, turn)).toBe(false)
    expect(await verify('nobody has this password', undefined, turn)).toBe(false)
  })

  test('passwords wait their turn up to a limit of the address, beyond which they are refused with a time to come back, and the line moves on', async () => {
    const { hash, verify } = createPasswords(busy, 2)
    const outcome = (work: Promise<unknown>) =>
      work.then(
        () => 'hashed',
        (error: Error) => (Number(error.message) > 0 ? error.message : 'looked at'),
      )
    const outcomes = await Promise.all([
      ...Array.from({ length: 6 }, (_, nth) => outcome(hash(`password ${nth}`, turn))),
      ...Array.from({ length: 104 }, () => outcome(verify('x', damaged, turn))),
    ])
    expect(outcomes.filter((one) => one === 'hashed')).toHaveLength(6)
    expect(outcomes.filter((one) => one === 'looked at')).toHaveLength(96)
    const refused = outcomes.filter((one) => Number(one) > 0)
    expect(refused).toHaveLength(8)
    expect(await hash('afterwards', turn)).toStartWith('$argon2id$')
  })

  test('passwords of a merchant are looked at next, though fifty customers came first, from the same address as from others', async () => {
    const { hash, verify } = createPasswords(busy, 1)
    const stored = await hash('right', turn)
    const served: string[] = []
    const look = (kind: PasswordTurn['kind'], address: string, against: string) =>
      verify('right', against, { kind, address })
        .catch(() => false)
        .finally(() => served.push(kind))
    const customers = Array.from({ length: 50 }, (_, nth) => look('customer', `198.51.100.${nth % 5}`, nth < 3 ? stored : damaged))
    const merchant = look('merchant', '198.51.100.1', stored)
    await Promise.all(customers)
    expect(await merchant).toBe(true)
    // One was under way, and one may have been next by the turns of the kinds.
    expect(served.indexOf('merchant')).toBeLessThanOrEqual(2)
  })

  test('passwords of one address are looked at next, though another one sent fifty before', async () => {
    const { hash, verify } = createPasswords(busy, 1)
    const stored = await hash('right', turn)
    const served: string[] = []
    const look = (address: string, against: string) =>
      verify('right', against, { kind: 'customer', address })
        .catch(() => false)
        .finally(() => served.push(address))
    const first = Array.from({ length: 50 }, (_, nth) => look('198.51.100.1', nth < 3 ? stored : damaged))
    const other = look('198.51.100.2', stored)
    await Promise.all(first)
    expect(await other).toBe(true)
    expect(served.indexOf('198.51.100.2')).toBeLessThanOrEqual(2)
  })

  test('passwords with a damaged hash are an error, and hold nobody up', async () => {
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
