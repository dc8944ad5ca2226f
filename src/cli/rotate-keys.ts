import { join } from 'node:path'
import { type DataDirLock, databaseFile, isThere, lockFile } from '../../db/open.ts'
import type { Config } from '../config.ts'
import { OperatorError } from '../core/errors.ts'
import { keyFile, rotateKeyFile } from '../keys.ts'
import { countSealed, resealSecrets, versionsInUse } from '../modules/identity/master-key/index.ts'
import type { Input } from './command.ts'
import { countText } from './count-text.ts'
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
      const interruption = onInterruption(() => 'Stopped. Some secrets still use the old key, which stays in use. Run it again to resume')
      if (!unfinished) addKey(config)
      const total = await countSealed(deps.db)
      const progress = createProgress({ total, label: 'Re-encrypting', stream: process.stderr, unit: 'secrets' })
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
  if (!isThere(databaseFile(config.databaseUrl))) throw new OperatorError(`No database in ${config.dataDir}: there is no key to rotate`)
  const lock = lockFile(join(config.dataDir, 'rotation.db'))
  if (!lock) throw new OperatorError('Another rotate-keys is running. Wait for it to finish')
  return lock
}

/** With keys in the settings, the operator has put the new one first. */
function addKey(config: Config): void {
  if (config.encryptionKeys.length === 0) rotateKeyFile(keyFile(config))
  else if (config.encryptionKeys.length === 1)
    throw new OperatorError(
      'The keys are in the settings: set ENCRYPTION_KEY=new,old, restart all servers, then run this command with the same setting',
    )
}

function printResult(
  config: Config,
  { resealed, retired, unfinished }: { resealed: number; retired: string[]; unfinished: boolean },
): void {
  const secrets = countText(resealed, 'secret')
  process.stdout.write(`${secrets} re-encrypted with the new key${retired.length > 0 ? `; ${retired.join(', ')} retired` : ''}.\n`)
  if (config.encryptionKeys.length > 0)
    process.stdout.write(
      'When `souk check` finds no problem with the first key alone, the servers need only that key; old backups still need the others.\n',
    )
  else process.stdout.write(`Keep a new copy of ${keyFile(config)} elsewhere: it also contains the old keys, which old backups need.\n`)
  if (unfinished && config.encryptionKeys.length === 0)
    process.stdout.write('This completed an earlier, interrupted rotation. Run it again for a new key.\n')
}
