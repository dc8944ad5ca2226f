/** The file beside the database that lists erased customers. It is append-only. */
export type ErasedList = {
  isThere(): Promise<boolean>
  /** Returns its lines; undefined without a file. */
  read(): Promise<readonly string[] | undefined>
  /** Appends lines. Resolves when they are durable. */
  append(lines: readonly string[]): Promise<void>
  /** The path, for operators. */
  readonly path: string
}
