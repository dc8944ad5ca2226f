import { deviceOf, readChunks } from '../../../clients/atomic-files.ts'
import { createBucketStore } from '../../../clients/backups/bucket.ts'
import { createFolderStore } from '../../../clients/backups/folder.ts'
import { withStoreDeadline } from '../../../clients/backups/store-deadline.ts'
import type { Config } from '../../../config.ts'
import type { Deps } from '../../../core/deps.ts'
import type { MediaDeps } from '../../catalog/media/index.ts'
import type { LendingDocumentDeps } from '../../lending/lending-document/index.ts'
import type { BackupPlace, BackupTarget } from './targets.ts'

/** Reads the file of a copy. */
export const readCopy = (path: string): AsyncGenerator<Uint8Array> => readChunks(path, 'The copy is gone')

type Port = Parameters<typeof createBucketStore>[1] & { readonly now: () => number }

/** Returns the default directory of backups. */
export const backupsDirectory = ({ dataDir }: Pick<Config, 'dataDir'>): string => `${dataDir}/backups`

/** Returns the configured places, a bucket before a folder; by default the data directory. */
export function backupPlaces(config: Config, { now, ...port }: Port): readonly BackupPlace[] {
  const { backupS3Endpoint: endpoint, backupS3Bucket: bucket, backupS3KeyId: keyId, backupS3Secret: secret, backupDir } = config
  const places: BackupPlace[] = []
  if (endpoint !== undefined && bucket !== undefined && keyId !== undefined && secret !== undefined) {
    const account = { endpoint, bucket, keyId, secret, region: config.backupS3Region, prefix: config.backupS3Prefix }
    places.push({ store: createBucketStore(account, port), isNamed: true })
  }
  if (backupDir !== undefined) places.push({ store: withStoreDeadline(createFolderStore(backupDir, now)), isNamed: true })
  return places.length > 0 ? places : [{ store: withStoreDeadline(createFolderStore(backupsDirectory(config), now)), isNamed: false }]
}

/** What this process knows about backups. */
type BackupState = {
  /** When the first backup could be made, in milliseconds since the epoch. */
  readonly since: number
  /** The newest known backup of any place. */
  last?: { readonly at: number; readonly bytes: number; readonly durationMs?: number }
  /** The start time of the newest backup of each place, if known. */
  readonly lastIn: Map<BackupPlace, number>
  /** Failed attempts. */
  failures: number
  /** The problems of the last quick check. */
  problems?: number
  /** Running backups, one per place. */
  readonly running: Map<BackupPlace, Promise<void>>
}

export const backupProviders = ({ config, log, sleep, clock }: Pick<Deps, 'config' | 'log' | 'sleep' | 'clock'>) => ({
  backupPlaces: backupPlaces(config, { log, sleep, now: clock.now }),
  /** Opened places, since deriving the key of the passphrase is slow. */
  backupTargets: new Map<BackupPlace, BackupTarget>(),
  readFile: readCopy,
  deviceOf,
  backupState: { since: clock.now(), lastIn: new Map(), failures: 0, running: new Map() } as BackupState,
})
export type BackupDeps = Pick<
  Deps,
  'config' | 'db' | 'clock' | 'clockWatch' | 'log' | 'sleep' | 'randomBytes' | 'build' | 'keyring' | 'diskFree'
> &
  Pick<LendingDocumentDeps, 'documentStores' | 'lendingDocumentStore'> &
  Pick<MediaDeps, 'mediaStore'> &
  ReturnType<typeof backupProviders>
