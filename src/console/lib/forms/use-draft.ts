import { signal } from '@preact/signals'
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { type Draft, draftOf, fill, textsOf } from './draft.ts'

/** What somebody types over a record, and whether it differs from what is there. */
export type FormDraft<Of extends object> = {
  readonly of: Draft<Of>
  /** What stands in the fields now. */
  now(): Of
  /** Whether something was typed that is not saved. */
  readonly dirty: boolean
  /** What is saved by now, or what somebody else saved: from here on that is what there is. */
  reset(to: Of): void
  /**
   * What was sent is saved, as `to`: from here on that is what there is. What was typed while it was under way stays, and is not saved yet.
   * @param sent what stood in the fields then
   */
  saved(to: Of, sent: Of): void
}

/**
 * @param key another one begins anew with `of`
 * @param of values that JSON can hold: texts, choices, lists
 */
export function useDraft<Of extends object>(key: string, of: Of): FormDraft<Of> {
  const begun = useRef(of)
  begun.current = of
  return useMemo(() => {
    const base = signal(JSON.stringify(begun.current))
    const fields = draftOf(begun.current)
    return {
      of: fields,
      now: () => textsOf(fields),
      get dirty() {
        return JSON.stringify(textsOf(fields)) !== base.value
      },
      reset(to) {
        fill(fields, to)
        base.value = JSON.stringify(textsOf(fields))
      },
      saved(to, sent) {
        const typed = textsOf(fields)
        const isAsSent = (name: string) => JSON.stringify(typed[name as keyof Of]) === JSON.stringify(sent[name as keyof Of])
        fill(fields, Object.fromEntries(Object.entries(to).filter(([name]) => isAsSent(name))) as Partial<Of>)
        base.value = JSON.stringify({ ...typed, ...to })
      },
    }
  }, [key])
}

/** A record with the version that it was read in. */
export type Versioned<Data> = { readonly data: Data; readonly etag: string }

export type RecordDraft<Data, Of extends object> = Omit<FormDraft<Of>, 'saved'> & {
  /** What the form was begun with, whatever is shown beside it by now: its version is the one to be changed. */
  begun(): Versioned<Data>
  /** Of another version only what the form does not have is another: nothing in it would be overwritten unseen. */
  isSame(now: Data): boolean
  /** Whether a version has in it what stood in the fields when it was sent. */
  isAs(now: Data, sent: Of): boolean
  /** From here on this is what there is, in the fields too: somebody else's is looked at. */
  take(now: Versioned<Data>): void
  /**
   * One's own change was saved, and from here on this is what there is; what was typed meanwhile stays.
   * @param sent what stood in the fields when it was sent
   */
  saved(now: Versioned<Data>, sent: Of): void
}

/**
 * What somebody types over a record that may be read anew meanwhile. A version in which the form's own fields are the same is taken over behind
 * what was typed; one in which they differ is shown where nothing was typed, and is a conflict where something was.
 * @param typedOf the form's fields, as values that JSON can hold
 */
export function useRecordDraft<Data extends { readonly id: string }, Of extends object>(
  now: Versioned<Data>,
  typedOf: (data: Data) => Of,
): RecordDraft<Data, Of> {
  const draft = useDraft(now.data.id, typedOf(now.data))
  const begun = useRef(now)
  if (begun.current.data.id !== now.data.id) begun.current = now
  const isAs = (data: Data, texts: Of) => JSON.stringify(typedOf(data)) === JSON.stringify(texts)
  const isSame = (data: Data) => isAs(data, typedOf(begun.current.data))
  function take(held: Versioned<Data>): void {
    begun.current = held
    draft.reset(typedOf(held.data))
  }
  function saved(held: Versioned<Data>, sent: Of): void {
    begun.current = held
    draft.saved(typedOf(held.data), sent)
  }
  useLayoutEffect(() => {
    if (isSame(now.data)) begun.current = now
    else if (!draft.dirty) take(now)
  }, [now.data, now.etag])
  return {
    of: draft.of,
    now: draft.now,
    reset: draft.reset,
    get dirty() {
      return draft.dirty
    },
    begun: () => begun.current,
    isSame,
    isAs,
    take,
    saved,
  }
}
