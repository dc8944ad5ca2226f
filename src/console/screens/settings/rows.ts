/** Lists that souk replaces as a whole, of which a screen changes one row at a time. */
import { saveVersioned } from '../../ui/form.tsx'

export type Rows<Row> = { readonly data: { data: Row[] }; readonly etag: string }

/**
 * Saves a change of one row. Where somebody else has saved the list meanwhile, and one says so, the change is made in theirs: their other rows
 * stay.
 * @param change makes the new list of one that is there
 * @param isDone whether the change is made in what is there already
 * @returns undefined when one wants to look at theirs, which `onTheirs` shows
 */
export function saveRows<Row>(
  held: Rows<Row>,
  {
    change,
    put,
    read,
    differences,
    isDone,
    onTheirs,
  }: {
    change: (rows: readonly Row[]) => readonly Row[]
    put: (rows: Row[], etag: string | undefined) => Promise<Rows<Row>>
    read: () => Promise<Rows<Row>>
    differences: (theirs: readonly Row[]) => readonly (readonly [name: string, yours: string, theirs: string])[]
    isDone: (theirs: readonly Row[]) => boolean
    onTheirs: (now: Rows<Row>) => void
  },
): Promise<Rows<Row> | undefined> {
  let rows: readonly Row[] = held.data.data
  return saveVersioned(held.etag, {
    save: (version) => put([...change(rows)], version),
    theirs: async () => {
      const now = await read()
      rows = now.data.data
      return now
    },
    differences: (theirs: { data: Row[] }) => differences(theirs.data),
    done: (now: Rows<Row>) => (isDone(now.data.data) ? now : undefined),
    onTheirs,
  })
}
