import { expect, test } from 'bun:test'
import { keySeal, normalOrigin, shopNamePattern, walletSeal } from '../../../../src/modules/shop/shop/domain.ts'

test('an origin is normalized to its scheme, host and port', () => {
  const cases: [text: string, origin: string][] = [
    ['https://a.example', 'https://a.example'],
    ['HTTPS://A.Example:443/', 'https://a.example'],
    ['http://localhost:5173', 'http://localhost:5173'],
    ['http://[::1]:80', 'http://[::1]'],
  ]
  for (const [text, origin] of cases) expect([text, normalOrigin(text)]).toEqual([text, origin])
})

test('a URL with more than an origin, and an origin that browsers do not send, are refused', () => {
  const refused = [
    ...['', 'a.example', '*', 'null', 'https://'],
    ...['ftp://a.example', 'javascript:alert(1)', 'xhttps://a.example/', 'httpsx://a.example', 'file:///'],
    ...['https://user@a.example', 'https://:word@a.example', 'https://*.a.example'],
    ...['https://a.example/path', 'https://a.example?query', 'https://a.example#part'],
  ]
  for (const text of refused) expect([text, normalOrigin(text)]).toEqual([text, undefined])
})

test('the handle of a shop has 3 to 63 lower-case letters, digits and hyphens, without a hyphen at either end', () => {
  const pattern = new RegExp(shopNamePattern)
  for (const name of ['abc', 'a-1', '1'.repeat(63)]) expect([name, pattern.test(name)]).toEqual([name, true])
  for (const name of ['', 'ab', '-ab', 'ab-', 'Abc', 'a.b', 'a_b', 'abc\n', '1'.repeat(64)])
    expect([name, pattern.test(name)]).toEqual([name, false])
})

test('the seals of a shop key and a wallet contain the ids that they are bound to', () => {
  expect(keySeal('shop_1', 'key_1')).toBe('shop_1/api-key/key_1')
  expect(walletSeal('shop_1')).toBe('shop_1/wallet')
})
