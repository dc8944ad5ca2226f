/** Reads the chains of CHAINS until it is killed or has read everything. Prints the kind of each step. */
import { writeSync } from 'node:fs'
import { parseConfig } from '../../src/config.ts'
import { openInstance } from '../../src/instance.ts'
import { syncChains } from '../../src/modules/trust/attestation/index.ts'

const instance = await openInstance({ config: parseConfig(Bun.env as Record<string, string>), as: 'command' })
await syncChains(instance.deps, { onStep: (step) => void writeSync(1, `${step.kind}\n`) })
await instance.close()
