/**
 * Prints how many modules of viem are loaded after the chain jobs, without CHAINS and then with it. Needs a new
 * process.
 */
import { createRequire } from 'node:module'
import { syncChains } from '../../../src/modules/trust/attestation/index.ts'
import { testApp } from '../app.ts'

const require = createRequire(import.meta.url)
const count = () => Object.keys(require.cache).filter((path) => path.includes('/node_modules/viem/')).length
const settings = [{}, { CHAINS: JSON.stringify([{ chainId: 8_453, rpc: ['http://127.0.0.1:1/key'] }]) }]
const counts: number[] = []
for (const each of settings) {
  await using app = await testApp(each)
  await app.call('GET', '/v2/trust-fabric/stats')
  await syncChains(app.deps, { maxMs: 0 })
  counts.push(count())
}
process.stdout.write(JSON.stringify(counts))
process.exit(0)
