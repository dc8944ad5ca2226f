/** What is typed into a form, as a record of signals: one a field, so that a key redraws its field alone. */
import { type Signal, signal } from '@preact/signals'

export type Draft<Texts extends object> = { readonly [Name in keyof Texts]: Signal<Texts[Name]> }

const names = new WeakMap<object, string>()
/** What a field of a draft is called, as mostly in the body that is sent; undefined of what is none. */
export const nameOf = (field: object): string | undefined => names.get(field)

export const draftOf = <Texts extends object>(texts: Texts): Draft<Texts> =>
  Object.fromEntries(
    Object.entries(texts).map(([name, value]) => {
      const field = signal(value)
      names.set(field, name)
      return [name, field]
    }),
  ) as Draft<Texts>

/** What is in the fields now. Read inside a computed signal it follows them. */
export const textsOf = <Texts extends object>(draft: Draft<Texts>): Texts =>
  Object.fromEntries(Object.entries(draft).map(([name, field]) => [name, (field as Signal<unknown>).value])) as Texts

/** Puts other values into the fields. */
export function fill<Texts extends object>(draft: Draft<Texts>, texts: Partial<Texts>): void {
  for (const [name, value] of Object.entries(texts)) {
    const field = draft[name as keyof Texts] as Signal<unknown> | undefined
    if (field) field.value = value
  }
}
