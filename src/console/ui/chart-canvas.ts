/** Draws charts with uPlot; loaded on demand. */
import { effect } from '@preact/signals'
import uPlot from 'uplot'
import { shortDay } from '../lib/format/format.ts'
import { colorScheme } from '../lib/session/color-scheme.ts'

/** One value per day; null if there is none. */
export type Series = { readonly name: string; readonly values: readonly (number | null)[] }

const heightPx = 180
const colours = ['--series-1', '--series-2', '--series-3'] as const

const labelFont = '12px system-ui, sans-serif'
/** Width of the axis labels, which differs between currencies. */
function axisWidth(ctx: CanvasRenderingContext2D, labels: readonly string[]): number {
  ctx.save()
  ctx.font = labelFont
  const width = Math.max(0, ...labels.map((label) => ctx.measureText(label).width))
  ctx.restore()
  return Math.ceil(width) + 18
}

/** @returns removes the chart */
export function drawChart(
  container: HTMLElement,
  { dates, series, format }: { dates: readonly string[]; series: readonly Series[]; format: (value: number) => string },
): () => void {
  const isRtl = getComputedStyle(container).direction === 'rtl'
  const style = getComputedStyle(container)
  const colour = (name: string) => style.getPropertyValue(name).trim()
  const tooltip = document.createElement('div')
  tooltip.className = 'tip'
  const createPlot = () =>
    new uPlot(
      {
        width: container.clientWidth,
        height: heightPx,
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false } },
        scales: {
          x: { time: false, dir: isRtl ? -1 : 1 },
          y: { range: (_, low, high) => [Math.min(0, low), high <= 0 ? 1 : high * 1.08] },
        },
        axes: [
          {
            stroke: colour('--soft'),
            grid: { show: false },
            ticks: { show: false },
            values: (_, splits) => splits.map((index) => (Number.isInteger(index) && dates[index] ? shortDay(dates[index]) : '')),
            font: labelFont,
          },
          {
            stroke: colour('--soft'),
            side: isRtl ? 1 : 3,
            size: ({ ctx }, values) => axisWidth(ctx, values ?? []),
            grid: { stroke: colour('--line'), width: 1 },
            ticks: { show: false },
            values: (_, splits) => splits.map(format),
            font: labelFont,
          },
        ],
        series: [
          {},
          ...series.map(({ name }, index) => ({
            label: name,
            stroke: colour(colours[index % colours.length] ?? '--series-1'),
            width: 2,
            points: { show: dates.length === 1 },
            ...(index === 0 ? { fill: colour('--series-fill') } : { dash: [4, 4] }),
          })),
        ],
        hooks: {
          setCursor: [
            ({ cursor: { idx, left } }) => {
              const date = idx == null ? undefined : dates[idx]
              tooltip.hidden = date === undefined
              if (date === undefined || idx == null) return
              const figures = series.map(({ name, values }) => `${name}: ${values[idx] == null ? '–' : format(values[idx])}`)
              tooltip.textContent = [shortDay(date), ...figures].join('  ·  ')
              tooltip.style.insetInlineStart = `${Math.max(0, Math.min((isRtl ? container.clientWidth - (left ?? 0) : (left ?? 0)) - 40, container.clientWidth - 220))}px`
            },
          ],
        },
      },
      [dates.map((_, index) => index), ...series.map(({ values }) => [...values])],
      container,
    )
  let plot = createPlot()
  tooltip.hidden = true
  container.append(tooltip)
  const redraw = () => {
    plot.destroy()
    plot = createPlot()
    container.append(tooltip)
  }
  const resizeObserver = new ResizeObserver(() => plot.setSize({ width: container.clientWidth, height: heightPx }))
  resizeObserver.observe(container)
  const dark = matchMedia('(prefers-color-scheme: dark)')
  dark.addEventListener('change', redraw)
  let drawnScheme = colorScheme.peek()
  const stopScheme = effect(() => {
    if (drawnScheme !== colorScheme.value) redraw()
    drawnScheme = colorScheme.value
  })
  return () => {
    dark.removeEventListener('change', redraw)
    stopScheme()
    resizeObserver.disconnect()
    plot.destroy()
    tooltip.remove()
  }
}
