import { expect, setDefaultTimeout, test } from 'bun:test'
import { attestations, revocations } from '../../../../db/schema/trust.ts'
import { beginRescans } from '../../../../src/modules/trust/attestation/index.ts'
import { describeChain } from '../../../support/chain/anvil.ts'
import { type Chain, startChain } from '../../../support/chain/eas.ts'
import { faults, startProxy } from '../../../support/chain/proxy.ts'
import { allGrants, openChainInstance, wallets } from '../../../support/chain/syncing.ts'
import { testDatabase } from '../../../support/database.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const { platform, lender, provider, stranger } = wallets
const dayMs = 86_400_000
const attestByLender = (chain: Chain) =>
  chain.attest([
    { schema: 'B', attester: lender },
    { schema: 'C', attester: lender },
    { schema: 'A', attester: platform },
  ])

describeChain('blocks that are read again', () => {
  test('an address registered late has its attestations counted from its period on, and no older ones stored', async () => {
    await using chain = await startChain()
    await using souk = await openChainInstance([{ chain, urls: [chain.url] }])
    await attestByLender(chain)
    await chain.mine(20, 10)
    await attestByLender(chain)
    const { at, number } = await chain.block()
    await chain.mine(20, 10)
    await attestByLender(chain)
    await chain.mine(3)
    await souk.run()
    expect(await souk.rows(chain.chainId)).toEqual([])
    await souk.grant([{ address: lender, schema: 'B', fromAt: at * 1_000, toAt: null }], { queue: true })
    await souk.run()
    expect(await souk.backfills()).toEqual([])
    expect(await souk.counts(chain.chainId)).toEqual({ A: 0, B: 2, C: 0, D: 0 })
    expect(Math.min(...(await souk.rows(chain.chainId)).map(({ blockNumber }) => blockNumber))).toBe(number)
    await souk.expectTruth(chain)
  })

  test('a backfill continues after a restart, those of several addresses run together, and nothing counts twice', async () => {
    await using chain = await startChain()
    await using proxy = startProxy(chain.url)
    const database = await testDatabase()
    const chains = [{ chain, urls: [proxy.url] }]
    for (let nth = 0; nth < 6; nth++) {
      await attestByLender(chain)
      await chain.mine(3)
    }
    proxy.always(faults.cappedAt(4, 'limited to 4 blocks'))
    {
      await using first = await openChainInstance(chains, { app: { database } })
      await first.run()
      await first.grant(allGrants, { queue: true })
      await first.step()
      await first.step()
      await first.step()
      await first.step()
      const [backfill] = await first.backfills()
      expect(backfill?.readTo).toBeGreaterThan(chain.startBlock)
      expect(await first.rows(chain.chainId)).not.toEqual([])
    }
    await using second = await openChainInstance(chains, { app: { database } })
    second.granted.push(...allGrants)
    proxy.batches.length = 0
    await attestByLender(chain)
    await chain.mine(3)
    await second.run()
    expect(await second.backfills()).toEqual([])
    await second.expectTruth(chain)
    const attesters = proxy.batches.flatMap((calls) =>
      calls.flatMap(({ method, params }) => (method === 'eth_getLogs' && params[0].topics[2] ? [params[0].topics[2].length] : [])),
    )
    expect(attesters).not.toEqual([])
    expect(new Set(attesters)).toEqual(new Set([3]))
    await second.grant([{ address: stranger, schema: 'A', fromAt: 0, toAt: null }], { queue: true })
    await second.grant([{ address: lender, schema: 'D', fromAt: 0, toAt: null }], { queue: true })
    await second.run()
    await second.expectTruth(chain)
    await second.app.close()
    await database.drop()
  })

  test('a revocation that is read before its attestation applies once the attestation is read', async () => {
    await using chain = await startChain()
    await using souk = await openChainInstance([{ chain, urls: [chain.url] }])
    const [old = '0x'] = await attestByLender(chain)
    await chain.mine(3)
    await souk.run()
    // Registered, but without a backfill of earlier blocks.
    await souk.grant(allGrants)
    await chain.revoke([old])
    await chain.mine(3)
    await souk.run()
    expect(await souk.rows(chain.chainId)).toEqual([])
    expect((await souk.deps.db.read.select().from(revocations)).map(({ uid }) => uid)).toEqual([old])
    await souk.grant(
      allGrants.map((grant) => ({ ...grant, fromAt: 1 })),
      { queue: true },
    )
    await souk.run()
    expect(await souk.deps.db.read.select().from(revocations)).toEqual([])
    expect((await souk.rows(chain.chainId)).find(({ uid }) => uid === old)?.revokedBlock).not.toBeNull()
    await souk.expectTruth(chain)
  })

  test('an address registered while a range is read is included', async () => {
    await using chain = await startChain()
    await using proxy = startProxy(chain.url)
    await using souk = await openChainInstance([{ chain, urls: [proxy.url] }])
    await attestByLender(chain)
    await chain.mine(3)
    const { fault, reached, release } = faults.held()
    proxy.spoil((_, forward) => forward(), fault)
    const step = souk.step()
    await reached
    await souk.grant(allGrants)
    release()
    expect((await step).kind).toBe('READ')
    expect(await souk.counts(chain.chainId)).toEqual({ A: 1, B: 1, C: 1, D: 0 })
    await souk.expectTruth(chain)
  })

  test('an attestation stored before its block is read is the same one and counts once', async () => {
    await using chain = await startChain()
    await using souk = await openChainInstance([{ chain, urls: [chain.url] }])
    await souk.grant(allGrants)
    await attestByLender(chain)
    await chain.mine(3)
    await souk.run()
    const [row] = await souk.rows(chain.chainId)
    const [uid = '0x'] = await attestByLender(chain)
    await chain.mine(3)
    if (row)
      await souk.deps.db.write((tx) => tx.insert(attestations).values({ ...row, schema: 'B', uid, attester: lender, isCounted: false }))
    await souk.run()
    await souk.expectTruth(chain)
    expect(await souk.rows(chain.chainId)).toHaveLength(6)
  })

  test('a reorg during a backfill moves its end back', async () => {
    await using chain = await startChain()
    await using proxy = startProxy(chain.url)
    await using souk = await openChainInstance([{ chain, urls: [proxy.url], confirmations: 1 }])
    await attestByLender(chain)
    await chain.mine(4)
    await souk.run()
    const fork = await chain.snapshot()
    await attestByLender(chain)
    await chain.mine(4)
    await souk.run()
    await souk.grant(allGrants, { queue: true })
    proxy.always(faults.cappedAt(2, 'limited to 2 blocks'))
    await souk.step()
    await souk.step()
    await chain.revert(fork)
    await chain.mine(2)
    await attestByLender(chain)
    await chain.mine(6)
    await souk.run()
    expect(await souk.backfills()).toEqual([])
    await souk.expectTruth(chain)
  })

  test('two processes never read a chain at once, and one takes over from a dead one', async () => {
    await using chain = await startChain()
    await using proxy = startProxy(chain.url)
    const database = await testDatabase()
    await using one = await openChainInstance([{ chain, urls: [proxy.url] }], { app: { database } })
    await using other = await openChainInstance([{ chain, urls: [chain.url] }], { app: { database, as: 'command' } })
    await one.grant(allGrants)
    other.granted.push(...allGrants)
    await attestByLender(chain)
    await chain.mine(3)
    const { fault, reached, release } = faults.held()
    proxy.spoil(fault)
    const step = one.step()
    await reached
    expect(await other.step()).toEqual({ kind: 'BUSY' })
    // The lease expires: its former holder notices that and writes nothing.
    other.app.clock.advance(31_000)
    await other.run()
    await other.expectTruth(chain)
    release()
    await step
    await one.expectTruth(chain)
    expect((await one.rows(chain.chainId)).length).toBe(3)
    await other.app.close()
    await one.app.close()
    await database.drop()
  })
})

describeChain('the rescan', () => {
  test('a rescan through another node finds omitted logs, stores confirmed ones, and reports them', async () => {
    await using chain = await startChain()
    await using lying = startProxy(chain.url)
    await using souk = await openChainInstance([{ chain, urls: [lying.url, chain.url] }])
    await souk.grant(allGrants)
    const [first = '0x'] = await attestByLender(chain)
    await chain.revoke([first])
    await attestByLender(chain)
    await chain.mine(3)
    // A valid response that omits a log.
    lying.always(faults.withoutFirst())
    await souk.run()
    expect(await souk.rows(chain.chainId)).toHaveLength(5)
    await beginRescans(souk.deps)
    expect((await souk.sync(chain.chainId)).rescanEnd).not.toBeNull()
    await souk.run()
    const { rescanMissing, rescanUnknown, rescanEnd, rescannedTo, countedTo } = await souk.sync(chain.chainId)
    expect({ rescanMissing, rescanUnknown, rescanEnd }).toEqual({ rescanMissing: 2, rescanUnknown: 0, rescanEnd: null })
    expect(rescannedTo).toBe(countedTo)
    await souk.expectTruth(chain)
    const reports = souk.app.logged.filter(({ event }) => event === 'chain.rescan_differs')
    expect(reports.map(({ fields }) => fields['missing'])).toEqual([[first, first]])
    const { body } = await souk.app.call('GET', '/metrics')
    expect(body).toContain('souk_chain_rescan_differences{chain="31337",kind="missing"} 2')
  })

  test('a rescan without differences finds nothing, begins once a day, and continues after a restart', async () => {
    await using chain = await startChain()
    await using proxy = startProxy(chain.url)
    await using souk = await openChainInstance([{ chain, urls: [proxy.url] }])
    await attestByLender(chain)
    await souk.grant([{ address: lender, schema: 'B', fromAt: ((await chain.block()).at + 1) * 1_000, toAt: null }])
    await attestByLender(chain)
    await chain.mine(8)
    proxy.always(faults.cappedAt(3, 'limited to 3 blocks'))
    await souk.run()
    await souk.expectTruth(chain)
    await beginRescans(souk.deps)
    const { rescannedAt } = await souk.sync(chain.chainId)
    await souk.step()
    const { rescannedTo } = await souk.sync(chain.chainId)
    expect(rescannedTo).toBe(chain.startBlock + 2)
    await souk.run()
    await beginRescans(souk.deps)
    expect(await souk.sync(chain.chainId)).toMatchObject({ rescannedAt, rescanEnd: null, rescanMissing: 0, rescanUnknown: 0 })
    souk.app.clock.advance(dayMs)
    await beginRescans(souk.deps)
    expect((await souk.sync(chain.chainId)).rescanEnd).not.toBeNull()
  })

  test('attestations that a rescan misses are reported and stay; an unconfirmed response has no effect', async () => {
    await using chain = await startChain()
    await using proxy = startProxy(chain.url)
    await using souk = await openChainInstance([{ chain, urls: [chain.url, proxy.url] }])
    await souk.grant(allGrants)
    const [reported = '0x'] = await chain.attest([{ schema: 'D', attester: provider, recipient: lender }])
    await chain.mine(3)
    await souk.run()
    proxy.always(faults.withoutFirst())
    await beginRescans(souk.deps)
    await souk.run()
    expect(await souk.sync(chain.chainId)).toMatchObject({ rescanMissing: 0, rescanUnknown: 0, rescanEnd: null })
    souk.app.clock.advance(dayMs)
    await souk.deps.db.write(async (tx) => {
      const [row] = await souk.rows(chain.chainId)
      if (row) await tx.insert(attestations).values({ ...row, uid: `0x${'77'.repeat(32)}` })
    })
    await beginRescans(souk.deps)
    await souk.run()
    expect(await souk.sync(chain.chainId)).toMatchObject({ rescanMissing: 0, rescanUnknown: 1 })
    expect((await souk.rows(chain.chainId)).map(({ uid }) => uid).sort()).toEqual([`0x${'77'.repeat(32)}`, reported].sort())
  })
})
