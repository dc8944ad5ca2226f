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
  test('a log line is one line of JSON with the time, the level and the event', () => {
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

  test('a log line below the level that was asked for is not written', () => {
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
    expect(lines.map((line) => JSON.parse(line).event)).toEqual(['c', 'd'])
  })

  test('a log line holds no value whose name says that it is secret, at any depth', () => {
    const names = [
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
      expect(lineOf({ [name]: 'hidden value' })).not.toContain('hidden value')
      expect(lineOf({ deep: { list: [{ [name]: { inner: 'hidden value' } }] } })).not.toContain('hidden value')
    }
    expect(lineOf({ email: 'shown', passenger: 'shown too' })).toContain('shown too')
  })

  test('a log line holds no value that looks secret, wherever it stands', () => {
    const texts = [
      `key ${secretKey} was refused`,
      `key ${publishable}`,
      `Bearer ${token}`,
      'whsec_c2VjcmV0c2VjcmV0',
      '$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaGhhc2g',
    ]
    for (const text of texts) {
      const written = lineOf({ note: text, deep: [{ text }] })
      for (const part of ['0123456789abcdef', 'c2lnbmF0dXJl', 'c2VjcmV0c2Vj', 'aGFzaGhhc2g']) expect(written).not.toContain(part)
    }
  })

  test('a log line holds no password or key of a URL, and keeps what tells where it leads', () => {
    const line = lineOf({
      a: 'postgres://souk:hunter2@db.example:5432/souk',
      b: 'connect ECONNREFUSED postgresql://souk:p%40ss@10.0.0.1/souk',
      c: 'https://user:hunter2@hooks.example/x',
      d: 'https://rpc.example/v1?apikey=hunter2&block=latest',
      e: 'https://cb.example/?access_token=hunter2',
      f: 'redis://:hunter2@cache.example',
    })
    expect(line).not.toContain('hunter2')
    expect(line).not.toContain('p%40ss')
    for (const part of ['db.example:5432', '10.0.0.1', 'hooks.example', 'block=latest', 'cache.example']) expect(line).toContain(part)
  })

  test('a log line tells of an error and its causes without the secrets in their messages, or the parameters of a query', () => {
    const engineError = new Error(`duplicate ${secretKey}`)
    const failed = new Error('Failed query: insert into "users" values ($1, $2)\nparams: mer_1,owner@example.com,5f4dcc3b5aa765d6', {
      cause: engineError,
    })
    const line = lineOf({ error: failed })
    expect(line).toContain('Failed query')
    expect(line).toContain('duplicate')
    for (const part of ['owner@example.com', '5f4dcc3b5aa765d6', secretKey]) expect(line).not.toContain(part)
  })

  test('a log line is bounded, whatever it is given, and a secret at the edge is not half shown', () => {
    const long = `${'x'.repeat(3_980)} ${secretKey}`
    expect(lineOf({ long })).not.toContain('sk_live')
    expect(lineOf({ long: 'postgres://'.padEnd(3_990, 'a').concat(':hunter2@host') })).not.toContain('hunter2')
    expect(lineOf({ long: 'x'.repeat(1_000_000) }).length).toBeLessThan(5_000)
    const circular: Record<string, unknown> = {}
    circular['self'] = circular
    expect(lineOf({ circular })).toContain('…')
    let chain = new Error('last')
    for (let nth = 0; nth < 50; nth++) chain = new Error(`cause ${nth}`, { cause: chain })
    expect(lineOf({ chain }).length).toBeLessThan(60_000)
  })

  test('a log line does not change what it was given', () => {
    const fields = { password: 'kept', list: ['a'] }
    redact(fields)
    expect(fields).toEqual({ password: 'kept', list: ['a'] })
  })
})
