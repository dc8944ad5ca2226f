import { addDays } from '../../../lib/day.ts'
import { timeZone } from './format.ts'
import { serverNow } from './server-clock.ts'
import { wallTimeText } from './zoned-time.ts'

/** Returns a date some days before today in the shop's time zone. */
export const shopDaysAgo = (days: number): string =>
  addDays(wallTimeText(new Date(serverNow()).toISOString(), timeZone()).slice(0, 'YYYY-MM-DD'.length), -days)
