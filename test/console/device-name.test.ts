import { expect, test } from 'bun:test'
import { deviceName } from '../../src/console/lib/format/device-name.ts'

test('a session shows browser and system of its device, and other clients by the name that they send', () => {
  const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)'
  expect(
    [
      `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/140.0.0.0 Safari/537.36`,
      `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0`,
      `Mozilla/5.0 (Linux; Android 10; K) ${webkit} Chrome/140.0.0.0 Mobile Safari/537.36`,
      'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15',
      'curl/8.5.0',
    ].map(deviceName),
  ).toEqual(['Chrome · Windows', 'Edge · Windows', 'Chrome · Android', 'Firefox · Linux', 'Safari · iOS', 'Safari · macOS', 'curl/8.5.0'])
})
