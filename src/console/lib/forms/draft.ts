/** Form values as one signal per field, so that a key press redraws one field. */
import { type Signal, signal } from '@preact/signals'

export type Draft<Values extends object> = { readonly [Name in keyof Values]: Signal<Values[Name]> }

const names = new WeakMap<object, string>()
/** Returns a field's name in its draft; undefined for other signals. */
export const fieldName = (field: object): string | undefined => names.get(field)

/** Creates a signal for each field and remembers its name. The fields are fixed by `values`. */
export const createDraft = <Values extends object>(values: Values): Draft<Values> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const field = signal(value)
      names.set(field, name)
      return [name, field]
    }),
  ) as Draft<Values>

/** Returns the values of a draft. Inside a computed signal it tracks them. */
export const draftValues = <Values extends object>(draft: Draft<Values>): Values =>
  Object.fromEntries(Object.entries(draft).map(([name, field]) => [name, (field as Signal<unknown>).value])) as Values

/** Sets values of a draft. */
export function setFields<Values extends object>(draft: Draft<Values>, values: Partial<Values>): void {
  for (const [name, value] of Object.entries(values)) {
    const field = draft[name as keyof Values] as Signal<unknown> | undefined
    if (field) field.value = value
  }
}
