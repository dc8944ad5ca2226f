import { describe, expect, test } from 'bun:test'
import { isIP } from 'node:net'
import fc from 'fast-check'
import {
  addressOf,
  blockList,
  blockOf,
  createAddressGuard,
  hostOf,
  ipv4Number,
  literalAddressOf,
  networkOf,
  siteOf,
} from '../../src/lib/networks.ts'

describe('a block list', () => {
  test('a block list contains its addresses and refuses invalid texts', () => {
    const list = blockList(['10.0.0.0/8', '192.0.2.1', '2001:db8::/32', '::1'])
    for (const address of ['10.0.0.0', '10.255.255.255', '192.0.2.1', '2001:db8:ffff::1', '::1'])
      expect([address, list(address)]).toEqual([address, true])
    for (const address of ['11.0.0.0', '192.0.2.2', '2001:db9::', '::2', '010.2.3.4', '', 'localhost', '10.0.0.1 '])
      expect([address, list(address)]).toEqual([address, false])
    expect(blockList([])('10.0.0.1')).toBe(false)
  })
})

describe('IPv4 addresses as numbers', () => {
  const like = fc.oneof(
    fc.ipV4(),
    fc.string({ unit: fc.constantFrom(...'0123456789.'), maxLength: 17 }),
    fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 2, maxLength: 5 }).map((parts) => parts.join('.')),
    fc.ipV6(),
    fc.string({ maxLength: 17 }),
  )
  test('ipv4Number accepts exactly the texts that are IPv4 addresses', () => {
    fc.assert(
      fc.property(like, (text) => {
        expect(ipv4Number(text) >= 0).toBe(isIP(text) === 4)
        if (isIP(text) === 4) expect(ipv4Number(text)).toBe(text.split('.').reduce((sum, part) => sum * 256 + Number(part), 0))
      }),
      { numRuns: 5_000 },
    )
  })

  test('an IPv4 address is in a block exactly if ipaddr.js says so', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.ipV4(), fc.nat(32), fc.boolean(), (address, network, bits, isNear) => {
        // Addresses near the block, so that both results occur.
        const candidate = isNear ? [...network.split('.').slice(0, 3), address.split('.')[3]].join('.') : address
        const [parsed, block] = [addressOf(candidate), blockOf(`${network}/${bits}`)]
        if (!parsed || !block) throw new Error('not an address')
        expect(blockList([`${network}/${bits}`])(candidate)).toBe(parsed.match(block[0], block[1]))
        expect(blockList([`${network}/${bits}`])(`::ffff:${candidate}`)).toBe(parsed.match(block[0], block[1]))
      }),
    )
  })
})

describe('the network of an address', () => {
  test('the network of an address is its /24 or /48, or the text itself if it is no address', () => {
    expect(['203.0.113.9', '203.0.113.255'].map(networkOf)).toEqual(['203.0.113.0/24', '203.0.113.0/24'])
    expect(networkOf('203.0.114.9')).toBe('203.0.114.0/24')
    expect(['2001:db8:77:0::/64', '2001:db8:77:ffff::/64'].map(networkOf)).toEqual(['2001:db8:77::/48', '2001:db8:77::/48'])
    expect([networkOf('2001:db8:78:0::/64'), networkOf('1:0:0:0::/64'), networkOf('::1')]).toEqual(['2001:db8:78::/48', '1::/48', '::/48'])
    expect(['unknown', 'here', ''].map(networkOf)).toEqual(['unknown', 'here', ''])
  })

  test('the site of an IPv6 address is its /48, and IPv4 addresses have none', () => {
    expect(['2001:db8:77:0::/64', '2001:db8:77:ffff::/64', '0:0:0:0::/64'].map(siteOf)).toEqual([
      '2001:db8:77::/48',
      '2001:db8:77::/48',
      '::/48',
    ])
    expect(['203.0.113.9', 'unknown', 'demo', ''].map(siteOf)).toEqual([undefined, undefined, undefined, undefined])
  })
})

/** Converts an address to its 128 bits. IPv4 addresses are IPv4-mapped. */
const bitsOf = (groups: readonly number[]) => groups.reduce((bits, group) => (bits << 16n) | BigInt(group), 0n)
const isMapped = (bits: bigint) => bits >> 32n === 0xffffn

/** Generates groups with many zeros, and some IPv4-mapped addresses. */
const someGroups = fc.oneof(
  fc.array(fc.oneof(fc.constant(0), fc.nat(0xffff)), { minLength: 8, maxLength: 8 }),
  fc.tuple(fc.nat(0xffff), fc.nat(0xffff)).map((last) => [0, 0, 0, 0, 0, 0xffff, ...last]),
)

/** Lists spellings of an address: leading zeros, capitals, the position of `::`, and a dotted end. */
function spellings(groups: readonly number[]): string[] {
  const dotted = groups.slice(6).flatMap((group) => [group >> 8, group & 255])
  const ends = [groups.map((group) => group.toString(16)), [...groups.slice(0, 6).map((group) => group.toString(16)), dotted.join('.')]]
  const uncompressed = ends.flatMap((parts) => [
    parts,
    parts.map((part) => (part.includes('.') ? part : part.padStart(4, '0').toUpperCase())),
  ])
  const runs = [1, 2, 3, 5].flatMap((length) => groups.map((_, at) => ({ at, length })))
  const compressed = ends.flatMap((parts) =>
    runs
      .filter(({ at, length }) => at + length <= parts.length && groups.slice(at, at + length).every((group) => group === 0))
      .filter(({ at, length }) => !parts.slice(at, at + length).some((part) => part.includes('.')))
      .map(({ at, length }) => `${parts.slice(0, at).join(':')}::${parts.slice(at + length).join(':')}`),
  )
  // `::1.2.3.4` is refused, as another test states.
  return [...uncompressed.map((parts) => parts.join(':')), ...compressed.filter((text) => !/^::\d+\./.test(text))]
}
const canonicalAddress = (bits: bigint) =>
  addressOf(Array.from({ length: 8 }, (_, at) => ((bits >> BigInt(112 - 16 * at)) & 0xffffn).toString(16)).join(':'))

describe('parsing addresses', () => {
  test('an address is parsed equally from all its spellings', () => {
    fc.assert(
      fc.property(someGroups, (groups) => {
        const bits = bitsOf(groups)
        const count = isMapped(bits) ? 4 : 16
        const bytes = Array.from({ length: count }, (_, at) => Number((bits >> BigInt(8 * (count - 1 - at))) & 255n))
        for (const text of spellings(groups)) expect([text, addressOf(text)?.toByteArray()]).toEqual([text, bytes])
      }),
    )
  })

  test('C-style numbers, zones and ambiguous spellings are not addresses', () => {
    const legacyForms = ['010.2.3.4', '1.2.3.04', '0x7f.1', '127.1', '2130706433', '0', '1.2.3.4.', '::ffff:010.0.0.1', '::ffff:0x7f.0.0.1']
    const invalidForms = [
      'fe80::1%eth0',
      '::ffff:1.2.3.4%1',
      '::1.2.3.4',
      '::8.8.8.8',
      '1::2::3',
      '1:2:3:4:5:6:7:8::',
      '::00001',
      '12345::',
      '',
    ]
    for (const text of [...legacyForms, ...invalidForms]) expect([text, addressOf(text)]).toEqual([text, undefined])
  })

  test('parsing any text as an address or block does not throw', () => {
    const units = fc.constantFrom(...'0123456789abcdefFx:.%/ -', '::', 'ffff', '127.0.0.1', '%eth0', '/8')
    fc.assert(
      fc.property(fc.string({ unit: units, maxLength: 12 }), (text) => {
        addressOf(text)
        blockOf(text)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('CIDR blocks', () => {
  test('a block contains the addresses of its kind that share its prefix', () => {
    fc.assert(
      fc.property(someGroups, fc.nat(128), fc.nat(127), fc.boolean(), (groups, length, flipped, flip) => {
        const network = bitsOf(groups)
        const address = flip ? network ^ (1n << BigInt(flipped)) : network
        const isFour = isMapped(network)
        if (isFour && length < 96) return expect(blockOf(`${canonicalAddress(network)}/${length - 96}`)).toBeUndefined()
        const shift = BigInt(128 - length)
        const expected = isFour === isMapped(address) && network >> shift === address >> shift
        const [spelling] = spellings(groups)
        for (const block of [`${spelling}/${length}`, `${canonicalAddress(network)}/${isFour ? length - 96 : length}`])
          expect([block, blockList([block])(`${canonicalAddress(address)}`)]).toEqual([block, expected])
      }),
      { numRuns: 500 },
    )
  })

  test.each([
    '1.2.3.4/33',
    '::/129',
    '1.2.3.4/',
    '1.2.3.4/-1',
    '1.2.3.4/8/8',
    '1.2.3.4/0x8',
    '1.2.3.4/0008',
    '/8',
    'fe80::1%eth0/64',
    '::ffff:0:0/95',
  ])('%s is not a CIDR block', (text) => {
    expect(blockOf(text)).toBeUndefined()
    expect(() => blockList([text])).toThrow()
  })
})

describe('the guard of addresses from untrusted input', () => {
  const mayCall = createAddressGuard([])

  test('the guard allows public addresses', () => {
    const publicOnes = ['1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255', '128.0.0.0']
    const nearPrivate = [
      '172.15.255.255',
      '172.32.0.0',
      '192.167.255.255',
      '192.169.0.0',
      '198.17.255.255',
      '198.20.0.0',
      '223.255.255.255',
    ]
    const six = [
      '2606:4700:4700::1111',
      '2a00:1450:4001:800::200e',
      '2001:4860:4860::8888',
      '::ffff:8.8.8.8',
      '64:ff9b::8.8.8.8',
      '2400::',
      '2400::ffff:7f00:1',
    ]
    for (const address of [...publicOnes, ...nearPrivate, ...six]) expect([address, mayCall(address)]).toEqual([address, true])
  })

  test.each([
    ['this network', ['0.0.0.0', '0.1.2.3']],
    ['private', ['10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1']],
    ['shared by carriers', ['100.64.0.1', '100.127.255.255', '100.100.100.200']],
    ['loopback', ['127.0.0.1', '127.255.255.254', '::1']],
    ['link-local, which includes the metadata services of clouds', ['169.254.169.254', '169.254.0.1', 'fe80::1', 'febf::1']],
    ['internal to a cloud platform', ['168.63.129.16', 'fd00:ec2::254']],
    ['assigned to protocols', ['192.0.0.1', '192.0.0.192', '2001::1', '2001:1::1', '192.88.99.1']],
    ['reserved for documentation', ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1']],
    ['reserved for benchmarks', ['198.18.0.1', '198.19.255.255', '2001:2::1']],
    ['multicast', ['224.0.0.1', '239.255.255.255', 'ff02::1', 'ff0e::1']],
    ['reserved or broadcast', ['240.0.0.1', '255.255.255.255', '4000::1', '5f00::1', '100::1']],
    ['unspecified', ['::']],
    ['unique local or site-local', ['fc00::1', 'fd12:3456::1', 'fec0::1']],
    ['IPv4-mapped', ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '0:0:0:0:0:FFFF:A9FE:A9FE', '::ffff:0:0']],
    ['IPv4-compatible', ['::127.0.0.1', '::7f00:1', '::8.8.8.8']],
    [
      'NAT64 and other translated',
      [
        '64:ff9b::127.0.0.1',
        '64:ff9b::a00:1',
        '64:ff9b::1',
        '64:ff9b::',
        '64:ff9b:1::8.8.8.8',
        '64:ff9b::808:808:0:1',
        'fe80::ffff:808:808',
        '::ffff:0:127.0.0.1',
      ],
    ],
    ['tunnelled', ['2002:7f00:1::1', '2002:808:808::1']],
    [
      'not an address at all',
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
        '2400::1]/[',
      ],
    ],
  ])('the guard refuses these addresses: %s', (_, addresses) => {
    for (const address of addresses) expect([address, mayCall(address)]).toEqual([address, false])
  })

  test('the guard allows networks opened by the operator, in every spelling, and no others', () => {
    const opened = createAddressGuard(['127.0.0.0/8', 'fd00:1::/32', '192.168.1.7'])
    for (const address of ['127.0.0.1', '127.9.9.9', '::ffff:127.0.0.1', '::ffff:7f00:1', 'fd00:1::9', '192.168.1.7', '8.8.8.8'])
      expect([address, opened(address)]).toEqual([address, true])
    expect(createAddressGuard(['0.0.0.0/8'])('64:ff9b::1')).toBe(true)
    for (const address of ['10.0.0.1', '128.0.0.0/8', '::1', 'fd00:2::9', '192.168.1.8', '169.254.169.254'])
      expect([address, opened(address)]).toEqual([address, false])
  })
})

describe('the host of a URL', () => {
  test('the host of a URL is empty if it is only a dot', () => {
    expect(hostOf(new URL('http://./'))).toBe('')
  })

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

test('an invalid block in a list of networks is refused and named', () => {
  expect(() => blockList(['10.0.0.0/8', '10.0.0.0/33'])).toThrow('not a CIDR block: 10.0.0.0/33')
})
