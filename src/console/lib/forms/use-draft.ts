import { computed, signal } from '@preact/signals'
import { useMemo, useRef } from 'preact/hooks'
import { type Draft, draftOf, fill, textsOf } from './draft.ts'

/** The values of a form, compared with the stored ones. */
export type FormDraft<Of extends object> = {
  readonly of: Draft<Of>
  /** Returns the values. */
  now(): Of
  /** Whether something is typed that is not saved. */
  readonly dirty: boolean
  /** Sets the values and takes them as stored. */
  reset(to: Of): void
  /**
   * Takes values as stored after a save. Fields that were typed in meanwhile keep their values, unsaved.
   * @param sent the values at the time of sending
   */
  saved(to: Of, sent: Of): void
}

/**
 * @param key another key restarts the form with `of`
 * @param of values that JSON can hold
 */
export function useDraft<Of extends object>(key: string, of: Of): FormDraft<Of> {
  const begun = useRef(of)
  begun.current = of
  return useMemo(() => {
    const base = signal(JSON.stringify(begun.current))
    const fields = draftOf(begun.current)
    const isDirty = computed(() => JSON.stringify(textsOf(fields)) !== base.value)
    return {
      of: fields,
      now: () => textsOf(fields),
      get dirty() {
        return isDirty.value
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

/** A record with its version. */
export type Versioned<Data> = { readonly data: Data; readonly etag: string }
