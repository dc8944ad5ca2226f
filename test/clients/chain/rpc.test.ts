import { describe, expect, test } from 'bun:test'
import { createNode } from '../../../src/clients/chain/rpc.ts'
import { createSafeFetch } from '../../../src/clients/safe-fetch.ts'
import { NodeError } from '../../../src/core/chain.ts'
import { createNodes } from '../../../src/modules/trust/attestation/nodes.ts'
import { faults, startProxy } from '../../support/chain/proxy.ts'

const safeFetch = createSafeFetch({ allowedNetworks: [] })
const scheduler = { enter: async () => ({ rest: async () => false, leave: () => undefined }) }
const contract = `0x${'ea'.repeat(20)}`
const chain = { chainId: 7, rpc: [], contract, startBlock: 0, confirmations: undefined }
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error as NodeError,
  )

describe('requests to a node', () => {
  test('a node that times out is at fault, and the next range is half as large', async () => {
    await using proxy = startProxy('http://127.0.0.1:1')
    const { fault, release } = faults.held()
    proxy.always(fault)
    const node = createNode({ url: proxy.url, chainId: 7, safeFetch, now: () => 0, timeoutMs: 20 })
    const error = await failure(node.ask({ blocks: [], logs: { contract, schemaUids: [], from: 1, to: 100 } }, scheduler))
    release()
    expect(error).toBeInstanceOf(NodeError)
    expect([error?.kind, error?.message]).toEqual(['FAULT', 'no answer: timeout'])
    const nodes = createNodes(chain, [node], { now: () => 0, random: () => 0 })
    const nextRequest = nodes.next()
    if (nextRequest && error) nodes.recordFailure(nextRequest, error, 100)
    expect(nodes.rangeSize().blocks).toBe(50)
    expect(nodes.next()).toBeUndefined()
  })

  test('an unreachable node is at fault, and the error shows only the host of its URL', async () => {
    const node = createNode({ url: 'http://127.0.0.1:1/secret?key=secret', chainId: 7, safeFetch, now: () => 0 })
    const error = await failure(node.ask({ blocks: ['latest'] }, scheduler))
    expect(error?.message).toBe('no answer: connection failed')
    expect(node.host).toBe('127.0.0.1:1')
  })

  test('the wait of a node doubles with each fault in a row, and another node is used in the meantime', () => {
    let now = 0
    const pair = ['a', 'b'].map((name) => createNode({ url: `http://${name}.example`, chainId: 7, safeFetch, now: () => now }))
    const nodes = createNodes(chain, pair, { now: () => now, random: () => 0 })
    const first = nodes.next()
    expect(first?.host).toBe('a.example')
    const waits: number[] = []
    for (let nth = 0; nth < 4 && first; nth++) {
      nodes.recordFailure(first, new NodeError('RANGE', '', { blocks: 10 }), 100)
      nodes.recordFailure(first, new NodeError('FAULT', ''), undefined)
      waits.push(first.notBefore - now)
      if (nth === 0)
        expect([nodes.next()?.host, nodes.rangeSize()]).toEqual(['b.example', { blocks: 10, ceiling: 10_000, isStatedByNode: false }])
      now = first.notBefore
    }
    expect(waits).toEqual([1_000, 1_000, 1_000, 1_000])
    for (let nth = 0; nth < 3 && first; nth++) {
      nodes.recordFailure(first, new NodeError('FAULT', ''), undefined)
      waits.push(first.notBefore - now)
      now = first.notBefore
    }
    expect(waits.slice(-3)).toEqual([2_000, 4_000, 8_000])
  })
})
