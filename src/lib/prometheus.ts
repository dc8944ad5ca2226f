/** Lines of Prometheus' text format. */

const linesOf = (type: string) => (name: string, help: string, value: number) => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} ${type}`,
  `${name} ${value}`,
]

export const gauge = linesOf('gauge')
export const counter = linesOf('counter')

/** Counts by a few words. */
export function createTally() {
  const counts = new Map<string, number>()
  return {
    add: (word: string): void => void counts.set(word, (counts.get(word) ?? 0) + 1),
    all: (): [word: string, count: number][] => [...counts],
  }
}

/** A gauge, or a counter, of several values, each under its labels; none, when there is nothing to say. */
export const labelled = (
  name: string,
  help: string,
  values: readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[],
  type: 'gauge' | 'counter' = 'gauge',
): string[] => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} ${type}`,
  ...values.map(({ labels, value }) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${text.replace(/[\\"]/g, '\\$&')}"`)
    return `${name}{${pairs.join(',')}} ${value}`
  }),
]
