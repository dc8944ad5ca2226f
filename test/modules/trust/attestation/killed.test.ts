import { expect, setDefaultTimeout, test } from 'bun:test'
import { describeChain } from '../../../support/chain/anvil.ts'
import { startChain } from '../../../support/chain/eas.ts'
import { faults, startProxy } from '../../../support/chain/proxy.ts'
import { allGrants, chainsSetting, openChainInstance, wallets } from '../../../support/chain/syncing.ts'
import { startChild } from '../../../support/process.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const { platform, lender } = wallets

describeChain('a process that is killed while it reads', () => {
  test('after a process is killed, the next one continues from the last write, and the counts match the chain', async () => {
    await using chain = await startChain()
    await using proxy = startProxy(chain.url)
    const chains = [{ chain, urls: [proxy.url] }]
    await using souk = await openChainInstance(chains)
    await souk.grant(allGrants)
    const batch = [
      ...Array.from({ length: 50 }, () => ({ schema: 'A' as const, attester: platform })),
      ...Array.from({ length: 50 }, () => ({ schema: 'B' as const, attester: lender })),
    ]
    for (let nth = 0; nth < 8; nth++) {
      const [first = '0x'] = await chain.attest(batch)
      await chain.revoke([first])
    }
    await chain.mine(3)
    proxy.always(faults.cappedAt(2, 'limited to 2 blocks'))
    const { url, dataDir } = souk.app.database
    const { jwtSecrets, encryptionKeys, integrationApiKey } = souk.deps.config
    const env = {
      DATA_DIR: dataDir,
      DATABASE_URL: url,
      CHAINS: chainsSetting(chains),
      JWT_SECRET: String(jwtSecrets),
      ENCRYPTION_KEY: String(encryptionKeys),
      INTEGRATION_API_KEY: String(integrationApiKey),
      LOG_LEVEL: 'error',
    }
    const cursors: number[] = []
    for (const after of [2, 3]) {
      await using child = startChild('sync-until-killed.ts', [], env)
      let read = 0
      for await (const line of child.lines) {
        if (line === 'READ') read++
        if (read < after) continue
        // Kills it at a random point of the next step.
        child.kill()
        break
      }
      await child.exited
      cursors.push((await souk.sync(chain.chainId)).countedTo)
      // Its lease expires.
      await souk.deps.db.write((tx) => souk.deps.attestationStore.change(tx, chain.chainId, { leaseUntil: 0 }))
    }
    expect(cursors).toEqual(cursors.toSorted((one, other) => one - other))
    expect(cursors[0]).toBeGreaterThanOrEqual(chain.startBlock + 3)
    expect(cursors.at(-1)).toBeLessThan((await chain.block()).number - 2)
    await souk.expectTruth(chain)
    await souk.run()
    expect((await souk.sync(chain.chainId)).countedTo).toBe((await chain.block()).number - 2)
    await souk.expectTruth(chain)
  })
})
