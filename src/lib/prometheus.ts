/** Lines of Prometheus' text format. */

const linesOf = (type: string) => (name: string, help: string, value: number) => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} ${type}`,
  `${name} ${value}`,
]

export const gauge = linesOf('gauge')
export const counter = linesOf('counter')
