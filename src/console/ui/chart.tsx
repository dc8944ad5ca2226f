import { useEffect, useRef, useState } from 'preact/hooks'
import { day, number } from '../lib/format/format.ts'
import { height, sparklinePath, width } from '../lib/format/sparkline-path.ts'
import { common } from '../lib/i18n/common.ts'
import { Button } from './button.tsx'
import type { draw, Series } from './chart-canvas.ts'

/** Kept after the first load, so that a redrawn chart does not flicker. */
let drawing: typeof draw | undefined

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
 * @param sketched draws a plain line until the pointer enters
 */
export function Plot({
  title,
  dates,
  series,
  format = number,
  sketched = false,
}: {
  title: string
  dates: readonly string[]
  series: readonly Series[]
  format?: (value: number) => string
  sketched?: boolean
}) {
  const box = useRef<HTMLDivElement>(null)
  const [isSketched, setSketched] = useState(sketched)
  const [asTable, setAsTable] = useState(false)
  useEffect(() => {
    const place = box.current
    if (asTable || !place || dates.length === 0) return
    if (drawing) return drawing(place, { dates, series, format })
    let end = () => {}
    let gone = false
    import('./chart-canvas.ts').then(
      ({ draw }) => {
        drawing = draw
        if (!gone) end = draw(place, { dates, series, format })
      },
      // uPlot did not load: shows the table.
      () => !gone && setAsTable(true),
    )
    return () => {
      gone = true
      end()
    }
  }, [asTable, isSketched, dates, series, format])
  return (
    <figure class="plot" aria-label={title} onPointerEnter={() => setSketched(false)}>
      <figcaption>
        <span>{title}</span>
        <Button kind="quiet" onPress={() => setAsTable(!asTable)} text={asTable ? common('plot') : common('table')} />
      </figcaption>
      {asTable ? (
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
              {dates.map((date, at) => (
                <tr key={date}>
                  <th scope="row">{day(date)}</th>
                  {series.map(({ name, values }) => {
                    const value = values[at]
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
      ) : isSketched ? (
        <Sketch dates={dates} series={series} format={format} />
      ) : (
        <div class="drawing" ref={box} aria-hidden="true" />
      )}
    </figure>
  )
}
