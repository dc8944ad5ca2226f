/** Tests nodes that refuse ranges or batches with unknown messages, and the errors shown to operators. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { createNode } from '../../../../src/clients/chain/rpc.ts'
import { createSafeFetch } from '../../../../src/clients/safe-fetch.ts'
import type { NodeError } from '../../../../src/core/chain.ts'
import { describeChain } from '../../../support/chain/anvil.ts'
import { type Chain, startChain } from '../../../support/chain/eas.ts'
import { type Fault, type RpcCall, startProxy } from '../../../support/chain/proxy.ts'
import { allGrants, openChainInstance, wallets } from '../../../support/chain/syncing.ts'
import { longTestMs } from '../../../support/timeouts.ts'
import { certificate, key } from '../../../support/tls.ts'

setDefaultTimeout(longTestMs)

const { platform, lender } = wallets
const attest = (chain: Chain) =>
  chain.attest([
    { schema: 'A', attester: platform },
    { schema: 'B', attester: lender },
  ])

/** Returns the calls of a batch, or a single call as a list. */
const callsIn = (calls: RpcCall[] | RpcCall): RpcCall[] => [calls].flat()
const blocksIn = (calls: RpcCall[]): number => {
  const filter = callsIn(calls).find(({ method }) => method === 'eth_getLogs')?.params[0]
  return filter ? Number(filter.toBlock) - Number(filter.fromBlock) + 1 : 0
}

const error = { code: -32_000, message: 'The moon is full tonight, upgrade for 5x as much' }
/** The ways in which a node refuses, by name. */
const refusals: Record<string, (calls: RpcCall[]) => Response> = {
  'an error for each call': (calls) => Response.json(callsIn(calls).map(({ id }) => ({ jsonrpc: '2.0', id, error }))),
  'one error': () => Response.json({ jsonrpc: '2.0', id: null, error }),
  'a list with one error': () => Response.json([{ jsonrpc: '2.0', id: null, error }]),
  'status 400 with an error': () => Response.json({ jsonrpc: '2.0', id: null, error }, { status: 400 }),
  'status 400 without JSON': () => new Response('<html><h1>Nope</h1></html>', { status: 400 }),
  'status 413': () => new Response('', { status: 413 }),
  'status 403 with an error': () => Response.json({ jsonrpc: '2.0', id: null, error }, { status: 403 }),
  'status 500 with an error': () => Response.json({ jsonrpc: '2.0', id: null, error }, { status: 500 }),
  'a text as the error': () => Response.json({ error: 'The moon is full tonight' }),
  'an error without an envelope': () => Response.json(error),
  'status 422 with other JSON': () => Response.json({ detail: 'unprocessable' }, { status: 422 }),
}
const logsAbove =
  (limit: number, refuse: (calls: RpcCall[]) => Response): Fault =>
  (calls, forward) =>
    blocksIn(calls) > limit ? refuse(calls) : forward()
const batchesAbove =
  (limit: number, refuse: (calls: RpcCall[]) => Response): Fault =>
  (calls, forward) =>
    callsIn(calls).length > limit ? refuse(calls) : forward()

async function openSync(fault: Fault) {
  const chain = await startChain()
  const proxy = startProxy(chain.url, '/v2/KEY-nobody-may-see')
  const souk = await openChainInstance([{ chain, urls: [proxy.url] }])
  await souk.grant(allGrants)
  for (let nth = 0; nth < 3; nth++) {
    await attest(chain)
    await chain.mine(7)
  }
  proxy.always(fault)
  return {
    ...{ chain, proxy, souk },
    async [Symbol.asyncDispose]() {
      await souk[Symbol.asyncDispose]()
      await proxy[Symbol.asyncDispose]()
      await chain[Symbol.asyncDispose]()
    },
  }
}

describeChain('a node that refuses a request', () => {
  test.each(Object.entries(refusals))(
    'a node that refuses ranges of more than two blocks by %s is read in smaller ones',
    async (_, refuse) => {
      await using opened = await openSync(logsAbove(2, refuse))
      const { souk, chain } = opened
      const steps = await souk.run()
      expect(steps.at(-1)?.kind).toBe('IDLE')
      expect(Math.max(...steps.flatMap((step) => (step.kind === 'READ' ? [step.to - step.from + 1] : [])))).toBeLessThanOrEqual(2)
      expect((await souk.sync(chain.chainId)).lastError).toBeNull()
      await souk.expectTruth(chain)
    },
  )

  test.each(Object.entries(refusals).flatMap(([name, refuse]) => [1, 2, 3, 10].map((limit) => [limit, name, refuse] as const)))(
    'a node that refuses batches of more than %i calls by %s is read in smaller ones from then on',
    async (limit, _, refuse) => {
      await using opened = await openSync(batchesAbove(limit, refuse))
      const { souk, chain, proxy } = opened
      expect((await souk.run()).at(-1)?.kind).toBe('IDLE')
      await souk.expectTruth(chain)
      proxy.batches.length = 0
      await attest(chain)
      await chain.mine(7)
      await souk.run()
      await souk.expectTruth(chain)
      expect((await souk.sync(chain.chainId)).lastError).toBeNull()
      expect(proxy.batches.filter((calls) => callsIn(calls).length > limit).length).toBeLessThanOrEqual(1)
    },
  )

  test('a node that refuses both long batches and long ranges is read in small ones of both', async () => {
    const refuse = refusals['one error'] as (calls: RpcCall[]) => Response
    await using opened = await openSync((calls, forward) => (blocksIn(calls) > 2 || callsIn(calls).length > 3 ? refuse(calls) : forward()))
    expect((await opened.souk.run()).at(-1)?.kind).toBe('IDLE')
    await opened.souk.expectTruth(opened.chain)
  })

  test.each([
    ['a single block', logsAbove(0, refusals['one error'] as () => Response), 'The moon is full tonight', 'name another node in CHAINS'],
    ['its key', () => Response.json({ error: 'bad key KEY-nobody-may-see' }, { status: 401 }), 'status 401', 'Check the key in the URL'],
    ['its path', () => new Response('Not Found', { status: 404 }), 'status 404: Not Found', 'Check the path of the URL'],
    [
      'old blocks',
      logsAbove(0, () => Response.json({ id: 1, error: { code: -32_000, message: 'history has been pruned' } })),
      'pruned',
      'archive node',
    ],
    ['too many requests', () => new Response('slow down KEY-nobody-may-see', { status: 429 }), 'status 429', 'raise the limit of the plan'],
  ] satisfies [string, Fault, string, string][])(
    'an operator reads that a node refuses %s, with advice and without the key',
    async (_, fault, reason, advice) => {
      await using opened = await openSync(fault)
      const { souk, chain, proxy } = opened
      for (let nth = 0; nth < 12; nth++) {
        await souk.step()
        souk.app.clock.advance(61_000)
      }
      const { lastError } = await souk.sync(chain.chainId)
      expect(lastError).toStartWith(`${proxy.host}: `)
      expect(lastError).toContain(reason)
      expect(lastError).toContain(advice)
      expect(JSON.stringify([lastError, souk.app.logged])).not.toContain('KEY-nobody-may-see')
      proxy.forget()
      souk.app.clock.advance(20 * 60_000)
      await souk.run()
      await souk.expectTruth(chain)
    },
  )
})

test('a node with an untrusted certificate and one that does not listen are reported', async () => {
  const safeFetch = createSafeFetch({ allowedNetworks: [] })
  const scheduler = { enter: async () => ({ rest: async () => false, leave: () => undefined }) }
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, tls: { key, cert: certificate }, fetch: () => new Response('[]') })
  const reportOf = (url: string) =>
    createNode({ url, chainId: 7, safeFetch, now: () => 0 })
      .ask({ blocks: ['latest'] }, scheduler)
      .catch((thrown: NodeError) => thrown.report)
  expect(await reportOf(`https://127.0.0.1:${server.port}/key`)).toMatch(/certificate/)
  await server.stop(true)
  expect(await reportOf(`http://127.0.0.1:${server.port}/key`)).toContain('Nothing listens at its address')
})
