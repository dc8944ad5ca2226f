/** Kinds of stores for documents and for pictures: the data directory or a bucket. */
type StoreKind = 'FILES' | 'S3' | 'MEDIA_FILES' | 'MEDIA_S3'
export const storeKinds = ['FILES', 'S3', 'MEDIA_FILES', 'MEDIA_S3'] as const satisfies readonly StoreKind[]
/** Returns whether the store holds pictures, which are stored unsealed. */
export const isPictureStore = (kind: StoreKind): kind is 'MEDIA_FILES' | 'MEDIA_S3' => kind === 'MEDIA_FILES' || kind === 'MEDIA_S3'

/**
 * Stores files of merchants. Documents are sealed before, so a store sees only names and bytes. A yielded chunk is
 * valid until the next one is requested.
 */
export type DocumentStore = {
  readonly kind: StoreKind
  /**
   * Stores a file completely or not at all. Resolves when it is durable.
   * @param name a new name of `documentName`
   * @returns the number of bytes
   * @throws errors of `chunks`; AppError UNAVAILABLE if the disk is full or the store does not respond
   */
  put(name: string, chunks: AsyncIterable<Uint8Array>): Promise<number>
  /**
   * Returns a stored file; undefined if there is none. Reads nothing before `chunks` is called.
   * @throws AppError UNAVAILABLE if the store does not respond
   */
  get(name: string): Promise<StoredDocument | undefined>
  /** Deletes a file, also an incomplete one. Succeeds if there is none. */
  delete(name: string): Promise<void>
  /** Lists all files in no order, including incomplete ones. */
  list(): AsyncGenerator<ListedDocument>
  /** Free bytes, if known. */
  free(): Promise<number | undefined>
}

/** A stored file whose content is not read yet. */
export type StoredDocument = {
  readonly bytes: number
  /** @throws AppError NOT_FOUND if the file was deleted meanwhile; UNAVAILABLE if the store stops responding */
  chunks(): AsyncGenerator<Uint8Array>
}

/** `at`: upload time, in milliseconds since the epoch. */
export type ListedDocument = { readonly name: string; readonly bytes: number; readonly at: number }

const nameBytes = 20

/** Returns a random name for a file. It cannot be guessed and reveals nothing. */
export const documentName = (randomBytes: (count: number) => Uint8Array): string => Buffer.from(randomBytes(nameBytes)).toString('hex')

/** Returns whether a text has the form of `documentName`, so that it is safe as a file name. */
export const isDocumentName = (text: string): boolean => /^[0-9a-f]{40}$/.test(text)

/** Younger files may belong to an upload in progress. */
export const documentSettlesMs = 24 * 60 * 60 * 1000
