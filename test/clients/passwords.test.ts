import { describe, expect, test } from 'bun:test'
import { createPasswords } from '../../src/clients/passwords.ts'

describe('passwords', () => {
  test('passwords belong to their own hash only, and each hash is another', async () => {
    const { hash, verify } = createPasswords(() => new Error('busy'))
    const [one, other] = await Promise.all([hash('correct horse'), hash('correct horse')])
    expect(one).not.toBe(other)
    expect(await verify('correct horse', one)).toBe(true)
    expect(await verify('Correct horse', one)).toBe(false)
  })

  test('passwords are right for nobody when there is no account, the password of the stand-in included', async () => {
    const { verify } = createPasswords(() => new Error('busy'))
    expect(await verify('anything at all', undefined)).toBe(false)
    expect(await verify('nobody has this password', undefined)).toBe(false)
  })

  test('passwords wait their turn up to a limit, beyond which they are refused, and the line moves on', async () => {
    const { hash } = createPasswords(() => new Error('busy'), 2)
    const outcomes = await Promise.all(
      Array.from({ length: 210 }, (_, nth) =>
        hash(`password ${nth}`).then(
          () => 'hashed',
          (error: Error) => error.message,
        ),
      ),
    )
    expect(outcomes.filter((outcome) => outcome === 'hashed')).toHaveLength(202)
    expect(outcomes.filter((outcome) => outcome === 'busy')).toHaveLength(8)
    expect(await hash('afterwards')).toStartWith('$argon2id$')
  })

  test('passwords with a damaged hash are an error, and hold nobody up', async () => {
    const { verify, hash } = createPasswords(() => new Error('busy'))
    for (let nth = 0; nth < 4; nth++)
      expect(
        await verify('x', 'damaged').then(
          () => 'answered',
          () => 'refused',
        ),
      ).toBe('refused')
    expect(await hash('afterwards')).toStartWith('$argon2id$')
  })
})
