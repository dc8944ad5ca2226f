import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Versioned } from '../lib/api/api.ts'
import type { Draft } from '../lib/forms/draft.ts'
import { useDraft } from '../lib/forms/use-draft.ts'
import { type RecordOptions, type RecordResource, saveVersioned } from './save-versioned.tsx'

/** The form of a record. A new record has no base version. */
export type RecordEditor<Data, Values extends object, Base = Versioned<Data>> = {
  /** One signal per field. */
  readonly fields: Draft<Values>
  /** Returns the form's values. */
  values(): Values
  /** Whether something is typed that is not saved. */
  readonly isDirty: boolean
  /** Returns the version that the form started from and that a save changes. */
  base(): Base
  /** Takes a version as base without changing the fields, after one of several steps of a save. */
  rebase(version: Versioned<Data>): void
  /**
   * Saves a change and shows the stored record. Values that were typed meanwhile stay unsaved. A conflict about other
   * fields is no conflict; a version with the sent values means that an earlier attempt succeeded.
   * @returns the stored record; undefined if the other version was viewed or the question closed
   */
  save(options: RecordOptions<Data>): Promise<Versioned<Data> | undefined>
}

/**
 * Edits a record that can change meanwhile. A version with the same values replaces the base version; one with
 * other values replaces an untouched form and conflicts with a changed one.
 * @param resource shows the record; absent for a new one
 * @param valuesOf returns the form's values, which JSON can hold
 * @param blank the values of a new record
 */
export function useRecordEditor<Data extends object, Values extends object>(
  resource: RecordResource<Data>,
  record: Versioned<Data>,
  valuesOf: (data: Data) => Values,
): RecordEditor<Data, Values>
export function useRecordEditor<Data extends object, Values extends object>(
  resource: RecordResource<Data> | undefined,
  record: Versioned<Data> | undefined,
  valuesOf: (data: Data) => Values,
  blank: Values,
): RecordEditor<Data, Values, Versioned<Data> | undefined>
export function useRecordEditor<Data extends object, Values extends object>(
  resource: RecordResource<Data> | undefined,
  record: Versioned<Data> | undefined,
  valuesOf: (data: Data) => Values,
  blank = {} as Values,
): RecordEditor<Data, Values, Versioned<Data> | undefined> {
  const idOf = (version: Versioned<Data> | undefined) => (version && 'id' in version.data ? String(version.data.id) : '')
  const initialOf = (version: Versioned<Data> | undefined) => (version ? valuesOf(version.data) : blank)
  const draft = useDraft(idOf(record), initialOf(record))
  const base = useRef(record)
  if (idOf(base.current) !== idOf(record)) base.current = record
  const hasValues = (data: Data, values: Values) => JSON.stringify(valuesOf(data)) === JSON.stringify(values)
  const isSame = (data: Data) => hasValues(data, initialOf(base.current))
  function replace(version: Versioned<Data>): void {
    base.current = version
    draft.reset(valuesOf(version.data))
  }
  useLayoutEffect(() => {
    if (!record) return
    if (isSame(record.data)) base.current = record
    else if (!draft.isDirty) replace(record)
  }, [record?.data, record?.etag])
  return {
    fields: draft.fields,
    values: draft.values,
    get isDirty() {
      return draft.isDirty
    },
    base: () => base.current,
    rebase(version) {
      base.current = version
      draft.markSaved(valuesOf(version.data), {} as Values)
    },
    async save(options) {
      const sent = draft.values()
      const saved = await saveVersioned<Versioned<Data>, Data>(base.current?.etag ?? '', {
        isSame,
        findSaved: (version) => (hasValues(version.data, sent) ? version : undefined),
        ...options,
        readCurrent: () => (resource ? resource.read() : Promise.reject(new Error('a new record has no other version'))),
        onViewCurrent(version) {
          replace(version)
          resource?.put(version)
        },
      })
      if (!saved) return undefined
      base.current = saved
      draft.markSaved(valuesOf(saved.data), sent)
      resource?.put(saved)
      return saved
    },
  }
}
