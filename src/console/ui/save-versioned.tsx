import { ApiError } from '../lib/api/api-error.ts'
import type { Resource } from '../lib/api/resource.ts'
import { diffExcerpts } from '../lib/format/truncate.ts'
import type { Versioned } from '../lib/forms/use-draft.ts'
import { common } from '../lib/i18n/common.ts'
import { askChoice } from './dialog.tsx'

type SaveOptions<Answer, Record> = {
  /** Sends the write for a version; undefined sends it unconditionally. */
  readonly save: (etag: string | undefined) => Promise<Answer>
  /** Reads the present version after a conflict. */
  readonly theirs: () => Promise<Versioned<Record>>
  /** Lists what differs, as names and texts. */
  readonly differences: (theirs: Record) => readonly (readonly [name: string, yours: string, theirs: string])[]
  /** Called if the person wants to view the other version. */
  readonly onTheirs: (now: Versioned<Record>) => void
  /** Whether the changed fields are unchanged in the other version: then there is no conflict. */
  readonly isSame?: (theirs: Record) => boolean
  /** Returns the result if the other version has the change already, by an earlier attempt or another person. */
  readonly done?: (now: Versioned<Record>) => Answer | undefined
  /** Whether `save` deletes the record. */
  readonly removes?: boolean
}

/**
 * Saves a record by `If-Match`. After a conflict it shows both versions; the person can view the other one or
 * overwrite it.
 * @returns the result of `save` or `done`; undefined if nothing was sent: then the typed values stay
 */
export async function saveVersioned<Answer, Record>(
  etag: string,
  { save, theirs, differences, onTheirs, isSame = () => false, done = () => undefined, removes = false }: SaveOptions<Answer, Record>,
): Promise<Answer | undefined> {
  let version = etag
  for (;;) {
    try {
      return await save(version || undefined)
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 412) throw error
      const now = await theirs()
      // A refusal of the present version would repeat for ever.
      if (now.etag !== version && isSame(now.data)) {
        version = now.etag
        continue
      }
      const made = now.etag === version ? undefined : done(now)
      if (made) return made
      const rows = differences(now.data).map(([name, yours, there]) => [name, ...diffExcerpts(yours, there)] as const)
      const chosen = await askChoice({
        title: common('conflictTitle'),
        action: common(removes ? 'remove' : 'conflictMine'),
        otherwise: common('conflictLook'),
        danger: true,
        body: (
          <>
            <p>{common(removes ? 'conflictRemoval' : 'conflictText')}</p>
            <table class="compare">
              <thead>
                <tr>
                  <td />
                  <th scope="col">{common('conflictYours')}</th>
                  <th scope="col">{common('conflictTheirs')}</th>
                </tr>
              </thead>
              <tbody>
                {rows.map(([name, yours, there]) => (
                  <tr key={name}>
                    <th scope="row">{name}</th>
                    <td>
                      <bdi>{yours}</bdi>
                    </td>
                    <td>
                      <bdi>{there}</bdi>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </>
        ),
      })
      if (chosen !== 'action') {
        if (chosen === 'otherwise') onTheirs(now)
        return undefined
      }
      version = now.etag
    }
  }
}

/** How a change of a record is saved that a resource shows. */
export type RecordOptions<Data> = Omit<SaveOptions<Versioned<Data>, Data>, 'theirs' | 'onTheirs' | 'removes'>
export type RecordResource<Data> = Pick<Resource<Versioned<Data>>, 'put' | 'read'>

/**
 * Saves a change of a record that no form edits, such as its status, and shows the result.
 * @returns the stored record; undefined if nothing was sent
 */
export async function saveRecord<Data>(
  resource: RecordResource<Data>,
  etag: string,
  options: RecordOptions<Data>,
): Promise<Versioned<Data> | undefined> {
  const saved = await saveVersioned<Versioned<Data>, Data>(etag, { ...options, theirs: resource.read, onTheirs: resource.put })
  if (saved) resource.put(saved)
  return saved
}
