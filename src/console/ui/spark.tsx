/** A plot so small that it only shows which way it goes: the figures stand beside it or on the page that it leads to. */

const width = 100
const height = 32

/** The line through the values, over gaps with a gap; zero is at the bottom. */
export function lineOf(values: readonly (number | null)[]): string {
  const highest = Math.max(0, ...values.map((value) => value ?? 0)) || 1
  const step = values.length > 1 ? width / (values.length - 1) : 0
  let isDown = false
  return values
    .map((value, at) => {
      const from = isDown ? 'L' : 'M'
      isDown = value !== null
      return value === null ? '' : `${from}${round(at * step)} ${round(height - 1 - (Math.max(0, value) / highest) * (height - 2))}`
    })
    .join('')
}
const round = (value: number): number => Math.round(value * 100) / 100

export const Spark = ({ values }: { values: readonly (number | null)[] }) => (
  <svg class="spark" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
    <path d={lineOf(values)} />
  </svg>
)
