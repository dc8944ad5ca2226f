/** Lines of Prometheus' text format. */

type Labels = Readonly<Record<string, string>>
/** A value of one label combination. */
export type Sample = { readonly labels: Labels; readonly value: number }
/** Values of a histogram series: counts per bucket, one more than bounds, and the sum. */
type Distribution = { readonly labels: Labels; readonly buckets: readonly number[]; readonly sum: number }

const headOf = (name: string, help: string, type: string) => [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`]

const linesOf = (type: string) => (name: string, help: string, value: number) => [...headOf(name, help, type), `${name} ${value}`]

/** Formats a gauge without labels. */
export const gauge = linesOf('gauge')
/** Formats a counter without labels. */
export const counter = linesOf('counter')

/** Creates counters by label. */
export function createTally() {
  const counts = new Map<string, number>()
  return {
    add: (word: string, times = 1): void => void counts.set(word, (counts.get(word) ?? 0) + times),
    all: (): [word: string, count: number][] => [...counts],
  }
}
/** Counters of one metric by label. */
export type Tally = ReturnType<typeof createTally>

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' }
const pairsOf = (labels: Labels): string[] =>
  Object.entries(labels).map(([label, text]) => `${label}="${text.replace(/[\\"\n]/g, (character) => escapes[character] ?? '')}"`)
const seriesOf = (name: string, pairs: readonly string[]): string => (pairs.length === 0 ? name : `${name}{${pairs.join(',')}}`)

/** Formats a gauge or counter with labels; no samples if `values` is empty. */
export const labelledMetric = (name: string, help: string, values: readonly Sample[], type: 'gauge' | 'counter' = 'gauge'): string[] => [
  ...headOf(name, help, type),
  ...values.map(({ labels, value }) => `${seriesOf(name, pairsOf(labels))} ${value}`),
]

/**
 * Formats histograms.
 * @param bounds upper bounds of all buckets but the last, in the metric's unit
 */
export const histogram = (name: string, help: string, bounds: readonly number[], series: readonly Distribution[]): string[] => [
  ...headOf(name, help, 'histogram'),
  ...series.flatMap(({ labels, buckets, sum }) => {
    const pairs = pairsOf(labels)
    let total = 0
    const lines = buckets.map((count, at) => {
      total += count
      return `${seriesOf(`${name}_bucket`, [...pairs, `le="${bounds[at] ?? '+Inf'}"`])} ${total}`
    })
    return [...lines, `${seriesOf(`${name}_sum`, pairs)} ${sum}`, `${seriesOf(`${name}_count`, pairs)} ${total}`]
  }),
]

/** Formats a metric whose value may be unknown. Its name is always present, so the list of metrics is constant. */
export const optionalMetric = (name: string, help: string, value: number | undefined, type: 'gauge' | 'counter' = 'gauge'): string[] =>
  labelledMetric(name, help, value === undefined ? [] : [{ labels: {}, value }], type)
