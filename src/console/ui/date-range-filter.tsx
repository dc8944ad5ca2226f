import { daysAgo } from '../lib/format/server-clock.ts'
import { common } from '../lib/i18n/common.ts'
import { type DateRange, dayChoices } from '../lib/navigation/date-range.ts'
import type { Query } from '../lib/navigation/query.ts'
import { Tabs } from './tabs.tsx'

/**
 * Selects the dates of a page: the last days, or a custom range.
 * @param dayCounts numbers of days to choose from
 * @param dateBefore returns the date some days before today
 */
export function DateRangeFilter({
  query,
  range,
  dayCounts = dayChoices,
  dateBefore = daysAgo,
}: {
  query: Query
  range: DateRange
  dayCounts?: readonly number[]
  dateBefore?: (before: number) => string
}) {
  const { from, to } = query.values
  const isCustom = range.days === undefined
  const change = (name: 'from' | 'to') => (event: { currentTarget: { value: string } }) => {
    const { value } = event.currentTarget
    // The value is a date after each digit of the year.
    if (value) query.set({ [name]: value, days: undefined }, { replace: true })
  }
  return (
    <div class="date-range">
      <Tabs
        label={common('window')}
        tabs={[
          ...dayCounts.map((days) => ({
            href: query.href({ days: String(days), from: undefined, to: undefined }),
            text: common('days', { n: days }),
            current: range.days === days,
          })),
          {
            href: query.href({ from: from ?? dateBefore(29), to: to ?? dateBefore(0), days: undefined }),
            text: common('custom'),
            current: isCustom,
          },
        ]}
      />
      {isCustom && from && to && from > to && (
        <p class="error" role="alert">
          {common('fromAfterTo')}
        </p>
      )}
      {isCustom && (
        <div class="filters">
          <label class="filter">
            <span>{common('from')}</span>
            <input type="date" value={from} max={to} onChange={change('from')} />
          </label>
          <label class="filter">
            <span>{common('to')}</span>
            <input type="date" value={to} min={from} onChange={change('to')} />
          </label>
        </div>
      )}
    </div>
  )
}
