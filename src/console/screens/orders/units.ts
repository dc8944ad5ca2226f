import { type Signal, signal } from '@preact/signals'
import { useRef } from 'preact/hooks'

/** Returns the text fields of order lines, one signal per line. A new line starts with `initialText`. */
export function useUnits<Line extends { readonly id: string }>(lines: readonly Line[], initialText: (line: Line) => string) {
  const entries = useRef(new Map<string, { readonly initial: string; readonly text: Signal<string> }>()).current
  function fieldOf(line: Line): Signal<string> {
    const existing = entries.get(line.id)
    if (existing) return existing.text
    const initial = initialText(line)
    const text = signal(initial)
    entries.set(line.id, { initial, text })
    return text
  }
  for (const line of lines) fieldOf(line)
  return {
    fieldOf,
    /** All texts, also of lines that are gone. */
    texts: (): Readonly<Record<string, string>> => Object.fromEntries([...entries].map(([id, { text }]) => [id, text.value])),
    isDirty: () => [...entries.values()].some(({ initial, text }) => text.value !== initial),
  }
}
