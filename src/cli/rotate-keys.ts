import { join } from 'node:path'
import { type DataDirLock, databaseFile, isThere, lockFile } from '../../db/open.ts'
import type { Config } from '../config.ts'
import { OperatorError } from '../core/errors.ts'
import { keyFile, rotateKeyFile } from '../keys.ts'
import { countSealed, resealSecrets, versionsInUse } from '../modules/identity/master-key/index.ts'
import type { Input } from './command.ts'
import { withExistingInstance } from './instance-command.ts'
import { onInterruption } from './interruption.ts'
import { createProgress } from './progress.ts'

/** `souk rotate-keys`: adds an encryption key and seals every secret again under it. */
export async function rotateKeys({ config: settings }: Input): Promise<number> {
  const config = settings()
  const lock = config.databaseUrl.startsWith('file:') ? lockRotation(config) : undefined
  try {
    return await withExistingInstance(config, async ({ deps }) => {
      // Several keys in use mean an interrupted rotation or an older backup, which is finished first.
      const unfinished = (await versionsInUse(deps.db)).length > 1
      const interruption = onInterruption(
        () =>
          'Stopped: not every secret is sealed under the new key yet, and the old one stays in use. Run it again: it goes on where it was',
      )
      if (!unfinished) addKey(config)
      const total = await countSealed(deps.db)
      const progress = createProgress({ total, label: 'Sealing anew', stream: process.stderr, unit: 'secrets' })
      const { resealed, retired } = await resealSecrets(deps, progress.at).finally(progress.end)
      interruption.end()
      printResult(config, { resealed, retired, unfinished })
      return 0
    })
  } finally {
    lock?.release()
  }
}

/** Two concurrent rotations would each add a key, and one key would be lost. */
function lockRotation(config: Config): DataDirLock {
  if (!isThere(databaseFile(config.databaseUrl))) throw new OperatorError(`There is no database in ${config.dataDir}, so no key to rotate`)
  const lock = lockFile(join(config.dataDir, 'rotation.db'))
  if (!lock) throw new OperatorError('Another rotate-keys is at work: let it finish')
  return lock
}

/** With keys in the settings, the operator has put the new one first. */
function addKey(config: Config): void {
  if (config.encryptionKeys.length === 0) rotateKeyFile(keyFile(config))
  else if (config.encryptionKeys.length === 1)
    throw new OperatorError('The keys are in the settings: set ENCRYPTION_KEY=new,old, restart every server with it, then run this with it')
}

function printResult(
  config: Config,
  { resealed, retired, unfinished }: { resealed: number; retired: string[]; unfinished: boolean },
): void {
  const secrets = resealed === 1 ? '1 secret is' : `${resealed} secrets are`
  process.stdout.write(`${secrets} sealed under the new key${retired.length > 0 ? `; ${retired.join(', ')} is retired` : ''}.\n`)
  if (config.encryptionKeys.length > 0)
    process.stdout.write(
      'The servers need no more than the first key once `souk check` finds no fault with it alone; old backups still need the others.\n',
    )
  else process.stdout.write(`Keep a copy of ${keyFile(config)} elsewhere: it has changed, and holds the old keys for old backups.\n`)
  if (unfinished && config.encryptionKeys.length === 0)
    process.stdout.write('This finished a change of keys that had been begun. Run it again for another new key.\n')
}
