import type { Versioned } from '../lib/api/api.ts'
import { ApiError } from '../lib/api/api-error.ts'
import type { Resource } from '../lib/api/resource.ts'
import { diffExcerpts } from '../lib/format/truncate.ts'
import { common } from '../lib/i18n/common.ts'
import { askChoice } from './dialog.tsx'

type SaveOptions<Answer, Record> = {
  /** Sends the write for a version; undefined sends it unconditionally. */
  readonly save: (etag: string | undefined) => Promise<Answer>
  /** Reads the present version after a conflict. */
  readonly readCurrent: () => Promise<Versioned<Record>>
  /** Lists what differs, as names and texts. */
  readonly differences: (theirs: Record) => readonly (readonly [name: string, yours: string, theirs: string])[]
  /** Called if the person wants to view the other version. */
  readonly onViewCurrent: (now: Versioned<Record>) => void
  /** Whether the changed fields are unchanged in the other version: then there is no conflict. */
  readonly isSame?: (theirs: Record) => boolean
  /** Returns the result if the other version has the change already, by an earlier attempt or another person. */
  readonly findSaved?: (now: Versioned<Record>) => Answer | undefined
  /** Whether `save` deletes the record. */
  readonly isDelete?: boolean
}

/**
 * Saves a record by `If-Match`. After a conflict it shows both versions; the person can view the other one or
 * overwrite it.
 * @returns the result of `save` or `findSaved`; undefined if nothing was sent: then the typed values stay
 */
export async function saveVersioned<Answer, Record>(
  etag: string,
  {
    save,
    readCurrent,
    differences,
    onViewCurrent,
    isSame = () => false,
    findSaved = () => undefined,
    isDelete = false,
  }: SaveOptions<Answer, Record>,
): Promise<Answer | undefined> {
  let version = etag
  for (;;) {
    try {
      return await save(version || undefined)
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 412) throw error
      const current = await readCurrent()
      // A refusal of the present version would repeat for ever.
      if (current.etag !== version && isSame(current.data)) {
        version = current.etag
        continue
      }
      const saved = current.etag === version ? undefined : findSaved(current)
      if (saved) return saved
      const rows = differences(current.data).map(([name, yours, there]) => [name, ...diffExcerpts(yours, there)] as const)
      const chosen = await askChoice({
        title: common('conflictTitle'),
        action: common(isDelete ? 'remove' : 'conflictMine'),
        alternative: common('conflictLook'),
        danger: true,
        body: (
          <>
            <p>{common(isDelete ? 'conflictRemoval' : 'conflictText')}</p>
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
        if (chosen === 'alternative') onViewCurrent(current)
        return undefined
      }
      version = current.etag
    }
  }
}

/** How a change of a record is saved that a resource shows. */
export type RecordOptions<Data> = Omit<SaveOptions<Versioned<Data>, Data>, 'readCurrent' | 'onViewCurrent' | 'isDelete'>
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
  const saved = await saveVersioned<Versioned<Data>, Data>(etag, { ...options, readCurrent: resource.read, onViewCurrent: resource.put })
  if (saved) resource.put(saved)
  return saved
}
