import { computed, signal } from '@preact/signals'
import { useMemo, useRef } from 'preact/hooks'
import { createDraft, type Draft, draftValues, setFields } from './draft.ts'

/** The values of a form, compared with the stored ones. */
export type FormDraft<Values extends object> = {
  readonly fields: Draft<Values>
  /** Returns the values. */
  values(): Values
  /** Whether something is typed that is not saved. */
  readonly isDirty: boolean
  /** Sets the values and takes them as stored. */
  reset(to: Values): void
  /**
   * Takes values as stored after a save. Fields that were typed in meanwhile keep their values, unsaved.
   * @param sent the values at the time of sending
   */
  markSaved(to: Values, sent: Values): void
}

/**
 * @param key another key restarts the form with `of`
 * @param values values that JSON can hold
 */
export function useDraft<Values extends object>(key: string, values: Values): FormDraft<Values> {
  const initial = useRef(values)
  initial.current = values
  return useMemo(() => {
    const base = signal(JSON.stringify(initial.current))
    const fields = createDraft(initial.current)
    const isDirty = computed(() => JSON.stringify(draftValues(fields)) !== base.value)
    return {
      fields,
      values: () => draftValues(fields),
      get isDirty() {
        return isDirty.value
      },
      reset(to) {
        setFields(fields, to)
        base.value = JSON.stringify(draftValues(fields))
      },
      markSaved(to, sent) {
        const input = draftValues(fields)
        const isAsSent = (name: string) => JSON.stringify(input[name as keyof Values]) === JSON.stringify(sent[name as keyof Values])
        setFields(fields, Object.fromEntries(Object.entries(to).filter(([name]) => isAsSent(name))) as Partial<Values>)
        base.value = JSON.stringify({ ...input, ...to })
      },
    }
  }, [key])
}
