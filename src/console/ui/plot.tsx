import { useEffect, useRef, useState } from 'preact/hooks'
import { day, number } from '../lib/format.ts'
import { c } from '../lib/words/common.ts'
import { Button } from './button.tsx'
import type { draw, Series } from './draw.ts'

/** Once it is there: a plot that is drawn anew is not gone in between. */
let drawing: typeof draw | undefined

/**
 * Values a day, drawn; or as a table, for whoever cannot see a drawing or wants the figures.
 * @param dates days of the API, ascending
 * @param format of one value
 */
export function Plot({
  title,
  dates,
  series,
  format = number,
}: {
  title: string
  dates: readonly string[]
  series: readonly Series[]
  format?: (value: number) => string
}) {
  const box = useRef<HTMLDivElement>(null)
  const [asTable, setAsTable] = useState(false)
  useEffect(() => {
    const place = box.current
    if (asTable || !place || dates.length === 0) return
    if (drawing) return drawing(place, { dates, series, format })
    let end = () => {}
    let gone = false
    import('./draw.ts').then(
      ({ draw }) => {
        drawing = draw
        if (!gone) end = draw(place, { dates, series, format })
      },
      // It could not be loaded: the figures are here all the same.
      () => !gone && setAsTable(true),
    )
    return () => {
      gone = true
      end()
    }
  }, [asTable, dates, series, format])
  return (
    <figure class="plot" aria-label={title}>
      <figcaption>
        <span>{title}</span>
        <Button kind="quiet" onPress={() => setAsTable(!asTable)}>
          {asTable ? c('plot') : c('table')}
        </Button>
      </figcaption>
      {asTable ? (
        <div class="table-box short" tabIndex={0} role="region" aria-label={title}>
          <table>
            <thead>
              <tr>
                <th scope="col">{c('date')}</th>
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
      ) : (
        <div class="drawing" ref={box} aria-hidden="true" />
      )}
    </figure>
  )
}
