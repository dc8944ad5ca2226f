/** Those of documents, and those of pictures: each in the data directory or in a bucket. */
export type StoreKind = 'FILES' | 'S3' | 'MEDIA_FILES' | 'MEDIA_S3'
export const storeKinds = ['FILES', 'S3', 'MEDIA_FILES', 'MEDIA_S3'] as const satisfies readonly StoreKind[]
/** Whether it is one of pictures: what the public sees lies there as it is. */
export const isOfPictures = (kind: StoreKind): kind is 'MEDIA_FILES' | 'MEDIA_S3' => kind === 'MEDIA_FILES' || kind === 'MEDIA_S3'

/**
 * Where the files of merchants lie. Documents are sealed before they are put there, so a store knows bytes and names, and nothing of whose they are. A
 * chunk, in either direction, is whole until the next one is asked for.
 */
export type DocumentStore = {
  readonly kind: StoreKind
  /**
   * Keeps what comes, whole or not at all: on the disk, or taken by the other side, when it resolves.
   * @param name one of `documentName`, used never before
   * @returns how many bytes were kept
   * @throws what the chunks throw; AppError UNAVAILABLE when the disk is full or the store does not answer
   */
  put(name: string, chunks: AsyncIterable<Uint8Array>): Promise<number>
  /**
   * What is kept under a name, undefined where there is nothing. Nothing is read before the chunks are asked for.
   * @throws AppError UNAVAILABLE when the store does not answer
   */
  get(name: string): Promise<KeptDocument | undefined>
  /** Removes what is kept under a name, or half-way put there; no error where there is nothing. */
  delete(name: string): Promise<void>
  /** Everything that is there in no order, what a crash left half-way too. */
  list(): AsyncGenerator<ListedDocument>
  /** Bytes that may still be put there, as far as that is known. */
  free(): Promise<number | undefined>
}

export type KeptDocument = {
  readonly bytes: number
  /** @throws AppError NOT_FOUND when it was removed meanwhile; UNAVAILABLE when the store ceases to answer */
  chunks(): AsyncGenerator<Uint8Array>
}

/** `at`: when it was put there, in milliseconds since the epoch. */
export type ListedDocument = { readonly name: string; readonly bytes: number; readonly at: number }

const nameBytes = 20

/** A name for a file: nobody guesses it, and it says nothing. */
export const documentName = (randomBytes: (count: number) => Uint8Array): string => Buffer.from(randomBytes(nameBytes)).toString('hex')

/** Whether a text is such a name. */
export const isDocumentName = (text: string): boolean => /^[0-9a-f]{40}$/.test(text)

/** Files that are no older may belong to an upload that is still under way. */
export const documentSettlesMs = 24 * 60 * 60 * 1000
