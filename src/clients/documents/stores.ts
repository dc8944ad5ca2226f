import type { Config } from '../../config.ts'
import type { DocumentStore } from '../../core/documents.ts'
import { createFileStore } from './files.ts'
import { createS3Store, type S3Account } from './s3.ts'

/** The stores of documents and pictures, including those of earlier settings. */
export type DocumentStores = {
  readonly current: DocumentStore
  /** The store of new pictures. */
  readonly pictures: DocumentStore
  /** Returns the store of a kind; undefined if it is not configured. */
  of(kind: DocumentStore['kind']): DocumentStore | undefined
}

/** Returns the directory of documents, in the data directory. */
export const documentsDirectory = ({ dataDir }: Pick<Config, 'dataDir'>): string => `${dataDir}/documents`
/** Returns the directory of pictures, in the data directory. */
export const picturesDirectory = ({ dataDir }: Pick<Config, 'dataDir'>): string => `${dataDir}/media`

/** Creates the configured stores. Nothing is opened, created or called. */
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

/** Returns undefined without settings. */
function bucketOf(
  [endpoint, bucket, keyId, secret]: readonly [Named, Named, Named, Named],
  where: Pick<S3Account, 'region' | 'prefix'>,
  make: (account: S3Account) => DocumentStore,
): DocumentStore | undefined {
  if (endpoint === undefined || bucket === undefined || keyId === undefined || secret === undefined) return undefined
  return make({ endpoint, bucket, keyId, secret, ...where })
}
