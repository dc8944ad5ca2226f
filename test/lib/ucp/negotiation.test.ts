import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { UcpError } from '../../../src/lib/ucp/errors.ts'
import { commonCapabilities, parseProfile } from '../../../src/lib/ucp/negotiation.ts'
import {
  type Capability,
  capabilities,
  capabilityNames,
  fullNameOf,
  type Release,
  releaseRules,
  releases,
} from '../../../src/lib/ucp/releases.ts'
import { longTestMs } from '../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const url = new URL('https://agent.example/profile')
const release: Release = '2026-08-25'
const all = new Set(capabilityNames)
const schema = 'https://ucp.dev/schemas/some.json'

const profileOf = (declared: Record<string, unknown>, more: object = {}, version: string = release) => ({
  ucp: { version, services: {}, payment_handlers: {}, capabilities: declared },
  ...more,
})
const codeOf = (run: () => unknown) => {
  try {
    run()
    return undefined
  } catch (error) {
    return error instanceof UcpError ? error.code : error
  }
}
const negotiated = (declared: Record<string, unknown>, version: Release = release) =>
  [...commonCapabilities(all, parseProfile(profileOf(declared, {}, version), url))].sort()

/** Generates every combination of one choice per name. */
function* combinationsOf<Name extends string, Choice>(choices: Record<Name, readonly Choice[]>): Generator<Record<Name, Choice>> {
  const names = Object.keys(choices) as Name[]
  const counts = names.map((name) => choices[name].length)
  for (let nth = 0; nth < counts.reduce((product, count) => product * count, 1); nth++) {
    let rest = nth
    yield Object.fromEntries(
      names.map((name, at) => {
        const chosen = choices[name][rest % (counts[at] as number)]
        rest = Math.floor(rest / (counts[at] as number))
        return [name, chosen]
      }),
    ) as Record<Name, Choice>
  }
}

describe('capabilities in common', () => {
  test.each(releases)(
    'capabilities in common are those of both sides in release %s whose parents are in common too, for every profile',
    (version) => {
      const other = releases.find((one) => one !== version) ?? ''
      type Choice = { version: string; extends?: string | string[] } | undefined
      const plain: Choice[] = [undefined, { version }, { version: other }]
      const parents = (...lists: string[][]): Choice[] =>
        lists.map((list) => ({ version, extends: list.length > 1 ? list : (list[0] ?? []) }))
      const name = (capability: Capability) => fullNameOf(capability)
      const choices: Record<Capability, Choice[]> = {
        checkout: plain,
        cart: plain,
        order: plain,
        'catalog.search': plain,
        'catalog.lookup': plain,
        fulfillment: [...plain, ...parents([name('checkout')], [name('cart')], ['com.example.loyalty'])],
        discount: [
          ...plain,
          ...parents([name('checkout')], [name('cart')], [name('checkout'), name('cart')], [name('fulfillment')], ['com.example.loyalty']),
        ],
      }
      let count = 0
      for (const chosen of combinationsOf(choices)) {
        // Computes the result by recursion: no declaration here has a cycle.
        const isActive = (capability: Capability): boolean => {
          const entry = chosen[capability]
          if (entry?.version !== version) return false
          const ourParents: readonly Capability[] = capabilities[capability]
          const theirParents = entry.extends === undefined ? [] : [entry.extends].flat()
          return (
            (ourParents.length === 0 || ourParents.some(isActive)) &&
            (theirParents.length === 0 || capabilityNames.some((one) => theirParents.includes(fullNameOf(one)) && isActive(one)))
          )
        }
        const declared = Object.fromEntries(
          Object.entries(chosen).map(([capability, entry]) => [fullNameOf(capability as Capability), entry && [{ ...entry, schema }]]),
        )
        const found = negotiated(declared, version)
        const expected = capabilityNames.filter(isActive).sort()
        if (!Bun.deepEquals(found, expected)) expect({ chosen, found }).toEqual({ chosen, found: expected })
        count++
      }
      expect(count).toBe(3 ** 5 * 6 * 8)
    },
  )

  test('capabilities in common are only those that the shop offers', () => {
    const profile = parseProfile(
      profileOf(Object.fromEntries(capabilityNames.map((name) => [fullNameOf(name), [{ version: release, schema }]]))),
      url,
    )
    expect(commonCapabilities(all, profile)).toEqual(all)
    expect(commonCapabilities(new Set(['cart', 'discount', 'fulfillment']), profile)).toEqual(new Set(['cart', 'discount']))
    expect(commonCapabilities(new Set(['discount', 'fulfillment']), profile)).toEqual(new Set())
  })

  test('a capability whose schema is on another host than its name is left out', () => {
    const checkout = fullNameOf('checkout')
    const declared = (one: unknown) => negotiated({ [checkout]: [{ version: release, schema: one }] })
    for (const one of ['https://ucp.dev/x', 'https://shopping.ucp.dev/x']) expect(declared(one)).toEqual(['checkout'])
    for (const one of ['https://evil.example/x', 'https://ucp.dev.evil.example/x', 'https://xucp.dev/', 'http://ucp.dev/x', 'x', 1, null])
      expect(declared(one)).toEqual([])
  })

  test('capabilities are found among entries of other versions and of unknown form', () => {
    expect(
      negotiated({ [fullNameOf('cart')]: ['x', null, { version: '2020-01-01' }, { version: release, config: { a: 1 }, b: [] }] }),
    ).toEqual(['cart'])
    for (const entries of [{}, 'x', null, 1, { version: release }, [[{ version: release }]], []])
      expect(negotiated({ [fullNameOf('cart')]: entries })).toEqual([])
    expect(negotiated({ 'com.example.x': [{ version: release }], 'dev.ucp.shopping.loyalty': [{ version: release }] })).toEqual([])
  })
})

describe('a profile', () => {
  test('a profile of another form is malformed', () => {
    for (const document of [
      undefined,
      null,
      1,
      'x',
      [],
      {},
      { ucp: null },
      { ucp: [] },
      { ucp: {} },
      { ucp: { version: 1 } },
      { ucp: { version: 'new' } },
    ])
      expect(codeOf(() => parseProfile(document, url))).toBe('profile_malformed')
  })

  test('a profile of another version is not supported, whatever its form', () => {
    for (const version of ['2026-01-11', '2026-08-26', '0000-00-00'])
      expect(codeOf(() => parseProfile({ ucp: { version, capabilities: [] }, keys: 1 }, url))).toBe('version_unsupported')
  })

  test('a profile with capabilities or keys of the wrong type is malformed', () => {
    for (const declared of [[], 'x', 1, null])
      expect(codeOf(() => parseProfile({ ucp: { version: release, capabilities: declared } }, url))).toBe('profile_malformed')
    for (const keys of [{}, 'x', 1, null, Array.from({ length: 21 }, () => ({}))])
      expect(codeOf(() => parseProfile(profileOf({}, { keys }), url))).toBe('profile_malformed')
  })

  const jwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' })
  const keysOf = (...keys: unknown[]) => parseProfile(profileOf({}, { keys }), url).keys.map(({ kid, key }) => [kid, key !== null])

  test.each(releases)('a profile of release %s has its keys in the field of that release', (version) => {
    for (const field of ['keys', 'signing_keys'] as const) {
      const { keys } = parseProfile(profileOf({}, { [field]: [{ kid: 'a', ...jwk }] }, version), url)
      expect(keys.map(({ kid }) => kid)).toEqual(field === releaseRules[version].keysField ? ['a'] : [])
    }
  })

  test('a profile keeps the names of keys of other kinds next to a usable one', () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519')
    const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey.export({ format: 'jwk' })
    expect(
      keysOf(
        { kid: 'good', ...jwk, use: 'sig', alg: 'ES256', extra: [1] },
        { kid: 'ed', ...publicKey.export({ format: 'jwk' }) },
        { kid: 'p384', ...p384 },
        { kid: 'enc', ...jwk, use: 'enc' },
        { kid: 'alg', ...jwk, alg: 'ES384' },
        { kid: 'good', ...jwk },
      ),
    ).toEqual([
      ['good', true],
      ['ed', false],
      ['p384', false],
      ['enc', false],
      ['alg', false],
      ['good', true],
    ])
    expect(keysOf({ kid: 'private', ...privateKey.export({ format: 'jwk' }) }, { kid: 'private', ...jwk, d: 'AA' })).toEqual([])
  })

  test('a profile leaves out keys without a name or a point on the curve', () => {
    const outOfRange = Buffer.alloc(32, 255).toString('base64url')
    const offCurve = Buffer.alloc(32, 1).toString('base64url')
    const bad = [
      jwk,
      { ...jwk, kid: 1 },
      { ...jwk, kid: 'x'.repeat(256) },
      { ...jwk, kid: 'k', x: offCurve },
      { ...jwk, kid: 'k', x: outOfRange, y: outOfRange },
      { ...jwk, kid: 'k', x: '' },
      { ...jwk, kid: 'k', x: 1 },
      { ...jwk, kid: 'k', y: undefined },
      { ...jwk, kid: 'k', x: Buffer.alloc(32).toString('base64url'), y: Buffer.alloc(32).toString('base64url') },
      'x',
      null,
    ]
    for (const key of bad) expect([key, keysOf(key, { kid: 'good', ...jwk })]).toEqual([key, [['good', true]]])
  })

  test('a profile has a URL for order messages only at its own host', () => {
    const webhookOf = (webhook: unknown, config: unknown = { webhook_url: webhook }) =>
      parseProfile(profileOf({ [fullNameOf('order')]: [{ version: release, schema, config }] }), url).webhookUrl
    for (const good of ['https://agent.example/orders?a=1', 'https://agent.example:8443/x', 'http://agent.example/x'])
      expect(webhookOf(good)).toBe(good)
    for (const bad of [
      'https://other.example/x',
      'https://agent.example.other.example/x',
      'https://sub.agent.example/x',
      'https://user@agent.example/x',
      'file://agent.example/x',
      `https://agent.example/${'a'.repeat(2_048)}`,
      'x',
      1,
      null,
    ])
      expect(webhookOf(bad)).toBeNull()
    for (const config of [undefined, null, 'x', [], {}]) expect(webhookOf('', config)).toBeNull()
    const inOtherCapability = { [fullNameOf('checkout')]: [{ version: release, config: { webhook_url: 'https://agent.example/x' } }] }
    expect(parseProfile(profileOf(inOtherCapability), url).webhookUrl).toBeNull()
  })
})
