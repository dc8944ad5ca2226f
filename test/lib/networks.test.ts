import { describe, expect, test } from 'bun:test'
import { blockList, createAddressGuard, hostOf, literalAddressOf } from '../../src/lib/networks.ts'

describe('a list of blocks', () => {
  test('a list of blocks holds its addresses and no junk', () => {
    const list = blockList(['10.0.0.0/8', '192.0.2.1', '2001:db8::/32', '::1'])
    for (const address of ['10.0.0.0', '10.255.255.255', '192.0.2.1', '2001:db8:ffff::1', '::1'])
      expect([address, list(address)]).toEqual([address, true])
    for (const address of ['11.0.0.0', '192.0.2.2', '2001:db9::', '::2', '010.2.3.4', '', 'localhost', '10.0.0.1 '])
      expect([address, list(address)]).toEqual([address, false])
    expect(blockList([])('10.0.0.1')).toBe(false)
  })
})

describe('an address that somebody else chose', () => {
  const mayCall = createAddressGuard([])

  test('an address that somebody else chose is called when it is public', () => {
    const publicOnes = ['1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255', '128.0.0.0']
    const besidePrivate = [
      '172.15.255.255',
      '172.32.0.0',
      '192.167.255.255',
      '192.169.0.0',
      '198.17.255.255',
      '198.20.0.0',
      '223.255.255.255',
    ]
    const six = ['2606:4700:4700::1111', '2a00:1450:4001:800::200e', '2001:4860:4860::8888', '::ffff:8.8.8.8', '64:ff9b::8.8.8.8', '2400::']
    for (const address of [...publicOnes, ...besidePrivate, ...six]) expect([address, mayCall(address)]).toEqual([address, true])
  })

  test.each([
    ['this network', ['0.0.0.0', '0.1.2.3']],
    ['private', ['10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1']],
    ['shared by carriers', ['100.64.0.1', '100.127.255.255', '100.100.100.200']],
    ['loopback', ['127.0.0.1', '127.255.255.254', '::1']],
    ['link-local, where clouds keep their credentials', ['169.254.169.254', '169.254.0.1', 'fe80::1', 'febf::1']],
    ['of a cloud platform', ['168.63.129.16', 'fd00:ec2::254']],
    ['for protocols', ['192.0.0.1', '192.0.0.192', '2001::1', '2001:1::1', '192.88.99.1']],
    ['for documentation', ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1']],
    ['for benchmarks', ['198.18.0.1', '198.19.255.255', '2001:2::1']],
    ['multicast', ['224.0.0.1', '239.255.255.255', 'ff02::1', 'ff0e::1']],
    ['reserved or broadcast', ['240.0.0.1', '255.255.255.255', '4000::1', '5f00::1', '100::1']],
    ['unspecified', ['::']],
    ['unique local or site-local', ['fc00::1', 'fd12:3456::1', 'fec0::1']],
    ['mapped from one of these', ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '0:0:0:0:0:FFFF:A9FE:A9FE', '::ffff:0:0']],
    ['compatible with IPv4', ['::127.0.0.1', '::7f00:1', '::8.8.8.8']],
    [
      'translated to one of these',
      ['64:ff9b::127.0.0.1', '64:ff9b::a00:1', '64:ff9b::1', '64:ff9b::', '64:ff9b:1::8.8.8.8', '::ffff:0:127.0.0.1'],
    ],
    ['tunnelled', ['2002:7f00:1::1', '2002:808:808::1']],
    [
      'no address',
      [
        '',
        'localhost',
        '0177.0.0.1',
        '010.0.0.1',
        '2130706433',
        '0x7f.1',
        '127.1',
        '1.2.3.4 ',
        '[::1]',
        'fe80::1%eth0',
        '8.8.8.8%1',
        '::g',
      ],
    ],
  ])('an address that somebody else chose is not called when it is %s', (_, addresses) => {
    for (const address of addresses) expect([address, mayCall(address)]).toEqual([address, false])
  })

  test('an address that somebody else chose is called in a network that the operator opened, in every spelling, and nowhere beside it', () => {
    const opened = createAddressGuard(['127.0.0.0/8', 'fd00:1::/32', '192.168.1.7'])
    for (const address of ['127.0.0.1', '127.9.9.9', '::ffff:127.0.0.1', '::ffff:7f00:1', 'fd00:1::9', '192.168.1.7', '8.8.8.8'])
      expect([address, opened(address)]).toEqual([address, true])
    for (const address of ['10.0.0.1', '128.0.0.0/8', '::1', 'fd00:2::9', '192.168.1.8', '169.254.169.254'])
      expect([address, opened(address)]).toEqual([address, false])
  })
})

describe('the host of a URL', () => {
  test.each([
    ['http://127.0.0.1/', '127.0.0.1'],
    ['http://2130706433/', '127.0.0.1'],
    ['http://0x7f000001/', '127.0.0.1'],
    ['http://0x7f.0.0.1/', '127.0.0.1'],
    ['http://0177.0.0.1/', '127.0.0.1'],
    ['http://017700000001/', '127.0.0.1'],
    ['http://127.1/', '127.0.0.1'],
    ['http://127.0.0.1./', '127.0.0.1'],
    ['http://127.0.0.1.../', '127.0.0.1'],
    ['http://0x7f000001.../', '127.0.0.1'],
    ['http://①②⑦.⓪.⓪.①/', '127.0.0.1'],
    ['http://127。0。0。1/', '127.0.0.1'],
    ['http://%31%32%37.0.0.1/', '127.0.0.1'],
    ['http://8.8.8.8@127.0.0.1/', '127.0.0.1'],
    ['http://127.0.0.1\\@example.com/', '127.0.0.1'],
    ['http://0/', '0.0.0.0'],
    ['http://0xffffffff/', '255.255.255.255'],
    ['http://[::1]/', '::1'],
    ['http://[0:0:0:0:0:0:0:1]/', '::1'],
    ['http://[::ffff:127.0.0.1]/', '127.0.0.1'],
    ['http://[::ffff:7f00:1]/', '127.0.0.1'],
    ['http://localhost/', '127.0.0.1'],
    ['http://LOCALHOST./', '127.0.0.1'],
    ['http://localhost../', '127.0.0.1'],
    ['http://shop.localhost/', '127.0.0.1'],
    ['http://lo\tcal\nhost/', '127.0.0.1'],
  ])('the host %s of a URL is the address %s', (url, address) => {
    expect(literalAddressOf(new URL(url))).toBe(address)
  })

  test.each(['http://example.com/', 'http://localhost.example.com/', 'http://notlocalhost/', 'http://127.0.0.1.example.com/'])(
    'the host %s of a URL is a name',
    (url) => {
      expect(literalAddressOf(new URL(url))).toBeUndefined()
      expect(hostOf(new URL(url))).toBe(new URL(url).hostname)
    },
  )
})
