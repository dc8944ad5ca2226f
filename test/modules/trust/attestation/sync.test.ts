import { expect, setDefaultTimeout, test } from 'bun:test'
import { type Job, jobs, runJob } from '../../../../jobs/index.ts'
import { describeChain } from '../../../support/chain/anvil.ts'
import { type Chain, startChain } from '../../../support/chain/eas.ts'
import { type Fault, faults, type RpcCall, startProxy } from '../../../support/chain/proxy.ts'
import { allGrants, openChainInstance, wallets } from '../../../support/chain/syncing.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const { platform, lender, provider, stranger } = wallets

/** Attests one of each schema, and one by an unregistered address. */
const attestOfEach = (chain: Chain) =>
  chain.attest([
    { schema: 'A', attester: platform },
    { schema: 'B', attester: lender },
    { schema: 'C', attester: lender },
    { schema: 'D', attester: provider, recipient: lender },
    { schema: 'A', attester: stranger },
  ])

describeChain('the sync of attestations', () => {
  test('a sync counts granted and unrevoked attestations up to the final block, and stores none of unregistered addresses', async () => {
    await using chain = await startChain()
    await using proxy = startProxy(chain.url)
    await using souk = await openChainInstance([{ chain, urls: [proxy.url] }])
    await souk.grant(allGrants)
    const uids = await chain.attest([
      { schema: 'A', attester: platform },
      { schema: 'B', attester: lender },
      { schema: 'C', attester: lender },
      { schema: 'C', attester: platform },
      { schema: 'D', attester: provider, recipient: lender },
      { schema: 'D', attester: provider, recipient: provider },
      { schema: 'A', attester: lender },
      { schema: 'A', attester: stranger },
    ])
    await chain.revoke([uids[2] ?? '0x'])
    await souk.run()
    const final = (await souk.sync(chain.chainId)).countedTo
    expect(final).toBe((await chain.block()).number - 2)
    expect(await souk.counts(chain.chainId)).toEqual({ A: 0, B: 0, C: 0, D: 0 })
    await chain.mine(4)
    await souk.run()
    expect(await souk.counts(chain.chainId)).toEqual({ A: 1, B: 1, C: 1, D: 1 })
    await souk.expectTruth(chain)
    const rows = await souk.rows(chain.chainId)
    expect(rows).toHaveLength(7)
    expect(rows.map(({ attester }) => attester)).not.toContain(stranger)
  })

  test('a run without new blocks sends one batch, and one with some blocks two', async () => {
    await using chain = await startChain()
    await using proxy = startProxy(chain.url)
    await using souk = await openChainInstance([{ chain, urls: [proxy.url] }])
    await souk.grant(allGrants)
    await attestOfEach(chain)
    await chain.attest([{ schema: 'A', attester: stranger }])
    await chain.mine(4)
    await souk.run()
    // Three batches: the chain's head, the range with the headers of its few blocks, and the head again. Each also asks
    // for the chain id.
    const { startBlock, countedTo } = await souk.sync(chain.chainId)
    expect(proxy.batches.map((calls) => calls.length)).toEqual([3, 5 + countedTo - startBlock, 4])
    proxy.batches.length = 0
    await souk.run()
    expect(proxy.batches.map((calls) => calls.length)).toEqual([4])
  })

  test('no fault of a node makes the counts differ from the chain or skips a range without a response', async () => {
    await using chain = await startChain()
    await using proxy = startProxy(chain.url)
    await using souk = await openChainInstance([{ chain, urls: [proxy.url] }])
    await souk.grant(allGrants)
    const logsOnly =
      (fault: Fault): Fault =>
      (calls, forward) =>
        calls.some(({ method }) => method === 'eth_getLogs') ? fault(calls, forward) : forward()
    const all: Record<string, [fault: Fault, error: string | null]> = {
      'rate limit with Retry-After in seconds': [faults.limited('7'), 'status 429'],
      'rate limit with Retry-After as a date': [faults.limited(new Date(souk.app.clock.now() + 20_000).toUTCString()), 'status 429'],
      'rate limit without Retry-After': [faults.limited(), 'status 429'],
      'rate limit in a response': [faults.limitedInside(), 'error -32005'],
      'bad gateway': [faults.badGateway(), 'it answered with status 502'],
      'half a response': [faults.garbage(), 'its answer does not match the batch'],
      'a response that is not a batch': [faults.notABatch(), 'its answer does not match the batch'],
      'repeated ids': [faults.mixedIds(), 'its answer does not match the batch'],
      'a batch too short': [faults.shortBatch(), 'its answer does not match the batch'],
      'removed logs': [faults.removed(), 'a log that was removed'],
      'another contract': [faults.otherAddress(), 'a log of another contract'],
      'another block': [faults.otherBlock(), 'a log of another block'],
      'another hash of the block': [faults.otherHash(), 'is another one, or none, when it is asked for by itself'],
      'another schema': [faults.otherSchema(), 'a log of another schema'],
      'short data': [faults.shortData(), 'a log whose data is of another length'],
      'too few topics': [faults.fewTopics(), 'a log without its topics'],
      'a log twice': [faults.twice(), 'the same log twice'],
      'no list of logs': [faults.noList(), 'logs that are no list'],
      'ids in another order': [faults.reversed(), null],
    }
    for (const [name, [fault, error]] of Object.entries(all)) {
      const [uids = '0x'] = await attestOfEach(chain)
      await chain.revoke([uids])
      await chain.mine(3)
      const before = await souk.sync(chain.chainId).catch(() => undefined)
      await souk.deps.db.write((tx) => souk.deps.attestationStore.change(tx, chain.chainId, { lastError: null }))
      let faultCount = 0
      proxy.always(
        logsOnly((calls, forward) => {
          faultCount++
          return faultCount > 2 ? forward() : fault(calls, forward)
        }),
      )
      const first = await souk.step()
      const after = await souk.sync(chain.chainId)
      if (error === null) expect([name, after.lastError]).toEqual([name, null])
      else {
        expect([name, first.kind, after.countedTo]).toEqual([name, 'RETRY', before?.countedTo ?? after.startBlock - 1])
        expect([name, after.lastError]).toEqual([name, expect.stringContaining(error)])
        expect(after.lastError).toStartWith(proxy.host)
        expect(after.lastError).not.toContain('key-nobody')
      }
      await souk.run()
      proxy.forget()
      await souk.run()
      await souk.expectTruth(chain)
    }
    expect(JSON.stringify(souk.app.logged)).not.toContain('key-nobody')
  })

  test('the job fails if no node answers, names the chain, and is skipped while it waits', async () => {
    await using chain = await startChain()
    await using proxy = startProxy(chain.url)
    await using souk = await openChainInstance([{ chain, urls: [proxy.url] }])
    const job = jobs.find(({ name }) => name === 'sync-attestations') as Job
    const run = () => runJob(job, souk.deps)
    expect(await run()).toEqual({ result: 'OK' })
    expect(await run()).toEqual({ result: 'OK' })
    proxy.always(faults.badGateway())
    const failed = await run()
    expect([failed.result, String('error' in failed && failed.error)]).toEqual([
      'FAILED',
      `Error: nothing was read of chain ${chain.chainId}: no node gave a valid answer`,
    ])
    expect(await run()).toEqual({ result: 'SKIPPED' })
    souk.app.clock.advance(70_000)
    expect((await run()).result).toBe('FAILED')
    proxy.forget()
    expect(await run()).toEqual({ result: 'SKIPPED' })
    souk.app.clock.advance(70_000)
    expect(await run()).toEqual({ result: 'OK' })
    await souk.deps.db.write((tx) => souk.deps.attestationStore.change(tx, chain.chainId, { haltedBecause: 'why not', haltedAt: 0 }))
    expect(await run()).toEqual({ result: 'SKIPPED' })
  })

  test('a node that asks for a pause gets it, in seconds or until a date, for ten minutes at most', async () => {
    await using chain = await startChain()
    await using proxy = startProxy(chain.url)
    await using souk = await openChainInstance([{ chain, urls: [proxy.url] }])
    const { clock } = souk.app
    const waits: number[] = []
    for (const retryAfter of ['30', new Date(clock.now() + 90_000).toUTCString(), '100000']) {
      const batchCount = proxy.batches.length
      proxy.spoil(faults.limited(retryAfter))
      const now = clock.now()
      expect((await souk.step()).kind).toBe('RETRY')
      const step = await souk.step()
      if (step.kind !== 'WAITING') throw new Error(`it does not wait, but ${step.kind}`)
      waits.push(step.until - now)
      clock.advance(step.until - now - 1)
      expect((await souk.step()).kind).toBe('WAITING')
      expect(proxy.batches).toHaveLength(batchCount + 1)
      clock.advance(1)
      // Dates are relative to the clock, so the clock is reset.
      clock.set(now)
      souk.deps.chainNodes.get(chain.chainId)?.all.forEach((node) => {
        node.notBefore = 0
      })
    }
    for (const [nth, minimum] of [30_000, 90_000, 600_000].entries()) {
      expect(waits[nth]).toBeGreaterThanOrEqual(minimum)
      expect(waits[nth]).toBeLessThanOrEqual(minimum * 1.25)
    }
  })

  test('a lagging node does not move the cursor, and another one is asked', async () => {
    await using chain = await startChain()
    await using slow = startProxy(chain.url)
    await using quick = startProxy(chain.url)
    await using souk = await openChainInstance([{ chain, urls: [slow.url, quick.url] }])
    await souk.grant(allGrants)
    await chain.mine(3)
    await souk.run()
    const { countedTo } = await souk.sync(chain.chainId)
    await attestOfEach(chain)
    await chain.mine(3)
    // The node reports blocks as final without having them or their logs.
    slow.always((calls, forward) =>
      calls.some(({ method }) => method === 'eth_getLogs') ? faults.lagging(countedTo + 1)(calls, forward) : forward(),
    )
    quick.always(faults.badGateway())
    expect((await souk.step()).kind).toBe('RETRY')
    expect((await souk.sync(chain.chainId)).countedTo).toBe(countedTo)
    expect((await souk.sync(chain.chainId)).lastError).toContain('does not have the blocks yet')
    quick.forget()
    await souk.run()
    expect((await souk.sync(chain.chainId)).provider).toBe(quick.host)
    await souk.expectTruth(chain)
  })

  test('logs that a node omits are noticed by the blooms of its headers and read from another node', async () => {
    await using chain = await startChain()
    await using lying = startProxy(chain.url)
    await using honest = startProxy(chain.url)
    await using souk = await openChainInstance([{ chain, urls: [lying.url, honest.url], confirmations: 3 }])
    await souk.grant(allGrants)
    const [uids = '0x'] = await attestOfEach(chain)
    await chain.mine(3)
    await souk.run()
    const before = await souk.sync(chain.chainId)
    lying.always(faults.noLogs())
    await chain.revoke([uids])
    await attestOfEach(chain)
    await chain.mine(4)
    expect((await souk.step()).kind).toBe('RETRY')
    const after = await souk.sync(chain.chainId)
    expect(after.countedTo).toBe(before.countedTo)
    expect(after.lastError).toBe(`${lying.host}: it left out logs of block ${before.countedTo + 4}, which its header shows`)
    expect(souk.deps.chainFailures.all()).toEqual([[`${chain.chainId} FAULT`, 1]])
    expect(souk.deps.chainNodes.get(chain.chainId)?.all[0]?.breaker).toEqual({ state: 'CLOSED', failures: 1 })
    await souk.run()
    expect(await souk.counts(chain.chainId)).toEqual({ A: 1, B: 2, C: 2, D: 2 })
    await souk.expectTruth(chain)
  })

  test('a block whose bloom allows logs is empty if two nodes, or one asked twice, return none', async () => {
    await using chain = await startChain()
    await using one = startProxy(chain.url)
    await using other = startProxy(chain.url)
    for (const urls of [[one.url, other.url], [one.url]]) {
      await using souk = await openChainInstance([{ chain, urls }])
      await souk.grant(allGrants)
      await souk.run()
      await attestOfEach(chain)
      await chain.mine(8)
      for (const proxy of [one, other]) {
        proxy.always(faults.fullBlooms())
        proxy.batches.length = 0
      }
      await souk.run()
      expect((await souk.sync(chain.chainId)).lastError).toBeNull()
      await souk.expectTruth(chain)
      // The head, the range, the blocks without logs again, and the head.
      const logCallCounts = [...one.batches, ...other.batches].map((calls) => calls.filter(({ method }) => method === 'eth_getLogs').length)
      expect(logCallCounts.toSorted()).toEqual([0, 0, 1, 1])
    }
  })

  test('a single node that omits logs once returns them when asked again', async () => {
    await using chain = await startChain()
    await using proxy = startProxy(chain.url)
    await using souk = await openChainInstance([{ chain, urls: [proxy.url] }])
    await souk.grant(allGrants)
    await souk.run()
    await attestOfEach(chain)
    await chain.mine(2)
    const asksForLogs = (calls: readonly RpcCall[]) => calls.some(({ method }) => method === 'eth_getLogs')
    let faultsLeft = 1
    proxy.always((calls, forward) => (asksForLogs(calls) && faultsLeft-- > 0 ? faults.noLogs()(calls, forward) : forward()))
    expect((await souk.step()).kind).toBe('RETRY')
    expect((await souk.sync(chain.chainId)).lastError).toContain('it left out logs')
    await souk.run()
    await souk.expectTruth(chain)
  })

  test('a node whose head is behind the cursor is no reorg: nothing is undone, and it is asked again later', async () => {
    await using chain = await startChain()
    await using proxy = startProxy(chain.url)
    await using souk = await openChainInstance([{ chain, urls: [proxy.url], confirmations: 1 }])
    await souk.grant(allGrants)
    await attestOfEach(chain)
    await chain.mine(2)
    await souk.run()
    const before = await souk.sync(chain.chainId)
    proxy.always(faults.lagging(before.countedTo - 1))
    for (let nth = 0; nth < 3; nth++) {
      await souk.step()
      souk.app.clock.advance(10_000)
    }
    expect((await souk.sync(chain.chainId)).countedTo).toBe(before.countedTo)
    expect(await souk.rows(chain.chainId)).toHaveLength(4)
    proxy.forget()
    await attestOfEach(chain)
    await chain.mine(2)
    await souk.run()
    await souk.expectTruth(chain)
  })

  test.each([
    ['a number of blocks', 3, 'eth_getLogs is limited to a 3 range', 3],
    ['two block numbers', 4, 'Query timeout exceeded. Try with this block range [0x1, 0x4].', 4],
    ['nothing', 5, 'query exceeds max block range', 5],
    ['only results', 5, 'query returned more than 10000 results', 5],
  ])('a range that is too large for a node is reduced when its error names %s', async (_, cap, message, largestRange) => {
    await using chain = await startChain()
    await using proxy = startProxy(chain.url)
    await using souk = await openChainInstance([{ chain, urls: [proxy.url] }])
    await souk.grant(allGrants)
    for (let nth = 0; nth < 3; nth++) {
      await attestOfEach(chain)
      await chain.mine(6)
    }
    proxy.always(faults.cappedAt(cap, message))
    const steps = await souk.run()
    const ranges = steps.flatMap((step) => (step.kind === 'READ' ? [step.to - step.from + 1] : []))
    expect(Math.max(...ranges)).toBeLessThanOrEqual(largestRange)
    expect((await souk.sync(chain.chainId)).lastError).toBeNull()
    if (message.includes('limited to')) expect(steps.filter(({ kind }) => kind === 'RETRY')).toHaveLength(1)
    await souk.expectTruth(chain)
  })

  test('a block with more logs than a node returns is a reported error and never skipped', async () => {
    await using chain = await startChain()
    await using proxy = startProxy(chain.url)
    await using souk = await openChainInstance([{ chain, urls: [proxy.url] }])
    await souk.grant(allGrants)
    await attestOfEach(chain)
    const full = (await chain.block()).number
    await chain.mine(4)
    proxy.always(async (calls, forward) => {
      const filter = calls.find(({ method }) => method === 'eth_getLogs')?.params[0]
      const isFull = filter && Number(filter.fromBlock) <= full && Number(filter.toBlock) >= full
      return isFull ? faults.oversized(17 * 1024 * 1024)(calls, forward) : forward()
    })
    for (let nth = 0; nth < 12; nth++) {
      await souk.step()
      if ((await souk.sync(chain.chainId)).lastError !== null) break
    }
    souk.app.clock.advance(100_000)
    await souk.step()
    const sync = await souk.sync(chain.chainId)
    expect(sync.countedTo).toBe(full - 1)
    expect(sync.lastError).toContain('an answer of more than 16777216 bytes')
    proxy.forget()
    await souk.run()
    await souk.expectTruth(chain)
  })

  test('a node of another chain is never believed, and is asked for its chain again', async () => {
    await using chain = await startChain()
    await using other = await startChain({ chainId: 4_242 })
    await using proxy = startProxy(other.url)
    await using souk = await openChainInstance([{ chain, urls: [proxy.url] }])
    await souk.grant(allGrants)
    await attestOfEach(other)
    await other.mine(4)
    await souk.step()
    expect((await souk.sync(chain.chainId)).lastError).toContain('it is a node of chain 4242')
    expect(await souk.rows(chain.chainId)).toEqual([])
    proxy.pointTo(chain.url)
    await attestOfEach(chain)
    await chain.mine(4)
    await souk.run()
    await souk.expectTruth(chain)
  })

  test('if no node knows finality, blocks are read at a depth; if one does not, others are asked', async () => {
    await using chain = await startChain()
    await using old = startProxy(chain.url)
    await using souk = await openChainInstance([{ chain, urls: [old.url] }])
    await souk.grant(allGrants)
    await attestOfEach(chain)
    await chain.mine(70)
    old.always(faults.noFinality())
    await souk.run()
    expect((await souk.sync(chain.chainId)).countedTo).toBe((await chain.block()).number - 64)
    expect(souk.app.logged.map(({ event }) => event)).toContain('chain.no_finality')
    await souk.expectTruth(chain)

    await using modern = startProxy(chain.url)
    await using withModern = await openChainInstance([{ chain, urls: [old.url, modern.url] }])
    await withModern.grant(allGrants)
    await withModern.run()
    expect((await withModern.sync(chain.chainId)).countedTo).toBe((await chain.block()).number - 2)
    await withModern.expectTruth(chain)
  })

  test('a node that once fails to return the final block is asked again, and nothing unfinal is read', async () => {
    await using chain = await startChain()
    await using proxy = startProxy(chain.url)
    await using souk = await openChainInstance([{ chain, urls: [proxy.url] }])
    await souk.grant(allGrants)
    await attestOfEach(chain)
    await chain.mine(70)
    const failing =
      (code: number, message: unknown): Fault =>
      async (calls, forward) =>
        (await forward()).map((answer) =>
          calls.some(({ id, params }) => id === answer.id && params[0] === 'finalized')
            ? { jsonrpc: '2.0', id: answer.id, error: { code, message: message as string } }
            : answer,
        )
    proxy.spoil(failing(-32_603, 'Internal error'), failing(-32_000, 'upstream went away'), failing(-32_000, { toString: 1, valueOf: 1 }))
    await souk.run()
    expect(proxy.isSpent()).toBe(true)
    expect(souk.app.logged.map(({ event }) => event)).not.toContain('chain.no_finality')
    expect((await souk.sync(chain.chainId)).countedTo).toBe((await chain.block()).number - 2)
    await souk.expectTruth(chain)
  })

  test('a delayed response is abandoned, and its later arrival changes nothing', async () => {
    await using chain = await startChain()
    await using slow = startProxy(chain.url)
    await using quick = startProxy(chain.url)
    await using souk = await openChainInstance([{ chain, urls: [slow.url, quick.url] }])
    await souk.grant(allGrants)
    await attestOfEach(chain)
    await chain.mine(4)
    const { fault, reached, release } = faults.held()
    slow.always(fault)
    const step = souk.step()
    await reached
    // The same as when the process stops.
    souk.deps.stopChains()
    expect((await step).kind).toBe('RETRY')
    release()
    expect((await souk.sync(chain.chainId)).countedTo).toBe(chain.startBlock - 1)
    expect(await souk.rows(chain.chainId)).toEqual([])
  })

  test('a node that fails five times in a row is not asked until the next run after its pause probes it', async () => {
    await using chain = await startChain()
    await using proxy = startProxy(chain.url)
    await using souk = await openChainInstance([{ chain, urls: [proxy.url] }])
    const [node] = souk.deps.chainNodes.get(chain.chainId)?.all ?? []
    proxy.always(faults.badGateway())
    for (let nth = 0; nth < 5; nth++) {
      await souk.step()
      souk.app.clock.advance(70_000)
    }
    expect(node?.breaker.state).toBe('OPEN')
    souk.app.clock.advance(-70_000)
    const batchCount = proxy.batches.length
    expect((await souk.step()).kind).toBe('WAITING')
    expect(proxy.batches).toHaveLength(batchCount)
    souk.app.clock.advance(70_000)
    await souk.step()
    expect([node?.breaker.state, proxy.batches.length]).toEqual(['OPEN', batchCount + 1])
    proxy.forget()
    souk.app.clock.advance(10 * 60_000)
    await chain.mine(4)
    await souk.run()
    expect(node?.breaker.state).toBe('CLOSED')
    await souk.expectTruth(chain)
  })
})
