import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Resource } from '../lib/api/resource.ts'
import type { Draft } from '../lib/forms/draft.ts'
import { useDraft, type Versioned } from '../lib/forms/use-draft.ts'
import { type SaveOptions, saveVersioned } from './save-versioned.tsx'

/** The form of a stored record. */
export type RecordEditor<Data, Values extends object> = {
  /** One signal per field. */
  readonly of: Draft<Values>
  /** Returns the form's values. */
  now(): Values
  /** Whether something is typed that is not saved. */
  readonly dirty: boolean
  /** Returns the version that the form started from and that a save changes. */
  base(): Versioned<Data>
  /**
   * Saves a change and shows the stored record. Values that were typed meanwhile stay unsaved. A conflict about other
   * fields is no conflict; a version with the sent values means that an earlier attempt succeeded.
   * @returns the stored record; undefined if the other version was viewed or the question closed
   */
  save(options: Omit<SaveOptions<Versioned<Data>, Data>, 'onTheirs' | 'removes'>): Promise<Versioned<Data> | undefined>
}

/**
 * Edits a record that can change meanwhile. A version with the same values replaces the base version; one with
 * other values replaces an untouched form and conflicts with a changed one.
 * @param resource shows the record
 * @param valuesOf returns the form's values, which JSON can hold
 */
export function useRecordEditor<Data extends object, Values extends object>(
  resource: Pick<Resource<Versioned<Data>>, 'put'>,
  record: Versioned<Data>,
  valuesOf: (data: Data) => Values,
): RecordEditor<Data, Values> {
  const idOf = ({ data }: Versioned<Data>) => ('id' in data ? String(data.id) : '')
  const draft = useDraft(idOf(record), valuesOf(record.data))
  const base = useRef(record)
  if (idOf(base.current) !== idOf(record)) base.current = record
  const hasValues = (data: Data, values: Values) => JSON.stringify(valuesOf(data)) === JSON.stringify(values)
  const isSame = (data: Data) => hasValues(data, valuesOf(base.current.data))
  function replace(version: Versioned<Data>): void {
    base.current = version
    draft.reset(valuesOf(version.data))
  }
  useLayoutEffect(() => {
    if (isSame(record.data)) base.current = record
    else if (!draft.dirty) replace(record)
  }, [record.data, record.etag])
  return {
    of: draft.of,
    now: draft.now,
    get dirty() {
      return draft.dirty
    },
    base: () => base.current,
    async save(options) {
      const sent = draft.now()
      const saved = await saveVersioned<Versioned<Data>, Data>(base.current.etag, {
        isSame,
        done: (version) => (hasValues(version.data, sent) ? version : undefined),
        ...options,
        onTheirs(version) {
          replace(version)
          resource.put(version)
        },
      })
      if (!saved) return undefined
      base.current = saved
      draft.saved(valuesOf(saved.data), sent)
      resource.put(saved)
      return saved
    },
  }
}
