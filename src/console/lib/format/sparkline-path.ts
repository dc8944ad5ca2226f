export const width = 100
export const height = 32

/**
 * Returns the SVG path through the values, with gaps for nulls. The bottom is zero or the lowest value.
 * @param scaleValues all values that share the scale
 */
export function sparklinePath(values: readonly (number | null)[], scaleValues = values): string {
  const numbers = scaleValues.map((value) => value ?? 0)
  const lowest = Math.min(0, ...numbers)
  const span = Math.max(0, ...numbers) - lowest || 1
  const step = values.length > 1 ? width / (values.length - 1) : 0
  let isPenDown = false
  return values
    .map((value, index) => {
      const command = isPenDown ? 'L' : 'M'
      isPenDown = value !== null
      return value === null ? '' : `${command}${round(index * step)} ${round(height - 1 - ((value - lowest) / span) * (height - 2))}`
    })
    .join('')
}
const round = (value: number): number => Math.round(value * 100) / 100
