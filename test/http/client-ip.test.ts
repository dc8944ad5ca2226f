import { describe, expect, test } from 'bun:test'
import { createClientAddress, isForwarded } from '../../src/http/client-ip.ts'
import { limitKeyOf } from '../../src/lib/networks.ts'

const request = (headers: Record<string, string> = {}) => new Request('http://localhost/', { headers })
const { of, strictly } = createClientAddress(['10.0.0.0/8', '192.168.1.1', 'fd00::/8'])
const via = (forwarded: string) => request({ 'x-forwarded-for': forwarded })

describe('the client address', () => {
  test('the client address is that of the socket when nothing is forwarded', () => {
    expect(of(request(), '203.0.113.9')).toBe('203.0.113.9')
    expect(strictly(request(), '203.0.113.9')).toBe('203.0.113.9')
    expect(of(request(), '::ffff:203.0.113.9')).toBe('203.0.113.9')
    expect(of(request(), '::ffff:cb00:7109')).toBe('203.0.113.9')
    expect(of(request(), undefined)).toBeUndefined()
    expect(strictly(request(), undefined)).toBeUndefined()
  })

  test('the client address is read from the right of the chain, past every trusted proxy', () => {
    expect(of(via('203.0.113.9'), '10.1.2.3')).toBe('203.0.113.9')
    expect(of(via('198.51.100.1, 203.0.113.9'), '10.1.2.3')).toBe('203.0.113.9')
    expect(of(via('198.51.100.1, 203.0.113.9, 192.168.1.1, 10.9.9.9'), '10.1.2.3')).toBe('203.0.113.9')
    expect(of(via('127.0.0.1, 203.0.113.9,10.9.9.9'), 'fd00::1')).toBe('203.0.113.9')
    expect(of(via('::ffff:203.0.113.9'), '10.1.2.3')).toBe('203.0.113.9')
    expect(of(via('2001:db8::1'), '::ffff:10.1.2.3')).toBe('2001:db8::1')
    for (const hop of ['203.0.113.9:4711', '203.0.113.9:0', '203.0.113.9:65535', '[::ffff:203.0.113.9]:80'])
      expect([hop, of(via(`${hop}, 10.9.9.9:80`), '10.1.2.3')]).toEqual([hop, '203.0.113.9'])
    for (const hop of ['[2001:db8::1]:4711', '[2001:DB8::1]'])
      expect([hop, of(via(`198.51.100.1, ${hop}, [fd00::7]:443`), '10.1.2.3')]).toEqual([hop, '2001:db8::1'])
    // If every address is a trusted proxy, the leftmost one is the client.
    expect(of(via('10.0.0.7, 10.0.0.8'), '10.1.2.3')).toBe('10.0.0.7')
  })

  test('a forwarded address from an untrusted socket is ignored for limits and refused on guarded routes', () => {
    expect(of(via('127.0.0.1'), '203.0.113.9')).toBe('203.0.113.9')
    expect(strictly(via('127.0.0.1'), '203.0.113.9')).toBeUndefined()
    for (const header of [
      ...['forwarded', 'x-real-ip', 'cf-connecting-ip', 'true-client-ip', 'x-client-ip', 'via', 'x-forwarded-host'],
      ...['x-forwarded-server', 'x-forwarded-port', 'x-cluster-client-ip'],
      ...['x-forwarded', 'x-forwarded-by', 'x-forwarded-prefix', 'x-forwarded-ssl', 'x-forwarded-scheme', 'x-original-forwarded-for'],
      ...['forwarded-for', 'x-envoy-external-address', 'fastly-client-ip', 'fly-client-ip', 'x-azure-clientip', 'x-originating-ip'],
      ...['x-remote-ip', 'x-remote-addr', 'cf-connecting-ipv6', 'wl-proxy-client-ip', 'x-appengine-remote-addr', 'cdn-loop', 'X-Real-IP'],
    ]) {
      expect([header, strictly(request({ [header]: '127.0.0.1' }), '203.0.113.9')]).toEqual([header, undefined])
      expect(isForwarded(request({ [header]: 'x' }))).toBe(true)
    }
    for (const header of [
      'user-agent',
      'x-shop-id',
      'x-request-id',
      'x-service-api-key',
      'idempotency-key',
      'viable',
      'x-ip',
      'cf-ipcountry',
    ])
      expect([header, isForwarded(request({ [header]: 'x' }))]).toEqual([header, false])
  })

  test('the strict client address is unknown when a trusted proxy sends a header that is not read', () => {
    const trustsItself = createClientAddress(['127.0.0.1'])
    expect(trustsItself.strictly(request({ 'x-real-ip': '203.0.113.9' }), '127.0.0.1')).toBeUndefined()
    expect(trustsItself.strictly(via('203.0.113.9'), '127.0.0.1')).toBe('203.0.113.9')
    expect(trustsItself.strictly(request(), '127.0.0.1')).toBe('127.0.0.1')
  })

  test('the client address is unknown when the chain has an invalid address before an untrusted one', () => {
    for (const chain of [
      'unknown',
      '203.0.113.9, unknown',
      '203.0.113.9:65536',
      '203.0.113.9:',
      '203.0.113.9:x',
      '[203.0.113.9]:80',
      '[2001:db8::1',
      '2001:db8::1]:80',
      '[2001:db8::1%eth0]:80',
      '',
      ' ',
      ',',
      '203.0.113.9,',
      '010.2.3.4',
      '1.2.3',
      '999.1.1.1',
      '_hidden',
      '203.0.113.9 10.0.0.1',
      '<script>',
    ]) {
      expect([chain, of(via(chain), '10.1.2.3')]).toEqual([chain, undefined])
      expect([chain, strictly(via(chain), '10.1.2.3')]).toEqual([chain, undefined])
    }
    // A client can forge what is left of its own address, so that is ignored.
    expect(of(via('garbage, 203.0.113.9'), '10.1.2.3')).toBe('203.0.113.9')
  })
})

describe('the key of a rate limit', () => {
  test('the limit key of an IPv4 address is the same in every spelling', () => {
    expect(limitKeyOf('203.0.113.9')).toBe('203.0.113.9')
    expect(limitKeyOf('::ffff:203.0.113.9')).toBe('203.0.113.9')
    expect(limitKeyOf('::ffff:cb00:7109')).toBe('203.0.113.9')
  })

  test('the limit key of an IPv6 address is its /64 in every spelling', () => {
    const spellings = [
      '2001:db8:0:1::1',
      '2001:db8:0:1:ffff:ffff:ffff:ffff',
      '2001:0DB8:0000:0001::',
      '2001:db8:0:1:0:0:0:9',
      '2001:db8::1:0:0:0:9',
    ]
    expect(new Set(spellings.map(limitKeyOf)).size).toBe(1)
    expect(limitKeyOf('2001:db8:0:2::1')).not.toBe(limitKeyOf('2001:db8:0:1::1'))
    expect(limitKeyOf('::1')).not.toBe(limitKeyOf('1::'))
    expect(limitKeyOf('1::')).toBe('1:0:0:0::/64')
    expect(limitKeyOf('64:ff9b::1.2.3.4')).toBe('64:ff9b:0:0::/64')
  })

  test('the limit key of a link-local address with a zone is its /64', () => {
    expect(limitKeyOf('fe80::1%eth0')).toBe('fe80:0:0:0::/64')
  })

  test('all unknown addresses share one limit key', () => {
    expect(limitKeyOf(undefined)).toBe('unknown')
  })
})
