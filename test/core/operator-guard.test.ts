import { expect, test } from 'bun:test'
import { createOperatorGuard, operatorRefusalMessages } from '../../src/core/operator-guard.ts'

const guard = createOperatorGuard(
  {
    operatorIpAllowlist: ['127.0.0.0/8', '::1', '10.0.0.0/8', '203.0.113.0/24', '2001:db8::/32', 'fd00::/8'],
    operatorCountries: ['AE', 'MN'],
  },
  (address) => ({ '203.0.113.1': 'AE', '203.0.113.2': 'FR', '2001:db8::1': 'MN' })[address],
)

test('operators may call from a listed address, in any spelling, and a listed country', () => {
  for (const [address, proxyCountry, reason] of [
    [undefined, 'AE', 'NO_ADDRESS'],
    ['198.51.100.1', 'AE', 'ADDRESS'],
    ['::2', 'AE', 'ADDRESS'],
    ['fe80::1%eth0', 'AE', 'ADDRESS'],
    ['010.0.0.1', 'AE', 'ADDRESS'],
    ['203.0.113.1', undefined, undefined],
    ['2001:db8::1', undefined, undefined],
    ['203.0.113.2', undefined, 'COUNTRY'],
    ['203.0.113.3', undefined, 'COUNTRY_UNKNOWN'],
    // The proxy's header wins over the file; an invalid or repeated value is no country.
    ['203.0.113.2', 'ae', undefined],
    ['203.0.113.1', 'FR', 'COUNTRY'],
    ...['XX', 'T1', '', 'AE, FR', 'ARE'].map((country) => ['203.0.113.1', country, 'COUNTRY_UNKNOWN'] as const),
    // Private addresses have no country, whatever the header contains.
    ...['127.9.9.9', '10.1.2.3', '::1', 'fd00::7', '::ffff:10.1.2.3'].map((private_) => [private_, 'FR', undefined] as const),
  ] as const)
    expect([address, proxyCountry, guard({ address, proxyCountry })]).toEqual([address, proxyCountry, reason])
})

test('without listed countries only the address is checked, and each refusal has its own message', () => {
  const anywhere = createOperatorGuard({ operatorIpAllowlist: ['203.0.113.0/24'], operatorCountries: [] }, () => undefined)
  expect(anywhere({ address: '203.0.113.3', proxyCountry: undefined })).toBeUndefined()
  expect(anywhere({ address: '127.0.0.1', proxyCountry: undefined })).toBe('ADDRESS')
  expect(new Set(Object.values(operatorRefusalMessages)).size).toBe(4)
})
