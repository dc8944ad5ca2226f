import { expect, test } from 'bun:test'
import { Webhook } from 'standardwebhooks'
import { idOfSigned, signedHeaders, webhookSecret, webhookSecretBytes } from '../../src/lib/standard-webhooks.ts'

test('signs a message like the Standard Webhooks library', () => {
  // The example of the library's own tests.
  const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1_614_265_330, body: '{"test": 2432232314}' }
  expect(signedHeaders('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', message)).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  })
})

test('a secret is random bytes in base64 with the standard prefix', () => {
  expect(webhookSecret(new Uint8Array(webhookSecretBytes).fill(255))).toBe('whsec_//////////////////////////////////////////8=')
})

const secret = webhookSecret(new Uint8Array(webhookSecretBytes).fill(7))
const other = webhookSecret(new Uint8Array(webhookSecretBytes).fill(9))
const now = 1_767_700_800_000
const body = '{"kind":"arrived"}'
const bytes = Buffer.from(body)
const sign = (by: string, id = 'msg_1', at = now) => new Webhook(by).sign(id, new Date(at), body)
const headers = (signature: string, id = 'msg_1', at = now) => ({ id, timestamp: String(Math.floor(at / 1_000)), signature })

test('verifies a message signed by the library with any of several secrets, and no other message', () => {
  expect(idOfSigned([secret], headers(sign(secret)), bytes, now)).toBe('msg_1')
  expect(idOfSigned([other, secret], headers(sign(secret)), bytes, now)).toBe('msg_1')
  expect(idOfSigned([secret], headers(`v1a,AAAA ${sign(other)} ${sign(secret)}`), bytes, now)).toBe('msg_1')
  expect(idOfSigned([other], headers(sign(secret)), bytes, now)).toBeUndefined()
  expect(idOfSigned([secret], headers(sign(secret)), Buffer.from(`${body} `), now)).toBeUndefined()
  expect(idOfSigned([secret], headers(sign(secret), 'msg_2'), bytes, now)).toBeUndefined()
  expect(idOfSigned([secret], headers(sign(secret), 'msg_1', now + 1_000), bytes, now)).toBeUndefined()
})

test('a message is valid for five minutes in either direction', () => {
  const isValid = (at: number) => idOfSigned([secret], headers(sign(secret, 'msg_1', at), 'msg_1', at), bytes, now) !== undefined
  expect([-301, -300, 0, 300, 301].map((seconds) => isValid(now + seconds * 1_000))).toEqual([false, true, true, true, false])
})

test('an invalid signature, time or id is refused', () => {
  const invalid = [
    { id: null },
    { timestamp: null },
    { signature: null },
    { id: '' },
    { id: 'a'.repeat(256) },
    { id: 'a b' },
    { timestamp: `${Math.floor(now / 1_000)}.0` },
    { timestamp: ` ${Math.floor(now / 1_000)}` },
    { timestamp: '1e9' },
    { signature: '' },
    { signature: 'v1,' },
    { signature: sign(secret).slice(3) },
    { signature: sign(secret).slice(0, -4) },
    { signature: `v2,${sign(secret).slice(3)}` },
    { signature: `${'v1,AAAA '.repeat(20)}${sign(secret)}` },
  ]
  for (const one of invalid) expect([one, idOfSigned([secret], { ...headers(sign(secret)), ...one }, bytes, now)]).toEqual([one, undefined])
  const long = 'a'.repeat(255)
  expect(idOfSigned([secret], headers(sign(secret, long), long), bytes, now)).toBe(long)
})
