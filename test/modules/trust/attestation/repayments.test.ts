import { expect, setDefaultTimeout, test } from 'bun:test'
import { attestations, attestedRepayments } from '../../../../db/schema/trust.ts'
import { encodeStatement, refOf } from '../../../../src/clients/chain/eas.ts'
import { beginRescans, recordAttestedRepayments, resync } from '../../../../src/modules/trust/attestation/index.ts'
import { checkTrustFabric } from '../../../../src/modules/trust/fabric/index.ts'
import { describeChain } from '../../../support/chain/anvil.ts'
import { type Chain, startChain } from '../../../support/chain/eas.ts'
import { faults, startProxy } from '../../../support/chain/proxy.ts'
import { type ChainInstance, openChainInstance, wallets } from '../../../support/chain/syncing.ts'
import { lenderIn } from '../../../support/repayments.ts'
import { ok } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const settings = { LENDING_PLATFORM_ENABLED: 'true', LENDING_REPAYMENTS_FROM_ATTESTATIONS: 'true' }
const seconds = (iso: string) => BigInt(Date.parse(iso) / 1_000)

/** Creates an active lender with a wallet, and a builder of its statements about a merchant's loan. */
async function openLending(souk: ChainInstance) {
  const { app } = souk
  const operator = await app.superAdmin()
  const { token } = operator
  const lenderId = await lenderIn(app, operator)
  ok(await app.call('PATCH', `/admin/lenders/${lenderId}`, { token, body: { status: 'ACTIVE', wallets: [{ address: wallets.lender }] } }))
  const merchant = await app.merchant()
  const statement = (loan: string, more: Partial<Parameters<typeof encodeStatement<'C'>>[1]> = {}) => ({
    schema: 'C' as const,
    attester: wallets.lender,
    data: encodeStatement('C', {
      merchantRef: refOf(merchant.id),
      loanRef: refOf(loan),
      outcome: 0,
      amountUsdCents: 12_345n,
      dueAt: seconds('2025-11-01T00:00:00Z'),
      settledAt: seconds('2025-10-31T00:00:00Z'),
      ...more,
    }),
  })
  const repayments = async () => (await app.call('GET', '/admin/repayments?limit=100', { token })).body.data
  const sync = async () => {
    await souk.run()
    await recordAttestedRepayments(souk.deps)
  }
  return { token, lenderId, merchant, statement, repayments, sync }
}

const mineToFinal = (chain: Chain) => chain.mine(4)

describeChain('repayments that lenders attest', () => {
  test("a lender's attestation of a repayment is recorded once and exactly; invalid ones are skipped and counted", async () => {
    await using chain = await startChain()
    await using souk = await openChainInstance([{ chain, urls: [chain.url] }], { settings })
    const { lenderId, merchant, statement, repayments, sync } = await openLending(souk)
    await chain.attest([
      statement('on time'),
      statement('late', { outcome: 1, settledAt: seconds('2025-12-24T00:00:00Z') }),
      statement('lost', { outcome: 2, settledAt: 0n }),
      statement('unknown merchant', { merchantRef: refOf('mer_nobody') }),
      statement('unknown outcome', { outcome: 3 }),
      statement('zero amount', { amountUsdCents: 0n }),
      statement('due in the future', { dueAt: seconds('2031-01-01T00:00:00Z') }),
      statement('too large amount', { amountUsdCents: 2n ** 63n }),
      { schema: 'C', attester: wallets.lender, data: '0x1234' },
      { ...statement('unregistered attester'), attester: wallets.stranger },
    ])
    await mineToFinal(chain)
    await sync()
    await sync()
    const all = await repayments()
    const common = { merchantId: merchant.id, lenderId, amountUsd: 123.45, source: 'ATTESTATION', recordedBy: 'system', reversal: null }
    expect(all).toHaveLength(3)
    expect(all).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          ...common,
          loanRef: refOf('on time'),
          outcome: 'ON_TIME',
          dueAt: '2025-11-01T00:00:00.000Z',
          settledAt: '2025-10-31T00:00:00.000Z',
        }),
        expect.objectContaining({ ...common, loanRef: refOf('late'), outcome: 'LATE', settledAt: '2025-12-24T00:00:00.000Z' }),
        expect.objectContaining({ ...common, loanRef: refOf('lost'), outcome: 'DEFAULT', settledAt: null }),
      ]),
    )
    const { body } = await souk.app.call('GET', '/metrics')
    expect(body).toContain('souk_chain_repayments_total{chain="31337",result="recorded"} 3')
    expect(body).toContain('souk_chain_repayments_total{chain="31337",result="left"} 6')
  })

  test('a revoked or reorganised repayment is reversed, and recorded again if it returns', async () => {
    await using chain = await startChain()
    await using souk = await openChainInstance([{ chain, urls: [chain.url], confirmations: 1 }], { settings })
    const { statement, repayments, sync } = await openLending(souk)
    const [first = '0x'] = await chain.attest([statement('first')])
    await mineToFinal(chain)
    await sync()
    const fork = await chain.snapshot()
    await chain.revoke([first])
    await chain.attest([statement('second')])
    await mineToFinal(chain)
    await sync()
    const validRepayments = async () =>
      (await repayments())
        .filter(({ reversal }: { reversal: unknown }) => reversal === null)
        .map(({ loanRef }: { loanRef: string }) => loanRef)
    expect(await validRepayments()).toEqual([refOf('second')])
    await chain.revert(fork)
    await chain.attest([statement('third')])
    await chain.mine(12)
    await sync()
    expect((await validRepayments()).sort()).toEqual([refOf('first'), refOf('third')].sort())
    expect(await repayments()).toHaveLength(4)
    const rows = (await souk.deps.db.read.select().from(attestedRepayments)).filter(({ repaymentId }) => repaymentId !== null)
    expect(rows).toHaveLength(2)
    const problems = async () => {
      const findings = await Array.fromAsync(checkTrustFabric(souk.deps.db))
      return findings.flatMap((finding) => (finding.subject === 'attested repayments' ? finding.problems : []))
    }
    expect(await problems()).toEqual([])
    const [one, other] = rows.map(({ repaymentId }) => repaymentId ?? '').sort()
    const setRepaymentId = (repaymentId: string | null | undefined) =>
      souk.deps.db.write((tx) => tx.update(attestedRepayments).set({ repaymentId }))
    await setRepaymentId(one)
    const [twice, lost] = await problems()
    expect([twice, lost]).toEqual([
      `Repayment ${one} is linked to two attestations`,
      `Repayment ${other} has the source ATTESTATION, but no known attestation`,
    ])
    await setRepaymentId('pay_none')
    expect(await problems()).toHaveLength(4)
  })

  test("a suspended lender's new repayments are ignored and earlier ones stay; a removed wallet reverses its repayments", async () => {
    await using chain = await startChain()
    await using souk = await openChainInstance([{ chain, urls: [chain.url] }], { settings })
    const { token, lenderId, statement, repayments, sync } = await openLending(souk)
    await chain.attest([statement('first')])
    await mineToFinal(chain)
    await sync()
    ok(await souk.app.call('PATCH', `/admin/lenders/${lenderId}`, { token, body: { wallets: [] } }))
    await sync()
    expect(await repayments()).toMatchObject([{ reversal: { reason: expect.stringContaining('no longer counts') } }])
    ok(
      await souk.app.call('PATCH', `/admin/lenders/${lenderId}`, {
        token,
        body: { wallets: [{ address: wallets.lender, from: '2026-01-01T00:00:00.000Z' }] },
      }),
    )
    await sync()
    expect((await repayments()).map(({ reversal }: { reversal: unknown }) => reversal === null).sort()).toEqual([false, true])
    expect(await souk.counts(chain.chainId)).toMatchObject({ C: 1 })
  })

  test('an attestation that does not match its uid is a fault of the node, and nothing is recorded', async () => {
    await using chain = await startChain()
    await using proxy = startProxy(chain.url)
    await using souk = await openChainInstance([{ chain, urls: [proxy.url] }], { settings })
    const { statement, repayments, sync } = await openLending(souk)
    await chain.attest([statement('first')])
    await mineToFinal(chain)
    // The forged amount is a cent higher.
    const [statedAmount, forgedAmount] = [12_345, 12_346].map((cents) => cents.toString(16).padStart(64, '0')) as [string, string]
    proxy.always(async (calls, forward) =>
      (await forward()).map((answer) =>
        calls.find(({ id }) => id === answer.id)?.method === 'eth_call'
          ? { ...answer, result: answer.result.replace(statedAmount, forgedAmount) }
          : answer,
      ),
    )
    await sync()
    expect(await repayments()).toEqual([])
    expect((await souk.sync(chain.chainId)).lastError).toContain('does not match its uid')
    proxy.forget()
    souk.app.clock.advance(60_000)
    await sync()
    expect(await repayments()).toMatchObject([{ amountUsd: 123.45 }])
  })

  test('attestations that no node has do not block others and are requested again, and merchants are read once a run at most', async () => {
    await using chain = await startChain()
    await using souk = await openChainInstance([{ chain, urls: [chain.url] }], { settings })
    const { statement, repayments, sync } = await openLending(souk)
    const { deps } = souk
    await chain.mine(1)
    await chain.attest(Array.from({ length: 60 }, (_, nth) => statement(`loan ${nth}`)))
    await mineToFinal(chain)
    await souk.run()
    const [row] = await souk.rows(chain.chainId)
    // As if a node had invented them: one more than a batch, in front of all others.
    const invented = Array.from({ length: 51 }, (_, nth) => ({
      ...(row as typeof attestations.$inferSelect),
      uid: `0x${String(nth).padStart(64, '0')}`,
      blockNumber: chain.startBlock,
    }))
    await deps.db.write((tx) => tx.insert(attestations).values(invented))
    let reads = 0
    const { merchantIds } = deps.attestedRepaymentStore
    deps.attestedRepaymentStore.merchantIds = (...args) => {
      reads++
      return merchantIds(...args)
    }
    await sync()
    expect(await repayments()).toHaveLength(60)
    expect(reads).toBe(1)
    expect(deps.attestedTo.get(chain.chainId)).toMatchObject({ from: chain.startBlock - 1 })
    await chain.attest([statement('another')])
    await mineToFinal(chain)
    await sync()
    expect(await repayments()).toHaveLength(61)
    expect(reads).toBe(1)
    expect(await deps.db.read.select().from(attestedRepayments)).toHaveLength(61)
  })

  test('repayments of older blocks by a backfill or a rescan are recorded and reversed after newer ones', async () => {
    await using chain = await startChain()
    await using first = startProxy(chain.url)
    await using second = startProxy(chain.url)
    await using third = startProxy(chain.url)
    await using souk = await openChainInstance([{ chain, urls: [first.url, second.url, third.url] }], { settings })
    const { token, lenderId, statement, repayments, sync } = await openLending(souk)
    const recordAttested = () => recordAttestedRepayments(souk.deps)
    const validRepayments = async () =>
      (await repayments())
        .filter(({ reversal }: { reversal: unknown }) => reversal === null)
        .map(({ loanRef }: { loanRef: string }) => loanRef)
        .sort()
    await chain.attest([{ ...statement('early'), attester: wallets.stranger }])
    await chain.attest([statement('left out')])
    const [revoked = '0x'] = await chain.attest([statement('revoked')])
    await mineToFinal(chain)
    await souk.run()
    // A response omits a new attestation and a revocation.
    await chain.attest([statement('late')])
    await chain.revoke([revoked])
    await mineToFinal(chain)
    first.spoil(async (_, forward) => forward(), faults.noLogsNorBlooms())
    await sync()
    expect(await validRepayments()).toEqual([refOf('left out'), refOf('revoked')].sort())

    const early = { address: wallets.stranger, from: '2020-01-01T00:00:00.000Z' }
    ok(
      await souk.app.call('PATCH', `/admin/lenders/${lenderId}`, {
        token,
        body: { wallets: [{ address: wallets.lender, from: early.from }, early] },
      }),
    )
    await recordAttested()
    await sync()
    expect(await validRepayments()).toContain(refOf('early'))
    await beginRescans(souk.deps, 0)
    await sync()
    expect(await validRepayments()).toEqual([refOf('early'), refOf('late'), refOf('left out')].sort())
  })

  test('during a resync nothing is reversed that was not read again yet', async () => {
    await using chain = await startChain()
    await using proxy = startProxy(chain.url)
    await using souk = await openChainInstance([{ chain, urls: [proxy.url] }], { settings })
    const { statement, repayments, sync } = await openLending(souk)
    await chain.mine(10)
    await chain.attest([statement('first')])
    await mineToFinal(chain)
    await sync()
    await resync(souk.deps, chain.chainId, 0)
    proxy.always(faults.cappedAt(2, 'limited to 2 blocks'))
    await souk.step()
    await souk.step()
    expect(await souk.sync(chain.chainId)).toMatchObject({ countedTo: chain.startBlock + 1 })
    await recordAttestedRepayments(souk.deps)
    expect(await repayments()).toMatchObject([{ reversal: null }])
    await sync()
    expect(await repayments()).toMatchObject([{ reversal: null }])
  })

  test('nothing is recorded unless the setting allows it', async () => {
    await using chain = await startChain()
    await using souk = await openChainInstance([{ chain, urls: [chain.url] }], { settings: { LENDING_PLATFORM_ENABLED: 'true' } })
    const { statement, repayments, sync } = await openLending(souk)
    await chain.attest([statement('first')])
    await mineToFinal(chain)
    await sync()
    expect(await souk.counts(chain.chainId)).toMatchObject({ C: 1 })
    expect(await repayments()).toEqual([])
  })
})
