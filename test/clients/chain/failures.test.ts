import { describe, expect, test } from 'bun:test'
import { failureOf, rangeIn, retryAfterOf } from '../../../src/clients/chain/failures.ts'

/** Error messages of providers for block ranges that are too large, and the limit that each message names. */
const ranges: [message: string, blocks: number | undefined][] = [
  ['query returned more than 10000 results. Try with this block range [0x1d4c00, 0x1d4fff].', 1_024],
  [
    'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you can request any block range with a cap of 10K logs in the response. Based on your parameters and the response size limit, this block range should work: [0x0, 0x63]',
    100,
  ],
  ['eth_getLogs is limited to a 10,000 range', 10_000],
  ['exceed maximum block range: 5000', 5_000],
  ['block range is too wide', undefined],
  ['query exceeds max results 20000, retry with the range 22816000-22816500', 501],
  ['query returned more than 10000 results', undefined],
  ['Block range limit exceeded. See more details at the documentation', undefined],
  ['eth_getLogs block range too large, range: 60000, max: 2048', undefined],
  ['requested too many blocks from 0 to 16777216, maximum is set to 2048', undefined],
  ['response is too big', undefined],
  ['exceeds the range of your plan; upgrade for more compute units', undefined],
  ['Block range exceeds the limit of 10 blocks of your plan. Add credits to raise the quota.', 10],
]

describe('classification of node errors', () => {
  test.each(ranges)('a node refuses a block range: %s', (message, blocks) => {
    const failure = failureOf({ code: -32_005, message }, 60_001)
    expect(failure.kind).toBe('RANGE')
    if (blocks !== undefined) expect(failure.hint.blocks).toBe(blocks)
    expect(failure.hint.blocks ?? 0).toBeLessThan(60_001)
    expect(failure.message).toContain(message.slice(0, 20))
  })

  test('a stated block limit that is not below the requested range is ignored', () => {
    expect(failureOf({ code: -32_000, message: 'limited to a 10000 range' }, 5_000).hint).toEqual({})
  })

  test.each([
    [-32_005, 'daily request count exceeded, request rate limited'],
    [429, 'Too Many Requests'],
    [-32_029, 'anything'],
    [-32_000, 'Your app has exceeded its compute units per second capacity'],
  ])('error %i "%s" is a rate limit, also for a query of logs', (code, message) => {
    expect([failureOf({ code, message }, undefined).kind, failureOf({ code, message }, 100).kind]).toEqual(['RATE_LIMITED', 'RATE_LIMITED'])
  })

  test.each([
    'unknown block',
    'One of the blocks specified in filter (fromBlock, toBlock or blockHash) cannot be found.',
    'header not found',
  ])('error "%s" means that the node is behind', (message) => expect(failureOf({ code: -32_000, message }, 5).kind).toBe('BEHIND'))

  test.each([
    ['-32000, unheard of', { code: -32_000, message: 'the moon is full' }],
    ['-32603, empty', { code: -32_603, message: '' }],
    ['-32600, not a text', { code: -32_600, message: 'Please subscribe to a bigger offering' }],
    ['a code that is no number', { code: 'LIMIT', message: 'no' }],
    ['400 without JSON', { status: 400, code: undefined, message: '<html>Bad Request</html>' }],
    ['404', { status: 404, code: undefined, message: 'x' }],
    ['413', { status: 413, code: undefined, message: '' }],
    ['422', { status: 422, code: undefined, message: '' }],
    ['500 with an error of JSON-RPC', { status: 500, code: -32_000, message: 'x' }],
  ])('a refusal of several blocks retries with fewer, and of one block is a fault: %s', (_, refusal) => {
    expect(failureOf(refusal, 2).kind).toBe('RANGE')
    for (const blocks of [1, undefined]) {
      const failure = failureOf(refusal, blocks)
      expect([failure.kind, failure.hint.advice]).toEqual(['FAULT', expect.any(String)])
    }
  })

  test.each([401, 402, 403, 407, 500, 502, 503])('status %i is not a refusal of a range', (status) => {
    expect(failureOf({ status, code: undefined, message: 'x' }, 5_000).kind).toBe('FAULT')
  })

  test('a node error is reported in one line without markup, addresses or parts of the URL of the node', () => {
    const key = 'S3cretKeyOfSouk'
    const url = `https://user:pass-word@node.example/v2/${key}/eth?apikey=other%2Fsecret#frag-ment`
    const message = `Invalid key ${key} (s3cretkey, other/secret, other%2Fsecret, pass-word)
<b>see</b> https://node.example/v2/${key}, ${'a1'.repeat(20)}`
    const failure = failureOf({ status: 401, code: -32_000, message }, undefined, url)
    for (const secret of [key, 's3cretkey', 'secret', 'pass-word', 'https', 'a1a1', '<b>', '\n'])
      expect(failure.report).not.toContain(secret)
    expect(failure.report).toStartWith('it answered with error -32000: Invalid key …')
    expect(failure.report).toEndWith('. Check the key in the URL of this node in CHAINS')
    expect(failureOf({ code: 1, message: 'long '.repeat(1_000) }, undefined, url).message.length).toBeLessThan(220)
  })

  test('any other error is a fault', () => {
    for (const message of ['execution reverted', 'internal error', ''])
      expect(failureOf({ code: -32_603, message }, undefined).kind).toBe('FAULT')
    expect(failureOf({ code: 'x', message: 'y' }, undefined).message).toBe('it answered with an error without a code: y')
  })

  test('Retry-After is read as seconds or a date, limited to 1 second through 10 minutes, or ignored if invalid', () => {
    const now = Date.UTC(2026, 0, 6)
    const parse = (text: string) => retryAfterOf(new Headers({ 'retry-after': text }), now)
    expect(parse('30')).toBe(30_000)
    expect(parse('1.5')).toBe(1_500)
    expect(parse('0')).toBe(1_000)
    expect(parse('86400')).toBe(600_000)
    expect(parse(new Date(now + 45_000).toUTCString())).toBe(45_000)
    expect(parse(new Date(now - 45_000).toUTCString())).toBe(1_000)
    for (const nonsense of ['', 'soon', '-5', '2026', 'NaN', '1e9'])
      expect([nonsense, parse(nonsense) ?? 1_000]).toEqual([nonsense, expect.any(Number)])
    expect(parse('soon')).toBeUndefined()
    expect(retryAfterOf(new Headers(), now)).toBeUndefined()
  })

  test('numbers of results or invalid ranges are not read as block limits', () => {
    expect(rangeIn('more than 10000 results')).toBeUndefined()
    expect(rangeIn('limited to 0 blocks')).toBeUndefined()
    expect(rangeIn('[0x5, 0x1]')).toBeUndefined()
    expect(rangeIn('up to 10000 logs')).toBeUndefined()
  })
})
