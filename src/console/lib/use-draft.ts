import { signal } from '@preact/signals'
import { useMemo, useRef } from 'preact/hooks'
import { type Draft, draftOf, fill, textsOf } from './draft.ts'

/** What somebody types over a record, and whether it differs from what is there. */
export type EditedDraft<Of extends object> = {
  readonly of: Draft<Of>
  /** What stands in the fields now. */
  now(): Of
  /** Whether something was typed that is not saved. */
  readonly dirty: boolean
  /** What is saved by now, or what somebody else saved: from here on that is what there is. */
  reset(to: Of): void
}

/**
 * @param key another one begins anew with `of`
 * @param of values that JSON can hold: texts, choices, lists
 */
export function useDraft<Of extends object>(key: string, of: Of): EditedDraft<Of> {
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
    }
  }, [key])
}
