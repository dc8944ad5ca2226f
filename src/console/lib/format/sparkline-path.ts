export const width = 100
export const height = 32

/**
 * Returns the SVG path through the values, with gaps for nulls. The bottom is zero or the lowest value.
 * @param among all values that share the scale
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
