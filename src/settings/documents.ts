/** The store of lending documents. */
import { apiUrl, bucketName, prefix, secret, setting, token } from './kinds.ts'

export const documents = {
  DOCUMENTS_S3_ENDPOINT: setting(
    'documentsS3Endpoint',
    'URL',
    undefined,
    'Where the S3-compatible store is that keeps the documents of lending applications; unset: DATA_DIR does',
    apiUrl,
  ),
  DOCUMENTS_S3_BUCKET: setting('documentsS3Bucket', 'text', undefined, 'The bucket of that store, which is there already', bucketName),
  DOCUMENTS_S3_KEY_ID: setting('documentsS3KeyId', 'text', undefined, 'Id of the access key to that bucket', token),
  DOCUMENTS_S3_SECRET: secret('documentsS3Secret', 'text', 'The secret access key to that bucket', token),
  DOCUMENTS_S3_REGION: setting('documentsS3Region', 'text', 'us-east-1', 'Region of that bucket', bucketName),
  DOCUMENTS_S3_PREFIX: setting(
    'documentsS3Prefix',
    'text',
    'souk/',
    'What the names of its objects begin with: another one for each instance that shares the bucket',
    prefix,
  ),
} as const
