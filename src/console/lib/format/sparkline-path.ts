/** The line of a plot that is drawn without a library. */

export const width = 100
export const height = 32

/**
 * The line through the values, over gaps with a gap; zero is at the bottom, or whatever is below it.
 * @param among all values that are drawn by the same measure
 */
export function sparklinePath(values: readonly (number | null)[], among = values): string {
  const drawn = among.map((value) => value ?? 0)
  const lowest = Math.min(0, ...drawn)
  const span = Math.max(0, ...drawn) - lowest || 1
  const step = values.length > 1 ? width / (values.length - 1) : 0
  let isDown = false
  return values
    .map((value, at) => {
      const from = isDown ? 'L' : 'M'
      isDown = value !== null
      return value === null ? '' : `${from}${round(at * step)} ${round(height - 1 - ((value - lowest) / span) * (height - 2))}`
    })
    .join('')
}
const round = (value: number): number => Math.round(value * 100) / 100
