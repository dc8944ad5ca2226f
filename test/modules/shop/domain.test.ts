import { expect, test } from 'bun:test'
import { normalOrigin } from '../../../src/modules/shop/domain.ts'

test('an origin is known by its scheme, host and port, however it is written', () => {
  const written: [text: string, origin: string][] = [
    ['https://a.example', 'https://a.example'],
    ['HTTPS://A.Example:443/', 'https://a.example'],
    ['http://localhost:5173', 'http://localhost:5173'],
    ['http://[::1]:80', 'http://[::1]'],
  ]
  for (const [text, origin] of written) expect([text, normalOrigin(text)]).toEqual([text, origin])
})

test('what says more than an origin, or is none that a browser sends, is refused', () => {
  const refused = [
    ...['', 'a.example', '*', 'null', 'https://'],
    ...['ftp://a.example', 'javascript:alert(1)', 'xhttps://a.example', 'httpsx://a.example', 'file:///'],
    ...['https://user@a.example', 'https://:word@a.example', 'https://*.a.example'],
    ...['https://a.example/path', 'https://a.example?query', 'https://a.example#part'],
  ]
  for (const text of refused) expect([text, normalOrigin(text)]).toEqual([text, undefined])
})
