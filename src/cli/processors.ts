import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { databaseFile, isThere } from '../../db/open.ts'
import type { Config } from '../config.ts'
import type { Instance } from '../instance.ts'
import { type Probed, probeAccounts } from '../modules/payments/processor-account/index.ts'
import type { Input } from './command.ts'
import { failureStatus } from './failure.ts'
import { withExistingInstance, withInstance } from './instance-command.ts'

/** `souk processors`: checks the keys of every configured processor account. */
export async function processors({ config: settings }: Input): Promise<number> {
  const config = settings()
  const checked: Probed[] = []
  const report = (probed: Probed) => {
    checked.push(probed)
    const { problem } = probed
    if (problem === undefined) process.stdout.write(`ok    ${subjectOf(probed)}\n`)
    else process.stderr.write(`FAIL  ${subjectOf(probed)}\n      ${problem}\n`)
  }
  await withSettings(config, ({ deps }) => probeAccounts(deps, report))
  if (checked.length === 0) process.stdout.write('No payment processor account is configured, neither in the settings nor by a shop.\n')
  return checked.some(({ problem }) => problem !== undefined) ? failureStatus : 0
}

/** Names the owner, the mode and the host of an account. */
function subjectOf({ processor, shopName, mode, host }: Probed): string {
  const where = [mode, host].filter((part) => part !== undefined).join(', ')
  return `${processor} of ${shopName === undefined ? 'the settings' : `shop ${shopName}`}${where === '' ? '' : ` (${where})`}`
}

/** Without a database only the accounts of the settings are checked; none is created. */
async function withSettings(config: Config, run: (instance: Instance) => Promise<void>): Promise<void> {
  if (!config.databaseUrl.startsWith('file:') || isThere(databaseFile(config.databaseUrl))) return withExistingInstance(config, run)
  const dataDir = mkdtempSync(join(tmpdir(), 'souk-processors-'))
  try {
    await withInstance({ ...config, dataDir, databaseUrl: `file:${join(dataDir, 'souk.db')}` }, run)
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}
