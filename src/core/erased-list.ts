/** The list of those whose personal data was erased, beside the database: a file to which lines are added. */
export type ErasedList = {
  isThere(): Promise<boolean>
  /** Its lines; undefined where there is no such file. */
  read(): Promise<readonly string[] | undefined>
  /** Adds lines; they are on the disk when it resolves. */
  append(lines: readonly string[]): Promise<void>
  /** Where it is, for people. */
  readonly path: string
}
