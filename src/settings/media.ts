/** The store of shops' pictures and its limits. */
import { apiUrl, bucketName, integer, prefix, secret, setting, token } from './kinds.ts'

export const media = {
  MEDIA_QUOTA_MB: setting(
    'mediaQuotaMb',
    'integer',
    '1024',
    'Storage for the images of a shop in megabytes, without resized copies',
    integer(0, 10_000_000),
  ),
  MEDIA_S3_ENDPOINT: setting('mediaS3Endpoint', 'URL', undefined, 'URL of the S3-compatible store for images. Default: DATA_DIR', apiUrl),
  MEDIA_S3_BUCKET: setting('mediaS3Bucket', 'text', undefined, 'Existing bucket for images', bucketName),
  MEDIA_S3_KEY_ID: setting('mediaS3KeyId', 'text', undefined, 'Access key id for the image bucket', token),
  MEDIA_S3_SECRET: secret('mediaS3Secret', 'text', 'Secret access key for the image bucket', token),
  MEDIA_S3_REGION: setting('mediaS3Region', 'text', 'us-east-1', 'Region of the image bucket', bucketName),
  MEDIA_S3_PREFIX: setting(
    'mediaS3Prefix',
    'text',
    'souk-media/',
    'Prefix of object names; must differ for each instance that shares the bucket, and from the prefix of documents',
    prefix,
  ),
} as const
