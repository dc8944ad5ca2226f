import { expect, test } from 'bun:test'
import { describeChain } from '../../support/chain/anvil.ts'
import { startChain } from '../../support/chain/eas.ts'
import { everybody, syncing, wallets } from '../../support/chain/syncing.ts'
import { startProxy } from '../../support/chain/proxy.ts'

const { platform, lender, provider, stranger } = wallets

describeChain('the sync of attestations', () => {
  test('it counts what those who may have attested and not revoked, up to the final block, and keeps nothing of strangers', async () => {
    await using chain = await startChain()
    await using proxy = startProxy(chain.url)
    await using souk = await syncing([{ chain, urls: [proxy.url] }])
    await souk.grant(everybody)
    const made = await chain.attest([
      { schema: 'A', attester: platform },
      { schema: 'B', attester: lender },
      { schema: 'C', attester: lender },
      { schema: 'C', attester: platform },
      { schema: 'D', attester: provider, recipient: lender },
      { schema: 'D', attester: provider, recipient: provider },
      { schema: 'A', attester: lender },
      { schema: 'A', attester: stranger },
    ])
    await chain.revoke([made[2] ?? '0x'])
    await chain.mine(4)
    console.log(await souk.run())
    console.log(await souk.sync(chain.chainId), proxy.batches.map((b) => b.map((c) => c.method + JSON.stringify(c.params).slice(0, 80))), app_logged(souk))
    expect(await souk.counts(chain.chainId)).toEqual({ A: 1, B: 1, C: 1, D: 1 })
    await souk.expectTruth(chain)
    expect((await souk.rows(chain.chainId)).map(({ attester }) => attester)).not.toContain(stranger)
  })
})
const app_logged = (souk: any) => souk.app.logged.filter((l: any) => l.level !== 'info')
