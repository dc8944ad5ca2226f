/** Form values as one signal per field, so that a key press redraws one field. */
import { type Signal, signal } from '@preact/signals'

export type Draft<Texts extends object> = { readonly [Name in keyof Texts]: Signal<Texts[Name]> }

const names = new WeakMap<object, string>()
/** Returns a field's name in its draft; undefined for other signals. */
export const nameOf = (field: object): string | undefined => names.get(field)

export const draftOf = <Texts extends object>(texts: Texts): Draft<Texts> =>
  Object.fromEntries(
    Object.entries(texts).map(([name, value]) => {
      const field = signal(value)
      names.set(field, name)
      return [name, field]
    }),
  ) as Draft<Texts>

/** Returns the values of a draft. Inside a computed signal it tracks them. */
export const textsOf = <Texts extends object>(draft: Draft<Texts>): Texts =>
  Object.fromEntries(Object.entries(draft).map(([name, field]) => [name, (field as Signal<unknown>).value])) as Texts

/** Sets values of a draft. */
export function fill<Texts extends object>(draft: Draft<Texts>, texts: Partial<Texts>): void {
  for (const [name, value] of Object.entries(texts)) {
    const field = draft[name as keyof Texts] as Signal<unknown> | undefined
    if (field) field.value = value
  }
}
