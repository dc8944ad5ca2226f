/**
 * Where copies of an instance lie: a folder, or a bucket of an S3-compatible service. A store knows names and bytes, and nothing of what they
 * are. A chunk, in either direction, is whole until the next one is asked for.
 */
export type BackupStore = {
  readonly kind: 'FOLDER' | 'S3'
  /** Where it is, for people: a path, or a bucket and what its names begin with. */
  readonly place: string
  /**
   * Keeps what comes, whole or not at all, in place of what had the name: on the disk, or taken by the other side, when it resolves.
   * @param name one that `isBackupName` takes
   * @param expected about how many bytes will come, where they may be many
   * @returns how many bytes were kept
   * @throws what the chunks throw; AppError UNAVAILABLE when the store is full or does not answer
   */
  put(name: string, chunks: AsyncIterable<Uint8Array>, expected?: number): Promise<number>
  /**
   * Takes a file that lies on the same disk, as it is, by a second name for it; false where that cannot be, and then nothing was done.
   * Undefined in stores that cannot.
   */
  adopt?(name: string, path: string): Promise<boolean>
  /**
   * What is kept under a name, undefined where there is nothing. Nothing is read before the chunks are asked for.
   * @throws AppError UNAVAILABLE when the store does not answer
   */
  get(name: string): Promise<KeptCopy | undefined>
  /** Removes what is kept under a name; no error where there is nothing. */
  delete(name: string): Promise<void>
  /** What is there whole whose name begins so, by name in the order of its bytes. What has no name of ours is left out. */
  list(prefix: string): AsyncGenerator<ListedCopy>
  /** Bytes that may still be put there, as far as that is known. */
  free(): Promise<number | undefined>
}

export type KeptCopy = {
  readonly bytes: number
  /** @throws AppError NOT_FOUND when it was removed meanwhile; UNAVAILABLE when the store ceases to answer */
  chunks(): AsyncGenerator<Uint8Array>
}

/** `at`: when it was put there, in milliseconds since the epoch, by the clock of the store. */
export type ListedCopy = { readonly name: string; readonly bytes: number; readonly at: number }

/** Whether a text may name a copy: one to six words of ASCII with slashes between, which no file system and no bucket takes for anything else. */
export const isBackupName = (text: string): boolean =>
  text.length <= 200 && /^[A-Za-z0-9][\w.-]*(?:\/[A-Za-z0-9][\w.-]*){0,5}$/.test(text) && !text.endsWith(unfinished)

/** What a folder's files end with that are not whole. */
export const unfinished = '.tmp'
