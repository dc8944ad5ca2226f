import type { Config } from '../../config.ts'
import type { DocumentStore } from '../../core/documents.ts'
import { createFileStore } from './files.ts'
import { createS3Store } from './s3.ts'

/** Where documents are put, and where those are that were put before the settings said otherwise. */
export type DocumentStores = {
  readonly current: DocumentStore
  /** The store that a document says it is in; undefined where the settings know it no more. */
  of(kind: DocumentStore['kind']): DocumentStore | undefined
}

/** The directory below the data directory. */
export const documentsDirectory = ({ dataDir }: Pick<Config, 'dataDir'>): string => `${dataDir}/documents`

/** The stores that the settings name. Nothing is opened, made or called. */
export function documentStores(config: Config, port: Parameters<typeof createS3Store>[1]): DocumentStores {
  const files = createFileStore(documentsDirectory(config))
  const { documentsS3Endpoint: endpoint, documentsS3Bucket: bucket, documentsS3KeyId: keyId, documentsS3Secret: secret } = config
  const s3 =
    endpoint !== undefined && bucket !== undefined && keyId !== undefined && secret !== undefined
      ? createS3Store({ endpoint, bucket, keyId, secret, region: config.documentsS3Region, prefix: config.documentsS3Prefix }, port)
      : undefined
  return { current: s3 ?? files, of: (kind) => ({ FILES: files, S3: s3 })[kind] }
}
