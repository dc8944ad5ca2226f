import { expect, setDefaultTimeout, test } from 'bun:test'
import { attestations, chainSyncs } from '../../../../db/schema/trust.ts'
import { beginRescans, resync } from '../../../../src/modules/trust/attestation/index.ts'
import { describeChain } from '../../../support/chain/anvil.ts'
import { type Chain, startChain } from '../../../support/chain/eas.ts'
import { faults, startProxy } from '../../../support/chain/proxy.ts'
import { allGrants, openChainInstance, wallets } from '../../../support/chain/syncing.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const { platform, lender, provider } = wallets
const attestThree = (chain: Chain) =>
  chain.attest([
    { schema: 'A', attester: platform },
    { schema: 'B', attester: lender },
    { schema: 'D', attester: provider, recipient: lender },
  ])
/** Reads blocks with one confirmation. */
const withOneConfirmation = (chain: Chain, ...urls: string[]) => [{ chain, urls, confirmations: 1 }]

describeChain('a reorganised chain', () => {
  test('attestations and revocations of removed blocks are undone, and those of new blocks count', async () => {
    await using chain = await startChain()
    await using souk = await openChainInstance(withOneConfirmation(chain, chain.url))
    await souk.grant(allGrants)
    const [firstUid = '0x'] = await attestThree(chain)
    await chain.mine(2)
    await souk.run()
    const fork = await chain.snapshot()
    // Only one fork has three more attestations and a revocation.
    await attestThree(chain)
    await chain.revoke([firstUid])
    await chain.mine(2)
    await souk.run()
    expect(await souk.counts(chain.chainId)).toEqual({ A: 1, B: 2, C: 0, D: 2 })
    await chain.revert(fork)
    await chain.attest([{ schema: 'C', attester: lender }])
    await chain.mine(9)
    const steps = await souk.run()
    expect(steps.map(({ kind }) => kind)).toContain('REWOUND')
    expect(await souk.counts(chain.chainId)).toEqual({ A: 1, B: 1, C: 1, D: 1 })
    await souk.expectTruth(chain)
    expect((await souk.rows(chain.chainId)).find(({ uid }) => uid === firstUid)?.revokedBlock).toBeNull()
  })

  test('blocks replaced between two chunks are noticed by the hash at the cursor', async () => {
    await using chain = await startChain()
    await using proxy = startProxy(chain.url)
    await using souk = await openChainInstance(withOneConfirmation(chain, proxy.url))
    await souk.grant(allGrants)
    // The node accepts at most five blocks per range.
    proxy.always(faults.cappedAt(5, 'limited to 5 blocks'))
    for (let nth = 0; nth < 4; nth++) {
      await attestThree(chain)
      await chain.mine(2)
    }
    await souk.step()
    expect((await souk.step()).kind).toBe('READ')
    expect((await souk.step()).kind).toBe('READ')
    const { countedTo } = await souk.sync(chain.chainId)
    await chain.reorg((await chain.block()).number - countedTo + 3)
    await chain.mine(3)
    const steps = await souk.run()
    expect(steps.map(({ kind }) => kind)).toContain('REWOUND')
    await souk.expectTruth(chain)
  })

  test('the same attestation in another block is moved there', async () => {
    await using chain = await startChain()
    await using souk = await openChainInstance(withOneConfirmation(chain, chain.url))
    await souk.grant(allGrants)
    await chain.mine(2)
    const fork = await chain.snapshot()
    const at = (await chain.block()).at + 100
    // Equal attestations of the same time have the same uid.
    await chain.nextBlockAt(at)
    const data = `0x${'ab'.repeat(32)}` as const
    const [one] = await chain.attest([{ schema: 'A', attester: platform, data }])
    await chain.mine(2)
    await souk.run()
    const [before] = await souk.rows(chain.chainId)
    await chain.revert(fork)
    await chain.mine(3, 1)
    await chain.nextBlockAt(at)
    const [other] = await chain.attest([{ schema: 'A', attester: platform, data }])
    expect(other).toBe(one as never)
    await chain.mine(4)
    await souk.run()
    const [after, ...more] = await souk.rows(chain.chainId)
    expect(more).toEqual([])
    expect(after).toEqual({ ...before, blockNumber: (before?.blockNumber ?? 0) + 3 } as never)
    await souk.expectTruth(chain)
  })

  test('a chain shorter than the cursor changes nothing until it is as long again, and then undoes the difference', async () => {
    await using chain = await startChain()
    await using souk = await openChainInstance(withOneConfirmation(chain, chain.url))
    await souk.grant(allGrants)
    await chain.mine(2)
    const fork = await chain.snapshot()
    await attestThree(chain)
    await chain.mine(6)
    await souk.run()
    const { countedTo } = await souk.sync(chain.chainId)
    await chain.revert(fork)
    await chain.mine(1)
    for (let nth = 0; nth < 3; nth++) {
      await souk.step()
      souk.app.clock.advance(10_000)
    }
    expect((await souk.sync(chain.chainId)).countedTo).toBe(countedTo)
    expect(await souk.rows(chain.chainId)).toHaveLength(3)
    await chain.attest([{ schema: 'C', attester: lender }])
    await chain.mine(12)
    await souk.run()
    expect(await souk.counts(chain.chainId)).toEqual({ A: 0, B: 0, C: 1, D: 0 })
    await souk.expectTruth(chain)
  })

  test('a node on a fork of its own loses its turn and changes nothing', async () => {
    await using chain = await startChain()
    await using otherFork = await startChain()
    await using proxy = startProxy(chain.url)
    await using souk = await openChainInstance(withOneConfirmation(chain, proxy.url, chain.url))
    await souk.grant(allGrants)
    await attestThree(chain)
    await chain.mine(3)
    await souk.run()
    await otherFork.mine(30, 7)
    await chain.mine(2)
    await attestThree(chain)
    await chain.mine(2)
    proxy.pointTo(otherFork.url)
    const steps = await souk.run()
    expect(steps.map(({ kind }) => kind)).not.toContain('REWOUND')
    expect((await souk.sync(chain.chainId)).lastError).toContain('it is on another fork')
    expect((await souk.sync(chain.chainId)).provider).toBe(new URL(chain.url).host)
    await souk.expectTruth(chain)
  })

  test('a node that switched to another chain changes nothing, and nothing of that chain counts', async () => {
    await using chain = await startChain()
    await using other = await startChain({ chainId: 4_242 })
    await using proxy = startProxy(chain.url)
    await using souk = await openChainInstance(withOneConfirmation(chain, proxy.url))
    await souk.grant(allGrants)
    await attestThree(chain)
    await chain.mine(3)
    await souk.run()
    const before = await souk.sync(chain.chainId)
    await attestThree(other)
    await attestThree(other)
    await other.mine(30, 7)
    proxy.pointTo(other.url)
    for (let nth = 0; nth < 3; nth++) {
      await souk.step()
      souk.app.clock.advance(100_000)
    }
    expect(await souk.sync(chain.chainId)).toMatchObject({ countedTo: before.countedTo, countedToHash: before.countedToHash })
    expect((await souk.sync(chain.chainId)).lastError).toContain('it is a node of chain 4242')
    proxy.pointTo(chain.url)
    await chain.mine(3)
    await souk.run()
    await souk.expectTruth(chain)
  })

  test('a node on another fork is not trusted while no other can be asked', async () => {
    await using chain = await startChain()
    await using otherFork = await startChain()
    await using proxy = startProxy(chain.url)
    await using other = startProxy(chain.url)
    await using souk = await openChainInstance(withOneConfirmation(chain, proxy.url, other.url))
    await souk.grant(allGrants)
    await attestThree(chain)
    await chain.mine(3)
    await souk.run()
    const { countedTo } = await souk.sync(chain.chainId)
    await otherFork.mine(30, 7)
    proxy.pointTo(otherFork.url)
    other.always(faults.badGateway())
    for (let nth = 0; nth < 3; nth++) await souk.step()
    expect((await souk.sync(chain.chainId)).countedTo).toBe(countedTo)
    expect(await souk.rows(chain.chainId)).toHaveLength(3)
  })

  test('a changed final block halts the chain until an operator resyncs it', async () => {
    await using chain = await startChain()
    await using souk = await openChainInstance([{ chain, urls: [chain.url] }])
    await souk.grant(allGrants)
    await attestThree(chain)
    await chain.mine(3)
    await souk.run()
    const fork = await chain.snapshot()
    await attestThree(chain)
    await chain.mine(6)
    await souk.run()
    const before = await souk.counts(chain.chainId)
    await chain.revert(fork)
    await chain.attest([{ schema: 'C', attester: lender }])
    await chain.mine(12, 5)
    const steps = await souk.run()
    expect(steps.at(-1)?.kind).toBe('HALTED')
    expect((await souk.run()).map(({ kind }) => kind)).toEqual(['HALTED'])
    expect(await souk.counts(chain.chainId)).toEqual(before)
    const { haltedBecause } = await souk.sync(chain.chainId)
    expect(haltedBecause).toContain('was final')
    expect(souk.app.logged.filter(({ level }) => level === 'error').map(({ event }) => event)).toEqual(['chain.halted'])
    const { body } = await souk.app.call('GET', '/metrics')
    expect(body).toContain('souk_chain_halted{chain="31337"} 1')
    const { removed } = await resync(souk.deps, chain.chainId)
    expect(removed).toBe(3)
    await souk.run()
    expect(await souk.counts(chain.chainId)).toEqual({ A: 1, B: 1, C: 1, D: 1 })
    await souk.expectTruth(chain)
    expect((await souk.sync(chain.chainId)).haltedBecause).toBeNull()
  })

  test('an attestation invented by a node contradicts all nodes: it halts the chain, and a resync repairs it', async () => {
    await using chain = await startChain()
    await using lying = startProxy(chain.url)
    await using souk = await openChainInstance([{ chain, urls: [lying.url, chain.url] }])
    await souk.grant(allGrants)
    const [uid = '0x'] = await chain.attest([{ schema: 'B', attester: lender }])
    await chain.mine(3)
    // A single node is not trusted against the stored data.
    await souk.run()
    lying.always(faults.ofAnother(platform))
    await chain.revoke([uid])
    await chain.mine(3)
    await souk.run()
    expect(await souk.sync(chain.chainId)).toMatchObject({ haltedBecause: null })
    await souk.expectTruth(chain)
    const [next = '0x'] = await chain.attest([{ schema: 'C', attester: lender }])
    await chain.mine(3)
    lying.forget()
    souk.app.clock.advance(120_000)
    // As if a node had invented it before.
    const [row] = await souk.rows(chain.chainId)
    if (row) await souk.deps.db.write((tx) => tx.insert(attestations).values({ ...row, uid: next, attester: platform, schema: 'A' }))
    expect((await souk.run()).at(-1)?.kind).toBe('HALTED')
    const { haltedBecause } = await souk.sync(chain.chainId)
    expect(haltedBecause).toContain(
      'all nodes report an attestation that differs from the stored one, which contradicts the rows stored since block',
    )
    await beginRescans(souk.deps)
    expect(souk.app.logged.filter(({ level }) => level === 'error').map(({ event }) => event)).toEqual(['chain.halted', 'chain.halted'])
    await resync(souk.deps, chain.chainId, Number(/--from (\d+)/.exec(haltedBecause ?? '')?.[1]))
    await souk.run()
    await souk.expectTruth(chain)
  })

  test('a process that lost its lease does not halt the chain because of what it read before', async () => {
    await using chain = await startChain()
    await using proxy = startProxy(chain.url)
    await using souk = await openChainInstance([{ chain, urls: [proxy.url] }])
    await souk.grant(allGrants)
    const fork = await chain.snapshot()
    await attestThree(chain)
    await chain.mine(6)
    await souk.run()
    await chain.revert(fork)
    await chain.mine(20, 5)
    const { fault, reached, release } = faults.held()
    proxy.spoil(async (_, forward) => forward(), fault)
    const step = souk.step()
    await reached
    // As if it took longer than its lease and another process continued.
    await souk.deps.db.write((tx) => tx.update(chainSyncs).set({ leaseHolder: 'another' }))
    release()
    expect((await step).kind).toBe('BUSY')
    expect((await souk.sync(chain.chainId)).haltedBecause).toBeNull()
    expect(souk.app.logged.map(({ event }) => event)).not.toContain('chain.halted')
  })

  test('an operator may resync a chain from any block or from its start', async () => {
    await using chain = await startChain()
    await using souk = await openChainInstance([{ chain, urls: [chain.url] }])
    await souk.grant(allGrants)
    const [uid = '0x'] = await attestThree(chain)
    await chain.mine(2)
    const second = (await chain.block()).number
    await chain.revoke([uid])
    await attestThree(chain)
    await chain.mine(4)
    await souk.run()
    const [rows, counts] = [await souk.rows(chain.chainId), await souk.counts(chain.chainId)]
    for (const from of [second, 0, undefined]) {
      await resync(souk.deps, chain.chainId, from)
      if (from === second) expect(await souk.counts(chain.chainId)).toEqual({ A: 1, B: 1, C: 0, D: 1 })
      await souk.run()
      expect(await souk.counts(chain.chainId)).toEqual(counts)
      const byUid = (all: typeof rows) => all.toSorted((one, other) => (one.uid < other.uid ? -1 : 1))
      expect(byUid(await souk.rows(chain.chainId))).toEqual(byUid(rows))
    }
    await souk.expectTruth(chain)
    expect(resync(souk.deps, 7)).rejects.toThrow("CHAINS doesn't include chain 7")
  })

  test('a reorg of one chain does not affect another', async () => {
    await using one = await startChain({ chainId: 1_001 })
    await using other = await startChain({ chainId: 1_002 })
    await using souk = await openChainInstance([
      { chain: one, urls: [one.url], confirmations: 1 },
      { chain: other, urls: [other.url] },
    ])
    await souk.grant(allGrants)
    await attestThree(other)
    await other.mine(3)
    const fork = await one.snapshot()
    await attestThree(one)
    await one.mine(3)
    await souk.run()
    await one.revert(fork)
    await one.attest([{ schema: 'C', attester: lender }])
    await one.mine(8)
    await attestThree(other)
    await other.mine(3)
    await souk.run()
    await souk.expectTruth(one)
    await souk.expectTruth(other)
    expect(await souk.counts(1_001)).toEqual({ A: 0, B: 0, C: 1, D: 0 })
    expect(await souk.counts(1_002)).toEqual({ A: 2, B: 2, C: 0, D: 2 })
  })
})
