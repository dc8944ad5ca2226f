/** Reads the chains of CHAINS, and names each step on standard output, until it is killed or there is nothing more to read. */
import { writeSync } from 'node:fs'
import { parseConfig } from '../../src/config.ts'
import { openInstance } from '../../src/instance.ts'
import { syncChains } from '../../src/modules/trust/attestation/index.ts'

const instance = await openInstance({ config: parseConfig(Bun.env as Record<string, string>), as: 'command' })
await syncChains(instance.deps, { onStep: (step) => void writeSync(1, `${step.kind}\n`) })
await instance.close()
