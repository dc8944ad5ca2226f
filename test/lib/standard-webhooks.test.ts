import { expect, test } from 'bun:test'
import { signedHeaders, webhookSecret, webhookSecretBytes } from '../../src/lib/standard-webhooks.ts'

test('a message is signed as the libraries of the standard sign it', () => {
  // The example of their own tests.
  const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1_614_265_330, body: '{"test": 2432232314}' }
  expect(signedHeaders('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', message)).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  })
})

test('a secret is random bytes in base64 behind a prefix by which it is known as one', () => {
  expect(webhookSecret(new Uint8Array(webhookSecretBytes).fill(255))).toBe('whsec_//////////////////////////////////////////8=')
})
