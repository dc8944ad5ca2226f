/** Lists that are replaced as a whole, changed one row at a time. */
import { saveVersioned } from '../../ui/save-versioned.tsx'

export type VersionedRows<Row> = { readonly data: { data: Row[] }; readonly etag: string }

/**
 * Saves a change of one row. After a conflict it applies the change to the other list, so that its rows stay.
 * @param change returns the new list
 * @param isDone whether a list has the change already
 * @returns undefined if `onViewCurrent` shows the other list
 */
export function saveRows<Row>(
  current: VersionedRows<Row>,
  {
    change,
    put,
    read,
    differences,
    isDone,
    onViewCurrent,
  }: {
    change: (rows: readonly Row[]) => readonly Row[]
    put: (rows: Row[], etag: string | undefined) => Promise<VersionedRows<Row>>
    read: () => Promise<VersionedRows<Row>>
    differences: (theirs: readonly Row[]) => readonly (readonly [name: string, yours: string, theirs: string])[]
    isDone: (theirs: readonly Row[]) => boolean
    onViewCurrent: (current: VersionedRows<Row>) => void
  },
): Promise<VersionedRows<Row> | undefined> {
  let rows: readonly Row[] = current.data.data
  return saveVersioned(current.etag, {
    save: (version) => put([...change(rows)], version),
    readCurrent: async () => {
      const current = await read()
      rows = current.data.data
      return current
    },
    differences: (theirs: { data: Row[] }) => differences(theirs.data),
    findSaved: (current: VersionedRows<Row>) => (isDone(current.data.data) ? current : undefined),
    onViewCurrent,
  })
}
