/** Tests how a caller is identified: profile, proof and common capabilities. */
import { describe, expect, test } from 'bun:test'
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { contentDigest } from '../../../../src/lib/http-signatures.ts'
import { UcpError } from '../../../../src/lib/ucp/errors.ts'
import { parseProfile } from '../../../../src/lib/ucp/negotiation.ts'
import { fullNameOf } from '../../../../src/lib/ucp/releases.ts'
import { identifyPlatform, type PlatformRequest } from '../../../../src/modules/agents/platform/index.ts'

const url = 'https://agent.example/profile'
const release = '2026-08-25'
const now = Date.UTC(2026, 0, 6, 12)
const nowSeconds = now / 1_000
const body = '{"line_items":[]}'
const endpoint = 'https://shop.example/souk/ucp/tea/checkout-sessions'
const good = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const other = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const jwkOf = (key: KeyObject) => key.export({ format: 'jwk' })

const capabilities = {
  [fullNameOf('checkout')]: [{ version: release }],
  [fullNameOf('discount')]: [{ version: release, extends: [fullNameOf('checkout')] }],
  [fullNameOf('order')]: [{ version: release, config: { webhook_url: 'https://agent.example/orders' } }],
}
const profileOf = (keys: unknown[]) => ({ ucp: { version: release, capabilities }, keys })
const goodKey = { kid: 'good', ...jwkOf(good.publicKey) }

/** Returns functions that identify a request. The profile is the first of `profiles`, and the last after a refresh. */
function setUp({ profiles = [profileOf([goodKey])] }: { profiles?: unknown[] } = {}) {
  let reads = 0
  const deps = {
    config: { publicUrl: 'https://Shop.example:443/souk/', host: '', port: 0 },
    life: { stopping: false },
    clock: { now: () => now, monotonic: () => 0 },
    platformProfiles: {
      async read(address: string, isStale = false) {
        reads++
        return parseProfile(profiles[isStale ? profiles.length - 1 : 0], new URL(address))
      },
    },
  }
  const identify = (request: Partial<PlatformRequest> & Pick<PlatformRequest, 'request'>) =>
    // @ts-expect-error: contains only the settings that it reads.
    identifyPlatform(deps, { access: 'OPEN', rawBody: new Uint8Array(), ...request })
  return {
    reads: () => reads,
    identify,
    code: (request: Parameters<typeof identify>[0]) =>
      identify(request).then(
        ({ isProven }) => (isProven ? 'proven' : 'unproven'),
        (error: unknown) => (error instanceof UcpError ? error.code : error),
      ),
  }
}

type Signing = {
  label?: string
  components?: string[]
  params?: string
  kid?: string
  key?: KeyObject
  /** Headers that are changed after signing. */
  headers?: Record<string, string | undefined>
  sent?: Partial<{ method: string; url: string; body: string }>
  publicUrl?: string
  signedHeaders?: Record<string, string>
  extra?: { input: string; signature: string }
}
const components = ['@method', '@authority', '@path', 'ucp-agent', 'idempotency-key', 'content-digest', 'content-type']

/** Returns a signed request. Builds the signature base itself, so that it does not share code with the verification. */
function signRequest(options: Signing = {}): Pick<PlatformRequest, 'request' | 'rawBody'> {
  const { label = 'sig1', params = '', kid = 'good', key = good.privateKey } = options
  const address = new URL(options.publicUrl ?? endpoint)
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'content-digest': contentDigest(body),
    'ucp-agent': `profile="${url}"`,
    'idempotency-key': '550e8400-e29b-41d4-a716-446655440000',
    ...options.signedHeaders,
  }
  const covered = options.components ?? components
  const values: Record<string, string> = {
    '@method': 'POST',
    '@authority': address.host,
    '@path': address.pathname,
    '@query': address.search || '?',
  }
  const identifiers = covered.map((name) => (name.includes(';') ? name : `"${name}"`))
  const input = `(${identifiers.join(' ')})${params};keyid="${kid}"`
  const lines = identifiers.map((identifier, at) => {
    const name = covered[at] ?? ''
    const value = name.includes(';') ? memberOf(headers['signature-agent'] ?? '') : (values[name] ?? headers[name] ?? '')
    return `${identifier}: ${value}`
  })
  const base = [...lines, `"@signature-params": ${input}`].join('\n')
  const signature = sign('sha256', Buffer.from(base), { key, dsaEncoding: 'ieee-p1363' }).toString('base64')
  const extra = options.extra
  const all = {
    ...headers,
    'signature-input': `${extra ? `${extra.input}, ` : ''}${label}=${input}`,
    signature: `${extra ? `${extra.signature}, ` : ''}${label}=:${signature}:`,
    ...options.headers,
  }
  const sent = { method: 'POST', url: endpoint.replace('https://shop.example/souk', 'http://localhost:3000'), body, ...options.sent }
  const entries = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return { request: { method: sent.method, url: sent.url, headers: new Headers(entries) }, rawBody: Buffer.from(sent.body) }
}
const memberOf = (header: string) => header.split('=').slice(1).join('=')

const unnamedRequest = (headers: Record<string, string> = {}) => ({
  request: { method: 'GET', url: 'http://localhost:3000/ucp/tea/orders/1', headers: new Headers(headers) },
})
const namedRequest = unnamedRequest({ 'ucp-agent': `profile="${url}"` })

describe('without a signature', () => {
  test('a named platform has the common capabilities in OPEN, and needs proof in SIGNED and for orders', async () => {
    const { identify, code, reads } = setUp()
    expect(await identify(namedRequest)).toEqual({
      profile: url,
      isProven: false,
      release,
      capabilities: new Set(['checkout', 'discount', 'order']),
      webhookUrl: 'https://agent.example/orders',
    })
    expect((await identify({ ...namedRequest, offered: new Set(['cart', 'order']) })).capabilities).toEqual(new Set(['order']))
    const before = reads()
    expect(await code({ ...namedRequest, access: 'SIGNED' })).toBe('signature_missing')
    expect(await code({ ...namedRequest, needsProof: true })).toBe('signature_missing')
    expect(reads()).toBe(before)
  })

  test('an unnamed platform may call over MCP in OPEN', async () => {
    const { identify, code, reads } = setUp()
    const meta = { profile: undefined }
    expect(await identify({ ...unnamedRequest(), meta })).toMatchObject({ profile: null, isProven: false, release, webhookUrl: null })
    expect(await code({ ...unnamedRequest(), meta, access: 'SIGNED' })).toBe('invalid_profile_url')
    expect(await code({ ...unnamedRequest(), meta, needsProof: true })).toBe('invalid_profile_url')
    expect(await code(unnamedRequest())).toBe('invalid_profile_url')
    expect(await code({ ...namedRequest, meta })).toBe('unproven')
    expect(await code({ ...unnamedRequest(), meta: { profile: url } })).toBe('unproven')
    expect(await code({ ...namedRequest, meta: { profile: `${url}/other` } })).toBe('invalid_profile_url')
    expect(reads()).toBe(2)
  })

  test('a digest that is sent is checked', async () => {
    const { code } = setUp()
    for (const request of [namedRequest, { ...unnamedRequest(), meta: { profile: undefined } }]) {
      const { headers } = request.request
      const sent = (digest: string) => ({
        ...request,
        request: { ...request.request, headers: new Headers([...headers, ['content-digest', digest]]) },
        rawBody: Buffer.from(body),
      })
      expect(await code(sent(contentDigest(body)))).toBe('unproven')
      expect(await code(sent(contentDigest(`${body} `)))).toBe('digest_mismatch')
    }
  })
})

describe('a signature', () => {
  test('proves the platform, at the address that PUBLIC_URL names', async () => {
    const { code } = setUp()
    for (const access of ['OPEN', 'SIGNED'] as const) expect(await code({ ...signRequest(), access, needsProof: true })).toBe('proven')
    const withQuery = { publicUrl: `${endpoint}?a=1`, sent: { url: 'http://localhost:3000/ucp/tea/checkout-sessions?a=1' } }
    expect(await code(signRequest({ ...withQuery, components: [...components, '@query'] }))).toBe('proven')
    expect(await code(signRequest(withQuery))).toBe('signature_invalid')
    expect(await code(signRequest({ publicUrl: endpoint.replace('shop.example', 'localhost:3000') }))).toBe('signature_invalid')
    expect(await code(signRequest({ publicUrl: endpoint.replace('/souk', '') }))).toBe('signature_invalid')
  })

  test.each(components)('that does not cover %s is refused', async (component) => {
    const { code } = setUp()
    const without = components.filter((name) => name !== component)
    expect(await code(signRequest({ components: without }))).toBe('signature_invalid')
    if (['ucp-agent', 'idempotency-key'].includes(component)) return
    expect(await code(signRequest({ components: [...without, `"${component}";req`] }))).toBe('signature_invalid')
  })

  test('need not cover headers that the request does not have', async () => {
    const { code } = setUp()
    const few = ['@method', '@authority', '@path', 'ucp-agent']
    const headers = { 'idempotency-key': undefined, 'content-digest': undefined, 'content-type': undefined }
    expect(await code(signRequest({ components: few, headers, sent: { body: '' } }))).toBe('proven')
    expect(await code(signRequest({ components: few, headers }))).toBe('signature_invalid')
  })

  test('is refused on another method, path, shop, body or header', async () => {
    const { code } = setUp()
    for (const sent of [
      { method: 'PUT' },
      { url: 'http://localhost:3000/ucp/coffee/checkout-sessions' },
      { url: 'http://localhost:3000/ucp/tea/mcp' },
      { url: 'http://localhost:3000/ucp/tea/checkout-sessions/chk_1/complete' },
    ])
      expect([sent, await code(signRequest({ sent }))]).toEqual([sent, 'signature_invalid'])
    expect(await code(signRequest({ sent: { body: '{"line_items":[1]}' } }))).toBe('digest_mismatch')
    const changed = { body: '{"line_items":[1]}' }
    expect(await code(signRequest({ sent: changed, headers: { 'content-digest': contentDigest(changed.body) } }))).toBe('signature_invalid')
    expect(await code(signRequest({ headers: { 'idempotency-key': crypto.randomUUID() } }))).toBe('signature_invalid')
    expect(await code(signRequest({ headers: { 'content-type': 'application/json; charset=utf-8' } }))).toBe('signature_invalid')
    expect(await code(signRequest({ headers: { 'content-digest': undefined } }))).toBe('signature_invalid')
    const twice = `${contentDigest(body)}, ${contentDigest('x')}`
    expect(await code(signRequest({ signedHeaders: { 'content-digest': twice } }))).toBe('digest_mismatch')
  })

  test.each([
    ['', 'proven'],
    [`;created=${nowSeconds}`, 'proven'],
    [`;created=${nowSeconds - 300}`, 'proven'],
    [`;created=${nowSeconds + 300}`, 'proven'],
    [`;created=${nowSeconds - 301}`, 'signature_invalid'],
    [`;created=${nowSeconds + 301}`, 'signature_invalid'],
    [`;created="${nowSeconds}"`, 'signature_invalid'],
    [';created', 'signature_invalid'],
    [`;expires=${nowSeconds + 3_600}`, 'proven'],
    [`;expires=${nowSeconds - 300}`, 'proven'],
    [`;expires=${nowSeconds - 301}`, 'signature_invalid'],
    [`;created=${nowSeconds};expires=${nowSeconds + 60};nonce="abc";tag="web-bot-auth"`, 'proven'],
    [';alg="ecdsa-p256-sha256"', 'proven'],
    [';alg="rsa-pss-sha512"', 'algorithm_unsupported'],
  ])('with the parameters %p is %p', async (params, result) => {
    expect(await setUp().code(signRequest({ params }))).toBe(result)
  })

  test('with another tag is ignored', async () => {
    const { code } = setUp()
    const tagged = signRequest({ params: ';tag="other"' })
    expect(await code(tagged)).toBe('unproven')
    expect(await code({ ...tagged, access: 'SIGNED' })).toBe('signature_missing')
    expect(await code(signRequest({ params: ';tag=web-bot-auth' }))).toBe('unproven')
  })

  test('must cover its member of signature-agent', async () => {
    const { code } = setUp()
    const signedHeaders = { 'signature-agent': 'sig1="https://agent.example/.well-known/ucp";type=jwks_uri' }
    expect(await code(signRequest({ signedHeaders, components: [...components, 'signature-agent'] }))).toBe('proven')
    expect(await code(signRequest({ signedHeaders, components: [...components, '"signature-agent";key="sig1"'] }))).toBe('proven')
    expect(await code(signRequest({ signedHeaders, components: [...components, '"signature-agent";key="sig2"'] }))).toBe(
      'signature_invalid',
    )
    expect(await code(signRequest({ signedHeaders }))).toBe('signature_invalid')
  })

  test('is enough beside invalid ones, and an invalid one alone is refused even in OPEN', async () => {
    const { code } = setUp()
    const params = `(${components.map((name) => `"${name}"`).join(' ')});keyid="good"`
    const extra = { input: `bad=${params}`, signature: `bad=:${Buffer.alloc(64, 1).toString('base64')}:` }
    expect(await code(signRequest({ extra }))).toBe('proven')
    expect(await code(signRequest({ extra: { ...extra, input: 'bad=("@authority");keyid="nobody"' } }))).toBe('proven')
    expect(await code(signRequest({ key: other.privateKey }))).toBe('signature_invalid')
    expect(await code(signRequest({ key: other.privateKey, extra }))).toBe('signature_invalid')
    expect(await code(signRequest({ headers: { signature: undefined } }))).toBe('signature_invalid')
    expect(await code(signRequest({ headers: { 'signature-input': undefined } }))).toBe('signature_invalid')
    expect(await code(signRequest({ headers: { 'signature-input': '?', signature: '?' } }))).toBe('signature_invalid')
  })

  test('of an unnamed platform is not read', async () => {
    const { code, reads } = setUp()
    const request = signRequest({ headers: { 'ucp-agent': undefined }, components: ['@authority'] })
    expect(await code({ ...request, meta: { profile: undefined } })).toBe('unproven')
    expect(await code(request)).toBe('invalid_profile_url')
    expect(reads()).toBe(0)
  })
})

describe('keys', () => {
  test('that the profile does not list are not found, even after it is read again', async () => {
    const { code, reads } = setUp()
    expect(await code(signRequest({ kid: 'unknown' }))).toBe('key_not_found')
    expect(reads()).toBe(2)
    const rotated = setUp({ profiles: [profileOf([]), profileOf([goodKey])] })
    expect(await rotated.code(signRequest())).toBe('proven')
    expect(await setUp({ profiles: [profileOf([{ ...goodKey, kid: 'new' }])] }).code(signRequest())).toBe('key_not_found')
  })

  test('of other kinds cannot be used, and do not disturb good ones', async () => {
    const ed = { kid: 'ed', ...jwkOf(generateKeyPairSync('ed25519').publicKey) }
    const { code } = setUp({ profiles: [profileOf([ed, { ...goodKey, kid: 'enc', use: 'enc' }, goodKey])] })
    expect(await code(signRequest())).toBe('proven')
    expect(await code(signRequest({ kid: 'ed' }))).toBe('algorithm_unsupported')
    expect(await code(signRequest({ kid: 'enc' }))).toBe('algorithm_unsupported')
  })

  test('with the same id are all tried', async () => {
    const twins = [{ kid: 'good', ...jwkOf(other.publicKey) }, { kid: 'good', ...jwkOf(generateKeyPairSync('ed25519').publicKey) }, goodKey]
    expect(await setUp({ profiles: [profileOf(twins)] }).code(signRequest())).toBe('proven')
  })

  test('of another platform prove nothing', async () => {
    expect(await setUp({ profiles: [profileOf([{ kid: 'good', ...jwkOf(other.publicKey) }])] }).code(signRequest())).toBe(
      'signature_invalid',
    )
  })
})
