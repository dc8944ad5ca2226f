import { type BackupStore, isBackupName } from '../../core/backup-store.ts'
import { createBucket, type Port, type S3Account } from '../documents/s3.ts'

/** Creates a store of backups in an S3-compatible bucket. */
export const createBucketStore = (account: S3Account, port: Port): BackupStore => ({
  kind: 'S3',
  place: `bucket ${account.bucket}, ${account.prefix}`,
  ...createBucket(account, port, {
    refuseName: (name) => {
      if (!isBackupName(name)) throw new Error('not a name of a copy')
    },
    isName: isBackupName,
    failed: 'backup.store_failed',
    unavailable: (code) => `The bucket of the backups does not answer, refuses the configured key, or is full (${code})`,
    missing: 'No such copy',
    neverReusesNames: false,
    isWaitedFor: false,
  }),
})
