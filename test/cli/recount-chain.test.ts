import { expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { createTally, recount } from '../../src/cli/recount-chain.ts'
import type { ChainLog } from '../../src/core/chain.ts'
import { type schemaNames, schemaUids } from '../../src/lib/eas.ts'
import { describeChain } from '../support/chain/anvil.ts'
import { type Grant, startChain } from '../support/chain/eas.ts'
import { startProxy } from '../support/chain/proxy.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const lender = '0x00000000000000000000000000000000000000b1'
const provider = '0x00000000000000000000000000000000000000d1'
const grants: Grant[] = [
  { address: lender, schema: 'B', fromAt: 1_000, toAt: 2_000 },
  { address: provider, schema: 'D', fromAt: 1_000, toAt: null },
]

const logOf = (
  kind: ChainLog['kind'],
  uid: string,
  attester: string,
  schema: (typeof schemaNames)[number],
  recipient = lender,
): ChainLog => ({
  kind,
  uid,
  schemaUid: schemaUids[schema],
  attester,
  recipient,
  blockNumber: 1,
  blockHash: '0x',
})

test('counts attestations granted at their time, not revoked and not of oneself, in any order of logs', () => {
  const logs: [log: ChainLog, at: number][] = [
    [logOf('ATTESTED', '0x1', lender, 'B'), 1_000],
    [logOf('ATTESTED', '0x2', lender, 'B'), 1_999],
    [logOf('REVOKED', '0x2', lender, 'B'), 5_000],
    [logOf('ATTESTED', '0x3', lender, 'B'), 999],
    [logOf('ATTESTED', '0x4', lender, 'B'), 2_000],
    [logOf('ATTESTED', '0x5', lender, 'C'), 1_500],
    [logOf('ATTESTED', '0x6', provider, 'D'), 9_000],
    [logOf('ATTESTED', '0x7', provider, 'D', provider), 9_000],
    [logOf('ATTESTED', '0x8', provider, 'B'), 1_500],
  ]
  fc.assert(
    fc.property(fc.shuffledSubarray(logs, { minLength: logs.length }), (shuffled) => {
      const tally = createTally(grants)
      for (const [log, at] of shuffled) tally.take(log, at)
      expect(tally.counts()).toEqual({ A: 0, B: 1, C: 0, D: 1 })
    }),
    { numRuns: 50 },
  )
  const strangers = logOf('ATTESTED', '0x9', '0x00000000000000000000000000000000000000c1', 'B')
  expect(createTally(grants).isRelevant(strangers)).toBe(false)
})

describeChain('recounting a chain', () => {
  test('a recount reads the whole chain from a node with a limit on block ranges, whatever its error says', async () => {
    await using chain = await startChain()
    for (let block = 0; block < 12; block++) await chain.attest([{ schema: 'B', attester: lender }])
    const lenderGrant: Grant[] = [{ address: lender, schema: 'B', fromAt: 0, toAt: null }]
    for (const message of ['query exceeds max block range 3', 'too many blocks']) {
      let refused = 0
      using proxy = Bun.serve({
        hostname: '127.0.0.1',
        port: 0,
        async fetch(request) {
          const calls = (await request.json()) as { id: number; method: string; params: [{ fromBlock: string; toBlock: string }] }[]
          const range = calls.find(({ method }) => method === 'eth_getLogs')?.params[0]
          if (range && Number(range.toBlock) - Number(range.fromBlock) >= 3) {
            refused++
            return Response.json(calls.map(({ id }) => ({ jsonrpc: '2.0', id, error: { code: -32_000, message: message } })))
          }
          return fetch(chain.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(calls) })
        },
      })
      const target = { chainId: chain.chainId, rpc: [`http://127.0.0.1:${proxy.port}`], contract: chain.contract, startBlock: 0 }
      const ends: number[] = []
      const { to } = await chain.block().then(({ number }) => ({ to: number }))
      const counted = await recount(target, lenderGrant, { to, progress: (_first, _last, at) => ends.push(at) })
      expect([counted.counts, counted.to.number]).toEqual([await chain.countsOfChain(lenderGrant), to])
      expect(refused).toBeGreaterThan(0)
      expect(ends.at(-1)).toBe(to)
    }
  })

  test('a recount up to a block that no node has fails at once and names the newest block', async () => {
    await using chain = await startChain()
    await using proxy = startProxy(chain.url)
    const target = { chainId: chain.chainId, rpc: [proxy.url], contract: chain.contract, startBlock: 0 }
    const { number } = await chain.block()
    const counting = recount(target, [], { to: number + 7, progress: () => undefined })
    expect(counting).rejects.toThrow(`${proxy.host}: block ${number + 7} is missing: the newest is ${number}`)
    await counting.catch(() => undefined)
    expect(proxy.batches).toHaveLength(1)
  })
})
