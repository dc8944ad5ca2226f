/** Lines of Prometheus' text format. */

const linesOf = (type: string) => (name: string, help: string, value: number) => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} ${type}`,
  `${name} ${value}`,
]

export const gauge = linesOf('gauge')
export const counter = linesOf('counter')

/** A gauge of several values, each under its labels; none, when there is nothing to say. */
export const labelled = (
  name: string,
  help: string,
  values: readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[],
): string[] => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} gauge`,
  ...values.map(({ labels, value }) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${text.replace(/[\\"]/g, '\\$&')}"`)
    return `${name}{${pairs.join(',')}} ${value}`
  }),
]
