import { useEffect, useRef, useState } from 'preact/hooks'
import { day, number } from '../lib/format/format.ts'
import { height, sparklinePath, width } from '../lib/format/sparkline-path.ts'
import { common } from '../lib/i18n/common.ts'
import { Button } from './button.tsx'
import type { drawChart, Series } from './chart-canvas.ts'

/** Kept after the first load, so that a redrawn chart does not flicker. */
let loadedDrawChart: typeof drawChart | undefined

type Days = { dates: readonly string[]; series: readonly Series[]; format: (value: number) => string }

/** Draws the line without uPlot, which is half as large as the rest of a page. */
function Sketch({ dates, series, format }: Days) {
  const all = series.flatMap(({ values }) => values)
  const [first, last] = [dates[0], dates.at(-1)]
  return (
    <div class="sketch" aria-hidden="true">
      <small class="faint">{format(Math.max(0, ...all.map((value) => value ?? 0)))}</small>
      <svg class="spark" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        {series.map(({ name, values }) => (
          <path key={name} d={sparklinePath(values, all)} />
        ))}
      </svg>
      <small class="faint">
        <span>{first && day(first)}</span>
        <span>{last && day(last)}</span>
      </small>
    </div>
  )
}

/**
 * Shows daily values as a chart or a table.
 * @param dates ascending dates
 * @param format formats a value
 * @param startsAsSketch draws a plain line until the pointer enters
 */
export function Plot({
  title,
  dates,
  series,
  format = number,
  startsAsSketch = false,
}: {
  title: string
  dates: readonly string[]
  series: readonly Series[]
  format?: (value: number) => string
  startsAsSketch?: boolean
}) {
  const container = useRef<HTMLDivElement>(null)
  const [isSketch, setSketched] = useState(startsAsSketch)
  const [isTable, setAsTable] = useState(false)
  useEffect(() => {
    const element = container.current
    if (isTable || !element || dates.length === 0) return
    if (loadedDrawChart) return loadedDrawChart(element, { dates, series, format })
    let removeChart = () => {}
    let isUnmounted = false
    import('./chart-canvas.ts').then(
      ({ drawChart }) => {
        loadedDrawChart = drawChart
        if (!isUnmounted) removeChart = drawChart(element, { dates, series, format })
      },
      // uPlot did not load: shows the table.
      () => !isUnmounted && setAsTable(true),
    )
    return () => {
      isUnmounted = true
      removeChart()
    }
  }, [isTable, isSketch, dates, series, format])
  return (
    <figure class="plot" aria-label={title} onPointerEnter={() => setSketched(false)}>
      <figcaption>
        <span>{title}</span>
        <Button kind="quiet" onPress={() => setAsTable(!isTable)} text={isTable ? common('plot') : common('table')} />
      </figcaption>
      {!isTable && series.length > 1 && (
        <ul class="legend">
          {series.map(({ name }) => (
            <li key={name}>{name}</li>
          ))}
        </ul>
      )}
      {isTable ? (
        <div class="table-box short" tabIndex={0} role="region" aria-label={title}>
          <table>
            <thead>
              <tr>
                <th scope="col">{common('date')}</th>
                {series.map(({ name }) => (
                  <th key={name} scope="col" class="end">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {dates.map((date, index) => (
                <tr key={date}>
                  <th scope="row">{day(date)}</th>
                  {series.map(({ name, values }) => {
                    const value = values[index]
                    return (
                      <td key={name} class="end">
                        {value == null ? '–' : format(value)}
                      </td>
                    )
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : isSketch ? (
        <Sketch dates={dates} series={series} format={format} />
      ) : (
        <div class="drawing" ref={container} aria-hidden="true" />
      )}
    </figure>
  )
}
