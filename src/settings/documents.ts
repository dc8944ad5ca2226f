/** The store of lending documents. */
import { apiUrl, bucketName, prefix, secret, setting, token } from './kinds.ts'

export const documents = {
  DOCUMENTS_S3_ENDPOINT: setting(
    'documentsS3Endpoint',
    'URL',
    undefined,
    'URL of the S3-compatible store for loan documents. Default: DATA_DIR',
    apiUrl,
  ),
  DOCUMENTS_S3_BUCKET: setting('documentsS3Bucket', 'text', undefined, 'Existing bucket for loan documents', bucketName),
  DOCUMENTS_S3_KEY_ID: setting('documentsS3KeyId', 'text', undefined, 'Access key id for the document bucket', token),
  DOCUMENTS_S3_SECRET: secret('documentsS3Secret', 'text', 'Secret access key for the document bucket', token),
  DOCUMENTS_S3_REGION: setting('documentsS3Region', 'text', 'us-east-1', 'Region of the document bucket', bucketName),
  DOCUMENTS_S3_PREFIX: setting(
    'documentsS3Prefix',
    'text',
    'souk/',
    'Prefix of object names; must differ for each instance that shares the bucket',
    prefix,
  ),
} as const
