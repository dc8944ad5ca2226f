/** Backup targets and retention. */
import { resolve } from 'node:path'
import { apiUrl, boolean, bucketName, integer, prefix, secret, setting, token } from './kinds.ts'

export const backups = {
  BACKUP_ENABLED: setting(
    'backupEnabled',
    'boolean',
    'true',
    'Whether a server on the embedded database backs itself up every night, and warns when it could not',
    boolean,
  ),
  BACKUP_DIR: setting(
    'backupDir',
    'path',
    undefined,
    'Folder for the backups, best on another disk; unset, and no bucket named: DATA_DIR/backups',
    (text) => resolve(text),
  ),
  BACKUP_S3_ENDPOINT: setting('backupS3Endpoint', 'URL', undefined, 'Where the S3-compatible store is that keeps backups', apiUrl),
  BACKUP_S3_BUCKET: setting('backupS3Bucket', 'text', undefined, 'The bucket of that store, which is there already', bucketName),
  BACKUP_S3_KEY_ID: setting('backupS3KeyId', 'text', undefined, 'Id of the access key to that bucket', token),
  BACKUP_S3_SECRET: secret('backupS3Secret', 'text', 'The secret access key to that bucket', token),
  BACKUP_S3_REGION: setting('backupS3Region', 'text', 'us-east-1', 'Region of that bucket', bucketName),
  BACKUP_S3_PREFIX: setting(
    'backupS3Prefix',
    'text',
    'souk-backups/',
    'What the names of its objects begin with: another one for each instance that shares the bucket',
    prefix,
  ),
  BACKUP_PASSPHRASE: secret(
    'backupPassphrase',
    'text',
    'Seals the backups, and the keys with them, so that a bucket and this are all that a restore needs: keep it elsewhere too; at least 12 characters; required with a bucket',
    (text) => {
      if (text.length < 12 || text.length > 1_000) throw new Error('12 to 1,000 characters')
      return text
    },
  ),
  BACKUP_KEEP_DAILY: setting('backupKeepDaily', 'integer', '7', 'Of how many days the last backup is kept', integer(1, 1_000)),
  BACKUP_KEEP_WEEKLY: setting('backupKeepWeekly', 'integer', '4', 'Of how many weeks besides', integer(0, 1_000)),
  BACKUP_KEEP_MONTHLY: setting('backupKeepMonthly', 'integer', '6', 'Of how many months besides', integer(0, 1_000)),
  BACKUP_LATE_HOURS: setting(
    'backupLateHours',
    'integer',
    '30',
    'Older than this, the last backup is late: one is made at once, and the log and the metrics say so until there is one',
    integer(1, 10_000),
  ),
} as const
