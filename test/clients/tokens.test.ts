/** Tests the cache of verified access tokens. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { randomBytes, randomUUID } from 'node:crypto'
import { createTokens } from '../../src/clients/tokens.ts'
import type { MasterKey } from '../../src/lib/seal.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const keyOf = (version: string): MasterKey => ({ version, bytes: randomBytes(32), fingerprint: version })
const claims = { sub: 'usr_1', sid: 'ses_1', role: 'SUPER_ADMIN' } as const

test('a token can be verified repeatedly until its last second, and only as it was signed', async () => {
  let now = Date.UTC(2026, 0, 6)
  const keys = [keyOf('one')]
  const tokens = createTokens(
    () => keys,
    () => now,
    60,
    randomUUID,
  )
  const token = await tokens.sign(claims)
  for (let nth = 0; nth < 3; nth++) expect(await tokens.verify(token)).toEqual(claims)
  const [head = '', body = '', signature = ''] = token.split('.')
  for (const forged of [`${head}.${body}.${signature.slice(0, -2)}AA`, `${head}.${body.slice(0, -1)}A.${signature}`, `${token}.`])
    expect(await tokens.verify(forged)).toBeUndefined()
  now += 59_999
  expect(await tokens.verify(token)).toEqual(claims)
  now += 1
  expect(await tokens.verify(token)).toBeUndefined()
  now -= 30_000
  expect(await tokens.verify(token)).toEqual(claims)
})

test('a token of a retired key is refused, even if it was verified before', async () => {
  let keys = [keyOf('one')]
  const tokens = createTokens(() => keys, Date.now, 60, randomUUID)
  const token = await tokens.sign(claims)
  expect(await tokens.verify(token)).toEqual(claims)
  keys = [keyOf('two'), ...keys]
  expect(await tokens.verify(token)).toEqual(claims)
  keys = keys.slice(0, 1)
  expect(await tokens.verify(token)).toBeUndefined()
})

test('more tokens than the cache holds are all verified', async () => {
  const keys = [keyOf('one')]
  const tokens = createTokens(() => keys, Date.now, 60, randomUUID)
  const signedTokens = await Promise.all(Array.from({ length: 1_100 }, (_, nth) => tokens.sign({ ...claims, sub: `usr_${nth}` })))
  for (const round of [1, 2])
    for (const [nth, token] of signedTokens.entries()) expect([round, (await tokens.verify(token))?.sub]).toEqual([round, `usr_${nth}`])
})
