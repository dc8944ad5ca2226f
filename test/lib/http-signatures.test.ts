/** The signatures of RFC 9421, tested with its test vector and two other implementations. */
import { describe, expect, test } from 'bun:test'
import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import fc from 'fast-check'
import { httpbis } from 'http-message-signatures'
import {
  contentDigest,
  covers,
  type HttpMessage,
  isDigestOf,
  signaturesOf,
  signMessage,
  verifySignature,
} from '../../src/lib/http-signatures.ts'

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const url = 'https://shop.example/ucp/tea/checkout-sessions?draft=1'
const body = '{"line_items":[]}'
const created = 1_767_700_800

const messageOf = (headers: Record<string, string>, change: Partial<HttpMessage> = {}): HttpMessage => ({
  method: 'POST',
  url: new URL(url),
  headers: new Headers(headers),
  ...change,
})

/** Signs a base that the test wrote, so that no code under test helps. */
const signatureOf = (base: string, key: KeyObject = privateKey, dsaEncoding: 'ieee-p1363' | 'der' = 'ieee-p1363') =>
  sign('sha256', Buffer.from(base, 'latin1'), { key, dsaEncoding }).toString('base64')

/** Returns which signatures of a message verify. */
function verified(message: HttpMessage, key: KeyObject = publicKey): string[] | undefined {
  const { headers } = message
  return signaturesOf(headers.get('signature-input') ?? '', headers.get('signature') ?? '')
    ?.filter((signature) => verifySignature(signature, message, key))
    .map(({ label }) => label)
}

test('verifies the test vector of RFC 9421, B.2.4', () => {
  const headers = {
    date: 'Tue, 20 Apr 2021 02:07:56 GMT',
    'content-type': 'application/json',
    'content-digest': 'sha-512=:mEWXIS7MaLRuGgxOBdODa3xqM1XdEvxoYhvlCFJ41QJgJc4GTsPp29l5oGX69wWdXymyU0rjJuahq4l5aGgfLQ==:',
    'content-length': '23',
    'signature-input': 'sig-b24=("@status" "content-type" "content-digest" "content-length");created=1618884473;keyid="test-key-ecc-p256"',
    signature: 'sig-b24=:wNmSUAhwb5LxtOtOpNa6W5xj067m5hFrj0XQ4fvpaCLx0NKocgPquLgyahnzDnDAUy5eCdlYUEkLIj+32oiasw==:',
  }
  const [x, y] = ['qIVYZVLCrPZHGHjP17CTW0_-D9Lfw0EkjqF7xB4FivA', 'Mc4nN9LTDOBhfoUeg8Ye9WedFRhnZXZJA12Qp0zZ6F0']
  const key = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' })
  expect(verified(messageOf(headers, { status: 200 }), key)).toEqual(['sig-b24'])
  expect(verified(messageOf(headers, { status: 201 }), key)).toEqual([])
  expect(verified(messageOf(headers), key)).toEqual([])
})

describe('requests signed by other implementations', () => {
  const fields = ['@method', '@authority', '@path', '@query', 'ucp-agent', 'idempotency-key', 'content-digest', 'content-type']
  const plain = {
    'content-type': 'application/json',
    'content-digest': contentDigest(body),
    'ucp-agent': 'profile="https://agent.example/profile"',
    'idempotency-key': '550e8400-e29b-41d4-a716-446655440000',
  }

  test('verifies a request signed by http-message-signatures', async () => {
    const key = {
      id: 'key-1',
      alg: 'ecdsa-p256-sha256',
      sign: async (data: Buffer) => sign('sha256', data, { key: privateKey, dsaEncoding: 'ieee-p1363' }),
    }
    const signed = await httpbis.signMessage({ key, fields, name: 'sig1' }, { method: 'POST', url, headers: plain })
    const message = messageOf(signed.headers as Record<string, string>)
    expect(verified(message)).toEqual(['sig1'])
    expect(verified({ ...message, method: 'PUT' })).toEqual([])
  })

  test('verifies a request signed by WebCrypto', async () => {
    const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify'])
    const params = '("@method" "@authority" "@path" "content-digest");keyid="k"'
    const base = [
      '"@method": POST',
      '"@authority": shop.example',
      '"@path": /ucp/tea/checkout-sessions',
      `"content-digest": ${plain['content-digest']}`,
      `"@signature-params": ${params}`,
    ].join('\n')
    const bytes = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, pair.privateKey, new TextEncoder().encode(base))
    const headers = { ...plain, 'signature-input': `s=${params}`, signature: `s=:${Buffer.from(bytes).toString('base64')}:` }
    const key = createPublicKey({ key: { ...(await crypto.subtle.exportKey('jwk', pair.publicKey)) }, format: 'jwk' })
    expect(verified(messageOf(headers), key)).toEqual(['s'])
  })
})

describe('messages signed by souk', () => {
  const headers = { 'content-type': 'application/json', 'webhook-id': 'abc', 'webhook-timestamp': '1767700800' }
  const signed = signMessage({ method: 'POST', url: new URL(url), headers, body }, { kid: 'shop-key', privateKey }, created)

  test('a signature of souk covers method, authority, path, query, digest and all headers', () => {
    expect(signed['signature-input']).toBe(
      'sig1=("@method" "@authority" "@path" "@query" "content-digest" "content-type" "webhook-id" "webhook-timestamp");created=1767700800;keyid="shop-key"',
    )
    expect(verified(messageOf(signed))).toEqual(['sig1'])
    expect(isDigestOf(signed['content-digest'] ?? '', Buffer.from(body))).toBe(true)
  })

  test('a message signed by souk is verified by http-message-signatures', async () => {
    const keys: unknown[] = []
    const verify = (request: { url: string }) =>
      httpbis.verifyMessage(
        {
          tolerance: 10_000_000_000,
          requiredFields: ['@method', '@authority', '@path', '@query', 'content-digest', 'webhook-id'],
          keyLookup: async ({ keyid }) => {
            keys.push(keyid)
            return {
              id: 'shop-key',
              verify: async (data, signature) =>
                (await import('node:crypto')).verify('sha256', data, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature),
            }
          },
        },
        { method: 'POST', headers: signed, ...request },
      )
    expect(await verify({ url })).toBe(true)
    expect(await verify({ url: url.replace('shop.', 'other.') })).toBe(false)
    expect(keys).toEqual(['shop-key', 'shop-key'])
  })

  test('a message signed by souk is verified by WebCrypto', async () => {
    const base = [
      '"@method": POST',
      '"@authority": shop.example',
      '"@path": /ucp/tea/checkout-sessions',
      '"@query": ?draft=1',
      ...['content-digest', 'content-type', 'webhook-id', 'webhook-timestamp'].map((name) => `"${name}": ${signed[name]}`),
      `"@signature-params": ${signed['signature-input']?.slice('sig1='.length)}`,
    ].join('\n')
    const key = await crypto.subtle.importKey(
      'jwk',
      publicKey.export({ format: 'jwk' }) as JsonWebKey,
      { name: 'ECDSA', namedCurve: 'P-256' },
      false,
      ['verify'],
    )
    const bytes = Buffer.from(signed['signature']?.slice('sig1=:'.length, -1) ?? '', 'base64')
    expect(await crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, key, bytes, new TextEncoder().encode(base))).toBe(true)
  })
})

describe('invalid and unusual input', () => {
  const params = '("@method" "@authority" "@path");keyid="k"'
  const lines = '"@method": POST\n"@authority": shop.example\n"@path": /ucp/tea/checkout-sessions\n'
  const good = signatureOf(`${lines}"@signature-params": ${params}`)
  const headersOf = (input: string, signature: string, more: Record<string, string> = {}) => ({
    ...more,
    'signature-input': input,
    signature,
  })

  test('verifies a valid signature next to invalid ones', () => {
    const bad = Buffer.alloc(64, 1).toString('base64')
    expect(verified(messageOf(headersOf(`a=${params}, b=${params}`, `a=:${bad}:, b=:${good}:`)))).toEqual(['b'])
    expect(verified(messageOf(headersOf(`a=${params}`, `a=:${bad}:`)))).toEqual([])
  })

  test('refuses signatures in DER, with zeros, of another length or by another key', () => {
    const der = signatureOf(`${lines}"@signature-params": ${params}`, privateKey, 'der')
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
    const values = [
      der,
      Buffer.alloc(64).toString('base64'),
      Buffer.concat([Buffer.from(good, 'base64').subarray(0, 32), Buffer.alloc(32)]).toString('base64'),
      Buffer.concat([Buffer.alloc(32), Buffer.from(good, 'base64').subarray(32)]).toString('base64'),
      Buffer.from(good, 'base64').subarray(0, 63).toString('base64'),
      Buffer.concat([Buffer.from(good, 'base64'), Buffer.alloc(1)]).toString('base64'),
      '',
      signatureOf(`${lines}"@signature-params": ${params}`, other),
    ]
    for (const value of values) expect(verified(messageOf(headersOf(`s=${params}`, `s=:${value}:`)))).toEqual([])
  })

  test('refuses a signature for another method, host, path or query', () => {
    const message = messageOf(headersOf(`s=${params}`, `s=:${good}:`))
    expect(verified(message)).toEqual(['s'])
    expect(verified({ ...message, method: 'PUT' })).toEqual([])
    for (const other of ['https://other.example/ucp/tea/checkout-sessions', 'https://shop.example/ucp/coffee/checkout-sessions'])
      expect(verified({ ...message, url: new URL(other) })).toEqual([])
    const withQuery = '("@query");keyid="k"'
    const signature = signatureOf(`"@query": ?draft=1\n"@signature-params": ${withQuery}`)
    const queried = messageOf(headersOf(`s=${withQuery}`, `s=:${signature}:`))
    expect(verified(queried)).toEqual(['s'])
    expect(verified({ ...queried, url: new URL('https://shop.example/ucp/tea/checkout-sessions') })).toEqual([])
  })

  test('reads parameters as they were received, or in canonical form', () => {
    const odd = '( "@method"   "@authority" "@path" );  keyid="k"; created=1767700800'
    const canonical = '("@method" "@authority" "@path");keyid="k";created=1767700800'
    for (const signedParams of [odd, canonical]) {
      const signature = signatureOf(`${lines}"@signature-params": ${signedParams}`)
      expect(verified(messageOf(headersOf(`s=${odd}`, `s=:${signature}:`)))).toEqual(['s'])
    }
    const reordered = signatureOf(`${lines}"@signature-params": ("@method" "@authority" "@path");created=1767700800;keyid="k"`)
    expect(verified(messageOf(headersOf(`s=${odd}`, `s=:${reordered}:`)))).toEqual([])
  })

  test('reads text with commas and quotes in a parameter', () => {
    const tricky = '("@method");keyid="a, b=\\"c\\"";tag="x, s=1"'
    const signature = signatureOf(`"@method": POST\n"@signature-params": ${tricky}`)
    expect(verified(messageOf(headersOf(`r=("@path"), s=${tricky}`, `r=:${good}:, s=:${signature}:`)))).toEqual(['s'])
  })

  test('reads a member of a dictionary as a component', () => {
    const agent = 'sig1="https://agent.example/.well-known/ucp";type=jwks_uri, other=?0'
    const input = '("signature-agent";key="sig1" "signature-agent";key="other");keyid="k"'
    const base = [
      '"signature-agent";key="sig1": "https://agent.example/.well-known/ucp";type=jwks_uri',
      '"signature-agent";key="other": ?0',
      `"@signature-params": ${input}`,
    ].join('\n')
    const headers = headersOf(`sig1=${input}`, `sig1=:${signatureOf(base)}:`, { 'signature-agent': agent })
    expect(verified(messageOf(headers))).toEqual(['sig1'])
    expect(verified(messageOf({ ...headers, 'signature-agent': agent.replace('sig1', 'sig2') }))).toEqual([])
  })

  test('refuses components that are missing, repeated or not supported', () => {
    const base = (identifier: string, value: string) => `${identifier}: ${value}\n"@signature-params": (${identifier});keyid="k"`
    const inputs: [string, string][] = [
      ['"idempotency-key"', ''],
      ['"Content-Type"', 'application/json'],
      ['"@nothing"', ''],
      ['"content type"', ''],
      ['""', ''],
      ['"@method";req', 'POST'],
      ['"content-type";bs', ':YXBwbGljYXRpb24vanNvbg==:'],
      ['"__proto__"', ''],
      ['"@query-param";name="draft"', '1'],
      ['content-type', 'application/json'],
      ['1', ''],
    ]
    for (const [identifier, value] of inputs) {
      const signature = signatureOf(base(identifier, value))
      const headers = headersOf(`s=(${identifier});keyid="k"`, `s=:${signature}:`, { 'content-type': 'application/json' })
      expect([identifier, verified(messageOf(headers))]).toEqual([identifier, []])
    }
    const twice = '("@method" "@method");keyid="k"'
    const signature = signatureOf(`"@method": POST\n"@method": POST\n"@signature-params": ${twice}`)
    expect(verified(messageOf(headersOf(`s=${twice}`, `s=:${signature}:`)))).toEqual([])
  })

  test('refuses malformed and oversized headers', () => {
    const many = Array.from({ length: 6 }, (_, nth) => `s${nth}=${params}`).join(', ')
    const long = `s=(${'"@method" '.repeat(33)});keyid="k"`
    for (const [input, signature] of [
      ['s', `s=:${good}:`],
      [`s=${params}`, 's=1'],
      [`s=${params}`, `r=:${good}:`],
      [`s=${params}`, ''],
      ['', ''],
      [`s=${params}`, `s=:${good}`],
      [`s=${params},`, `s=:${good}:`],
      [many, many.replaceAll(params, `:${good}:`)],
      [long, `s=:${good}:`],
    ] as const)
      expect([input, verified(messageOf(headersOf(input, signature)))?.length ?? 0]).toEqual([input, 0])
  })

  test('never throws, and verifies no random signature', () => {
    const atoms = ['"', '(', ')', ';', '=', ',', ' ', '\\', '\t', '*', 'a', 's', 'key', '"@method"', '"@path"', ':AAAA:', ':', '?1', '@1']
    const text = fc.array(fc.constantFrom(...atoms, '%"%c3%a9"', '1.0', '0.001', '999999999999999', '-1', 'keyid="k"'), { maxLength: 12 })
    const value = `s=:${Buffer.alloc(64, 1).toString('base64')}:`
    let parsed = 0
    fc.assert(
      fc.property(text, text, (inner, after) => {
        const input = `s=(${inner.join('')})${after.join('')}`
        for (const signature of signaturesOf(input, value) ?? []) {
          parsed++
          if (verifySignature(signature, messageOf({}), publicKey)) throw new Error(`verified ${input}`)
        }
        isDigestOf(inner.join(''), new Uint8Array())
      }),
      { numRuns: 5_000 },
    )
    expect(parsed).toBeGreaterThan(0)
  })

  test('says which components a signature covers', () => {
    const [signature] = signaturesOf('s=("@path" "content-type";sf "signature-agent";key="s")', `s=:${good}:`) ?? []
    if (!signature) throw new Error('not parsed')
    expect(covers(signature, '@path')).toBe(true)
    expect(covers(signature, 'content-type')).toBe(false)
    expect(covers(signature, 'signature-agent')).toBe(false)
    expect(covers(signature, 'signature-agent', true)).toBe(true)
  })
})

describe('digests', () => {
  const bytes = Buffer.from(body)
  const sha256 = contentDigest(body)
  test('accepts the digest of the body, also next to other digests', () => {
    for (const header of [sha256, `${sha256}, unixsum=:AAA=:`, `sha-512=:${Bun.SHA512.hash(body, 'base64')}:, ${sha256}`])
      expect(isDigestOf(header, bytes)).toBe(true)
  })
  test.each([
    '',
    'sha-256',
    'sha-256=1',
    'sha-256=:AAAA:',
    `sha-512=:${Bun.SHA512.hash(body, 'base64')}:`,
    `${sha256}, sha-256=:AAAA:`,
    `sha-256=:AAAA:, ${sha256}`,
    `${sha256}, ${sha256}`,
    contentDigest(`${body} `),
  ])('refuses the digest header %p', (header) => {
    expect(isDigestOf(header, bytes)).toBe(false)
  })
})
