import { daysAgo } from '../lib/format/server-clock.ts'
import { common } from '../lib/i18n/common.ts'
import { type DateRange, dayChoices } from '../lib/navigation/date-range.ts'
import type { Query } from '../lib/navigation/query.ts'
import { Tabs } from './tabs.tsx'

/**
 * Selects the dates of a page: the last days, or a custom range.
 * @param offered numbers of days
 * @param today returns the date some days before today
 */
export function DateRangeFilter({
  query,
  shown,
  offered = dayChoices,
  today = daysAgo,
}: {
  query: Query
  shown: DateRange
  offered?: readonly number[]
  today?: (before: number) => string
}) {
  const { from, to } = query.of
  const isOwn = shown.days === undefined
  const change = (name: 'from' | 'to') => (event: { currentTarget: { value: string } }) => {
    const { value } = event.currentTarget
    // The value is a date after each digit of the year.
    if (value) query.set({ [name]: value, days: undefined }, { replace: true })
  }
  return (
    <div class="windows">
      <Tabs
        label={common('window')}
        of={[
          ...offered.map((days) => ({
            href: query.href({ days: String(days), from: undefined, to: undefined }),
            text: common('days', { n: days }),
            current: shown.days === days,
          })),
          {
            href: query.href({ from: from ?? today(29), to: to ?? today(0), days: undefined }),
            text: common('custom'),
            current: isOwn,
          },
        ]}
      />
      {isOwn && from && to && from > to && (
        <p class="error" role="alert">
          {common('fromAfterTo')}
        </p>
      )}
      {isOwn && (
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
