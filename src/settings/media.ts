/** The store of shops' pictures and its limits. */
import { apiUrl, bucketName, integer, prefix, secret, setting, token } from './kinds.ts'

export const media = {
  MEDIA_QUOTA_MB: setting(
    'mediaQuotaMb',
    'integer',
    '1024',
    'Megabytes that the pictures of a shop may take, not counting the sizes that are made of them',
    integer(0, 10_000_000),
  ),
  MEDIA_S3_ENDPOINT: setting(
    'mediaS3Endpoint',
    'URL',
    undefined,
    'Where the S3-compatible store is that keeps the pictures of shops; unset: DATA_DIR does',
    apiUrl,
  ),
  MEDIA_S3_BUCKET: setting('mediaS3Bucket', 'text', undefined, 'The bucket of that store, which is there already', bucketName),
  MEDIA_S3_KEY_ID: setting('mediaS3KeyId', 'text', undefined, 'Id of the access key to that bucket', token),
  MEDIA_S3_SECRET: secret('mediaS3Secret', 'text', 'The secret access key to that bucket', token),
  MEDIA_S3_REGION: setting('mediaS3Region', 'text', 'us-east-1', 'Region of that bucket', bucketName),
  MEDIA_S3_PREFIX: setting(
    'mediaS3Prefix',
    'text',
    'souk-media/',
    'What the names of its objects begin with: another one for each instance that shares the bucket, and another than that of documents',
    prefix,
  ),
} as const
