import type { Config } from '../../config.ts'
import type { DocumentStore } from '../../core/documents.ts'
import { createFileStore } from './files.ts'
import { createS3Store, type S3Account } from './s3.ts'

/** Where documents and pictures are put, and where those are that were put before the settings said otherwise. */
export type DocumentStores = {
  readonly current: DocumentStore
  /** Where pictures are put. */
  readonly pictures: DocumentStore
  /** The store that a file is said to be in; undefined where the settings know it no more. */
  of(kind: DocumentStore['kind']): DocumentStore | undefined
}

/** The directories below the data directory. */
export const documentsDirectory = ({ dataDir }: Pick<Config, 'dataDir'>): string => `${dataDir}/documents`
export const picturesDirectory = ({ dataDir }: Pick<Config, 'dataDir'>): string => `${dataDir}/media`

/** The stores that the settings name. Nothing is opened, made or called. */
export function documentStores(config: Config, port: Parameters<typeof createS3Store>[1]): DocumentStores {
  const stores = {
    FILES: createFileStore(documentsDirectory(config)),
    S3: bucketOf(
      [config.documentsS3Endpoint, config.documentsS3Bucket, config.documentsS3KeyId, config.documentsS3Secret],
      { region: config.documentsS3Region, prefix: config.documentsS3Prefix },
      (account) => createS3Store(account, port),
    ),
    MEDIA_FILES: createFileStore(picturesDirectory(config), 'MEDIA_FILES'),
    MEDIA_S3: bucketOf(
      [config.mediaS3Endpoint, config.mediaS3Bucket, config.mediaS3KeyId, config.mediaS3Secret],
      { region: config.mediaS3Region, prefix: config.mediaS3Prefix },
      (account) => createS3Store(account, port, 'MEDIA_S3'),
    ),
  }
  return { current: stores.S3 ?? stores.FILES, pictures: stores.MEDIA_S3 ?? stores.MEDIA_FILES, of: (kind) => stores[kind] }
}

type Named = string | undefined

/** Undefined where the settings name none. */
function bucketOf(
  [endpoint, bucket, keyId, secret]: readonly [Named, Named, Named, Named],
  where: Pick<S3Account, 'region' | 'prefix'>,
  make: (account: S3Account) => DocumentStore,
): DocumentStore | undefined {
  if (endpoint === undefined || bucket === undefined || keyId === undefined || secret === undefined) return undefined
  return make({ endpoint, bucket, keyId, secret, ...where })
}
