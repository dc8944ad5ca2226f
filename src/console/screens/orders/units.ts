import { type Signal, signal } from '@preact/signals'
import { useRef } from 'preact/hooks'

/** Holds the typed text of each line by id. A new line starts with `first`. */
export function useUnits<Line extends { readonly id: string }>(lines: readonly Line[], first: (line: Line) => string) {
  const kept = useRef(new Map<string, { readonly begun: string; readonly typed: Signal<string> }>()).current
  function of(line: Line): Signal<string> {
    const known = kept.get(line.id)
    if (known) return known.typed
    const begun = first(line)
    const typed = signal(begun)
    kept.set(line.id, { begun, typed })
    return typed
  }
  for (const line of lines) of(line)
  return {
    of,
    /** All texts, also of lines that are gone. */
    typed: (): Readonly<Record<string, string>> => Object.fromEntries([...kept].map(([id, { typed }]) => [id, typed.value])),
    isDirty: () => [...kept.values()].some(({ begun, typed }) => typed.value !== begun),
  }
}
