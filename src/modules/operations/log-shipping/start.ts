import type { Deps } from '../../../core/deps.ts'
import { sha256 } from '../../../lib/seal.ts'
import { instanceIdentity } from '../../identity/master-key/index.ts'
import { type BackupDeps, openedTarget } from '../backup/index.ts'
import { startShipping } from './service.ts'
import type { ShippingDeps } from './shipper.ts'

/** Ships the log of an embedded database to the first configured backup place, if SHIP_LOG_SECONDS is set. */
export async function shipLog(
  deps: ShippingDeps & Pick<Deps, 'db' | 'processName'> & Pick<BackupDeps, 'backupPlaces' | 'backupTargets' | 'keyring'>,
): Promise<{ stop(): Promise<void> } | undefined> {
  const { config, db, backupPlaces, processName } = deps
  const place = backupPlaces.find(({ isNamed }) => isNamed)
  const { file } = db
  if (config.shipLogSeconds === undefined || !place || !file) {
    file?.releaseLog()
    file?.dropUnshipped()
    return undefined
  }
  let isSealed = false
  return startShipping(deps, {
    async openStore() {
      const target = await openedTarget(deps, place)
      isSealed = target.isSealed
      return target.store
    },
    keysText: () => (isSealed ? deps.keyring.secretsText() : undefined),
    followLog: (shipped) => file.followLog(shipped),
    releaseLog: () => file.releaseLog(),
    sizes: () => file.sizes(),
    everyMs: config.shipLogSeconds * 1_000,
    // The same id as in backups.
    instance: (await instanceIdentity(db)) ?? noInstance,
    // Machine and data directory, which survive a restart.
    shipper: sha256(`${processName.split(':', 1)[0]} ${config.dataDir}`).slice(0, 16),
  })
}

const noInstance = '00000000'
