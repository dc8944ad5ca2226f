type Row = readonly [name: string, text: string]

/**
 * Lists the rows that differ between two versions of a record, for conflicts. Both have the same names in the same
 * order.
 */
export const diffRows = (yours: readonly Row[], theirs: readonly Row[]): readonly (readonly [string, string, string])[] =>
  yours.flatMap(([name, text], index) => {
    const other = theirs[index]?.[1] ?? ''
    return text === other ? [] : [[name, text, other] as const]
  })
