/** What somebody types over a record: a signal a field, and whether it differs from what is there. */
import { type Signal, signal } from '@preact/signals'
import { useMemo, useRef } from 'preact/hooks'

type Fields<Of> = { readonly [Name in keyof Of]: Signal<Of[Name]> }
export type Draft<Of> = {
  readonly of: Fields<Of>
  /** What stands in the fields now. */
  now(): Of
  /** Whether something was typed that is not saved. */
  readonly dirty: boolean
  /** What is saved by now, or what somebody else saved: from here on that is what there is. */
  reset(to: Of): void
}

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

/**
 * @param key another one begins anew with `of`
 * @param of values that JSON can hold: texts, choices, lists
 */
export function useDraft<Of extends Readonly<Record<string, unknown>>>(key: string, of: Of): Draft<Of> {
  const begun = useRef(of)
  begun.current = of
  return useMemo(() => {
    const base = signal(begun.current)
    const names = Object.keys(begun.current) as (keyof Of)[]
    const fields = Object.fromEntries(names.map((name) => [name, signal(base.value[name])])) as Fields<Of>
    const now = () => Object.fromEntries(names.map((name) => [name, fields[name].value])) as Of
    return {
      of: fields,
      now,
      get dirty() {
        return names.some((name) => !same(fields[name].value, base.value[name]))
      },
      reset(to) {
        base.value = to
        for (const name of names) fields[name].value = to[name]
      },
    }
  }, [key])
}
