/**
 * Stores backups in a folder or in a bucket of an S3-compatible service. A yielded chunk is valid until the next one is
 * requested.
 */
export type BackupStore = {
  readonly kind: 'FOLDER' | 'S3'
  /** The location as operators see it: a path, or a bucket with its prefix. */
  readonly place: string
  /**
   * Stores a file completely or not at all, and replaces a file of the same name. Resolves when it is durable.
   * @param name must satisfy `isBackupName`
   * @param expected approximate number of bytes of a large file
   * @returns the number of bytes
   * @throws errors of `chunks`; AppError UNAVAILABLE if the store is full or does not respond
   */
  put(name: string, chunks: AsyncIterable<Uint8Array>, expected?: number): Promise<number>
  /**
   * Adds a file on the same disk by a hard link. Returns false, and does nothing, if that is impossible. Undefined in
   * stores without this operation.
   */
  adopt?(name: string, path: string): Promise<boolean>
  /**
   * Returns a stored file; undefined if there is none. Reads nothing before `chunks` is called.
   * @throws AppError UNAVAILABLE if the store does not respond
   */
  get(name: string): Promise<StoredCopy | undefined>
  /** Deletes a file. Succeeds if there is none. */
  delete(name: string): Promise<void>
  /**
   * Lists complete files whose name starts with `prefix`, in byte order of the names. Skips names that `isBackupName`
   * refuses.
   */
  list(prefix: string): AsyncGenerator<ListedCopy>
  /** Free bytes, if known. */
  free(): Promise<number | undefined>
}

/** A stored file whose content is not read yet. */
export type StoredCopy = {
  readonly bytes: number
  /** @throws AppError NOT_FOUND if the file was deleted meanwhile; UNAVAILABLE if the store stops responding */
  chunks(): AsyncGenerator<Uint8Array>
}

/** `at`: upload time by the store's clock, in milliseconds since the epoch. */
export type ListedCopy = { readonly name: string; readonly bytes: number; readonly at: number }

/** Checks a backup name: one to six path segments of ASCII characters that are safe in file systems and buckets. */
export const isBackupName = (text: string): boolean =>
  text.length <= 200 && /^[A-Za-z0-9][\w.-]*(?:\/[A-Za-z0-9][\w.-]*){0,5}$/.test(text) && !text.endsWith(unfinishedSuffix)

/** Suffix of incomplete files in a folder. */
export const unfinishedSuffix = '.tmp'
