import { describe, expect, test } from 'bun:test'
import { createLog, redact } from '../../src/lib/log.ts'

const secretKey = 'sk_live_0123456789abcdefghijABCDEFGHIJ012345'
const publishable = 'pk_test_0123456789abcdefghijABCDEFGHIJ012345'
const token = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJtZXJfMSJ9.c2lnbmF0dXJl'
const lineOf = (fields: Record<string, unknown>): string => {
  const lines: string[] = []
  createLog(
    'debug',
    () => 0,
    (line) => void lines.push(line),
  ).info('event', fields)
  expect(lines).toHaveLength(1)
  return lines[0] ?? ''
}

describe('a log line', () => {
  test('a log line is one line of JSON with time, level and event', () => {
    expect(JSON.parse(lineOf({ text: 'two\nlines', n: 1, big: 10n, at: new Date(0), nothing: null }))).toEqual({
      time: '1970-01-01T00:00:00.000Z',
      level: 'info',
      event: 'event',
      text: 'two\nlines',
      n: 1,
      big: '10',
      at: '1970-01-01T00:00:00.000Z',
      nothing: null,
    })
    expect(lineOf({ text: 'two\nlines' })).not.toContain('\n')
  })

  test('a log line below the configured level is not written', () => {
    const lines: string[] = []
    const log = createLog(
      'warn',
      () => 0,
      (line) => void lines.push(line),
    )
    log.debug('a')
    log.info('b')
    log.warn('c')
    log.error('d')
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'warn', event: 'c' },
      { level: 'error', event: 'd' },
    ])
  })

  test('a log line redacts values with secret names, at any depth', () => {
    const names = [
      'pass',
      'dbPass',
      'password',
      'Password',
      'newPassword',
      'passwordHash',
      'passphrase',
      'secret',
      'clientSecret',
      'accessToken',
      'refresh_token',
      'authorization',
      'cookie',
      'set-cookie',
      'apiKey',
      'x-service-api-key',
      'integration-api-key',
      'privateKey',
      'private_key',
      'encryptionKeys',
      'sealedKey',
      'jwt',
      'mnemonic',
    ]
    for (const name of names) {
      expect(redact({ [name]: 'hidden value' })).toEqual({ [name]: '***' })
      expect(redact({ deep: { list: [{ [name]: { inner: 'hidden value' } }] } })).toEqual({ deep: { list: [{ [name]: '***' }] } })
    }
    const harmless = { email: 'shown', passenger: 'shown too', jwtIssuer: 'souk', nojwt: 'none' }
    expect(redact(harmless)).toEqual(harmless)
  })

  test('a log line redacts values that look secret, at any position', () => {
    const texts: [text: string, expected: string][] = [
      [`key ${secretKey} was refused`, 'key *** was refused'],
      [`key ${publishable}`, 'key ***'],
      [`Bearer ${token}`, 'Bearer ***'],
      ['whsec_c2VjcmV0c2VjcmV0 is old', '*** is old'],
      ['$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaGhhc2g is a hash', '*** is a hash'],
    ]
    for (const [text, expected] of texts)
      expect(JSON.parse(lineOf({ note: text, deep: [{ text }] }))).toMatchObject({ note: expected, deep: [{ text: expected }] })
  })

  test('a log line redacts passwords and keys in URLs, and keeps the host', () => {
    const texts: [text: string, expected: string][] = [
      ['postgres://souk:hunter2@db.example:5432/souk', 'postgres://souk:***@db.example:5432/souk'],
      ['connect ECONNREFUSED postgresql://souk:p%40ss@10.0.0.1/souk', 'connect ECONNREFUSED postgresql://souk:***@10.0.0.1/souk'],
      ['https://user:hunter2@hooks.example/x', 'https://user:***@hooks.example/x'],
      ['s3://souk:hunter2@files.example', 's3://souk:***@files.example'],
      ['redis://:hunter2@cache.example', 'redis://:***@cache.example'],
      ['https://rpc.example/v1?apikey=hunter2&block=latest', 'https://rpc.example/v1?apikey=***&block=latest'],
      ['https://cb.example/?access_token=hunter2', 'https://cb.example/?access_token=***'],
      ['https://cb.example/?page=1&key=hunter2#part', 'https://cb.example/?page=1&key=***#part'],
      ['https://cb.example/?sig=hunter2', 'https://cb.example/?sig=***'],
      ['a monkey=1', 'a monkey=1'],
    ]
    for (const [text, expected] of texts) expect(redact(text)).toBe(expected)
  })

  test('a log line has an error and its causes without secrets and without query parameters', () => {
    const engineError = new Error(`duplicate ${secretKey}`)
    const failed = new Error('Failed query: insert into "users" values ($1, $2)\nparams: mer_1,owner@example.com,5f4dcc3b5aa765d6', {
      cause: engineError,
    })
    const line = lineOf({ error: failed })
    expect(line).toContain('Failed query')
    expect(line).toContain('duplicate')
    for (const part of ['owner@example.com', '5f4dcc3b5aa765d6', secretKey]) expect(line).not.toContain(part)
    expect(redact('Failed query\nparams: mer_1, two words,\nand a line\n    at insert (souk.ts:1:2)')).toBe(
      'Failed query\n    at insert (souk.ts:1:2)',
    )
  })

  test('a log line has the stack of an error, if any, and its cause', () => {
    const thrown = new TypeError('thrown')
    expect(redact(thrown)).toEqual({ name: 'TypeError', message: 'thrown', stack: String(thrown.stack) })
    delete thrown.stack
    thrown.cause = 'chance'
    expect(redact(thrown)).toEqual({ name: 'TypeError', message: 'thrown', stack: '', cause: 'chance' })
  })

  test('a log line is bounded in length, and a truncated secret is not shown', () => {
    const long = `${'x'.repeat(3_980)} ${secretKey}`
    expect(lineOf({ long })).not.toContain('sk_live')
    expect(lineOf({ long: 'postgres://'.padEnd(3_990, 'a').concat(':hunter2@host') })).not.toContain('hunter2')
    expect(lineOf({ long: 'x'.repeat(1_000_000) }).length).toBeLessThan(5_000)
    const circular: Record<string, unknown> = {}
    circular['self'] = circular
    expect(redact(circular)).toEqual({ self: { self: { self: { self: { self: '…' } } } } })
    expect(redact([[[[[['deep']]]]]])).toEqual([[[[['…']]]]])
    expect(redact(Array(51).fill(1))).toEqual(Array(50).fill(1))
    // At most twice the shown length is searched for secrets, so the end of the parameters is not found.
    expect(redact(`\nparams: ${'x'.repeat(10_000)}\n    at end`)).toBe('')
    let chain = new Error('last')
    for (let nth = 0; nth < 50; nth++) chain = new Error(`cause ${nth}`, { cause: chain })
    const causes = JSON.stringify(redact(chain)).match(/cause \d+(?=",)/g) ?? []
    expect([...causes]).toEqual(['cause 49', 'cause 48', 'cause 47', 'cause 46', 'cause 45'])
  })

  test('logging does not change the logged object', () => {
    const fields = { password: 'kept', list: ['a'] }
    redact(fields)
    expect(fields).toEqual({ password: 'kept', list: ['a'] })
  })
})
