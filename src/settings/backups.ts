/** Backup targets and retention. */
import { resolve } from 'node:path'
import { apiUrl, boolean, bucketName, integer, prefix, secret, setting, token } from './kinds.ts'

export const backups = {
  BACKUP_ENABLED: setting(
    'backupEnabled',
    'boolean',
    'true',
    'Back up the embedded database every night, and warn if a backup fails',
    boolean,
  ),
  BACKUP_DIR: setting(
    'backupDir',
    'path',
    undefined,
    'Directory of the backups, best on another disk. Default without a bucket: DATA_DIR/backups',
    (text) => resolve(text),
  ),
  BACKUP_S3_ENDPOINT: setting('backupS3Endpoint', 'URL', undefined, 'URL of the S3-compatible store for backups', apiUrl),
  BACKUP_S3_BUCKET: setting('backupS3Bucket', 'text', undefined, 'Existing bucket for backups', bucketName),
  BACKUP_S3_KEY_ID: setting('backupS3KeyId', 'text', undefined, 'Access key id for the backup bucket', token),
  BACKUP_S3_SECRET: secret('backupS3Secret', 'text', 'Secret access key for the backup bucket', token),
  BACKUP_S3_REGION: setting('backupS3Region', 'text', 'us-east-1', 'Region of the backup bucket', bucketName),
  BACKUP_S3_PREFIX: setting(
    'backupS3Prefix',
    'text',
    'souk-backups/',
    'Prefix of object names; must differ for each instance that shares the bucket',
    prefix,
  ),
  BACKUP_PASSPHRASE: secret(
    'backupPassphrase',
    'text',
    'Encrypts backups including the keys, so that a restore needs only the bucket and this passphrase. At least 12 characters; required with a bucket. Keep a copy elsewhere',
    (text) => {
      if (text.length < 12 || text.length > 1_000) throw new Error('12 to 1,000 characters')
      return text
    },
  ),
  BACKUP_KEEP_DAILY: setting('backupKeepDaily', 'integer', '7', 'Number of daily backups to keep', integer(1, 1_000)),
  BACKUP_KEEP_WEEKLY: setting('backupKeepWeekly', 'integer', '4', 'Number of weekly backups to keep', integer(0, 1_000)),
  BACKUP_KEEP_MONTHLY: setting('backupKeepMonthly', 'integer', '6', 'Number of monthly backups to keep', integer(0, 1_000)),
  BACKUP_LATE_HOURS: setting(
    'backupLateHours',
    'integer',
    '30',
    'Hours after which the last backup is late. A late backup is created immediately, and reported in the log and metrics',
    integer(1, 10_000),
  ),
} as const
