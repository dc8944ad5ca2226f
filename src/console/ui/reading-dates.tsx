import { day, moment } from '../lib/format/format.ts'
import { common } from '../lib/i18n/common.ts'

/** Shows the UTC dates of a figure and its reading time. */
export const ReadingDates = ({ startDate, endDate, readAt }: { startDate: string; endDate: string; readAt: string }) => (
  <p class="faint">
    {common('zoneDays', { from: day(startDate), to: day(endDate), zone: 'UTC' })} · {common('asOf', { at: moment(readAt) })}
  </p>
)
