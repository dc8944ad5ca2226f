import { expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
// The child runs on the engine of the suite.
import '../../../../db/columns.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

test('only an instance that reads chains loads viem', async () => {
  const script = join(import.meta.dir, '../../../support/chain/loaded-modules.ts')
  const child = Bun.spawn([process.execPath, script], { stdout: 'pipe', stderr: 'inherit', env: process.env })
  const [modulesWithout, modulesWithChains] = JSON.parse(await new Response(child.stdout).text()) as number[]
  expect(modulesWithout).toBe(0)
  expect(modulesWithChains).toBeGreaterThan(100)
}, 60_000)
