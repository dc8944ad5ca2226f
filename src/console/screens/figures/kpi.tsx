/** What both pages of figures say and read alike. */
import { api, ok } from '../../lib/api/api.ts'
import { type Resource, useResource } from '../../lib/api/resource.ts'
import { day, moment, number, percent, usd } from '../../lib/format/format.ts'
import { processorName } from '../../lib/format/processor-names.ts'
import { serverNow } from '../../lib/format/server-clock.ts'
import { common } from '../../lib/i18n/common.ts'
import { useLiveReload, useVisibleInterval } from '../../lib/live/live-events.ts'
import { type DateRange, parseDateRange, previousRange, rangeDates, rangeQuery } from '../../lib/navigation/date-range.ts'
import type { Query } from '../../lib/navigation/query.ts'
import { type SalesMode, salesMode } from '../../lib/session/sales-mode.ts'
import { Note } from '../../ui/note.tsx'
import { t } from './i18n.ts'
import { countedKpi, type Kpi, type KpiName, type Part, rateKpi, unitOf } from './kpi.domain.ts'

/** What the API takes in one question. */
export const offered = [7, 30, 90, 365] as const

/** Whether a figure counts the orders of shops in one mode. */
const isOfSales = (name: KpiName): boolean => name === 'gmv' || name === 'confirmed-orders' || name === 'refund-rate'

/** The query that a download of a figure adds, so that it counts what the page shows. */
export const modeOf = async (name: KpiName): Promise<{ mode?: SalesMode }> => (isOfSales(name) ? { mode: await salesMode() } : {})

/** Reads a figure. @param mode counts for figures of sales alone */
async function readKpi(name: KpiName, shown: DateRange, mode: SalesMode, signal: AbortSignal): Promise<Kpi> {
  const asked = { params: { query: rangeDates(shown) }, signal }
  const ofSales = { params: { query: { ...rangeDates(shown), mode } }, signal }
  switch (name) {
    case 'gmv':
      return countedKpi(await ok(api.GET('/admin/dashboard/gmv', ofSales)))
    case 'confirmed-orders':
      return countedKpi(await ok(api.GET('/admin/dashboard/confirmed-orders', ofSales)))
    case 'registered-users':
      return countedKpi(await ok(api.GET('/admin/dashboard/registered-users', asked)))
    case 'verified-shops':
      return countedKpi(await ok(api.GET('/admin/dashboard/verified-shops', asked)))
    case 'created-products':
      return countedKpi(await ok(api.GET('/admin/dashboard/created-products', asked)))
    default: {
      const answer = await ok(api.GET('/admin/dashboard/refund-rate', ofSales))
      // The route tells nothing of the days before: they are asked for. What cannot be told of those is not told.
      const before = api.GET('/admin/dashboard/refund-rate', { params: { query: { ...previousRange(answer), mode } }, signal })
      return rateKpi(answer, await ok(before).catch(() => undefined))
    }
  }
}

/** What changes a figure, of what is told. */
const changedBy: Readonly<Record<KpiName, readonly string[]>> = {
  gmv: ['order.confirmed'],
  'confirmed-orders': ['order.confirmed'],
  'registered-users': ['merchant.created'],
  'verified-shops': ['shop.verified'],
  'created-products': [],
  'refund-rate': ['order.confirmed'],
}
/** Sums over a year: on a network that is busy not for each order. */
const everyMs = 5_000
/** What is not told, and a day that ends. */
const looksMs = 60_000

/** The days that an address asks for, of those of now. */
export const windowIn = (of: Query['of']): DateRange => parseDateRange(of, offered)

/** A figure with the moment that it was read at. `isTest`: it counts shops in test mode, since none is live. */
export type ReadKpi = Kpi & { readonly readAt: string; readonly isTest: boolean }

/** A figure of some days, which moves when what it counts does. */
export function useKpi(name: KpiName, query: Query): Resource<ReadKpi> {
  const kpi = useResource(`${name} ${rangeQuery(query.of)}`, async (signal) => {
    const mode = isOfSales(name) ? await salesMode(signal) : 'LIVE'
    const read = await readKpi(name, windowIn(query.of), mode, signal)
    return { ...read, isTest: mode === 'TEST', readAt: new Date(serverNow()).toISOString() }
  })
  useLiveReload(changedBy[name], kpi.reload, undefined, everyMs)
  useVisibleInterval(looksMs, kpi.reload)
  return kpi
}

export const kpiTitle = (name: KpiName): string => t(`kpi.${name}`)

const formats = { usd, part: percent, count: number }
export const formatOf = (name: KpiName): ((value: number) => string) => formats[unitOf(name)]
export const shownValue = (name: KpiName, value: number | null): string => (value === null ? '–' : formatOf(name)(value))

/** Roles, cohorts and states in words, processors by their names. */
export const partName = ({ name }: Pick<Part, 'name'>): string => {
  const key = `part.${name}`
  return t.has(key) ? t(key) : processorName(name)
}

/** What to know before one believes it. @param short where there is little room */
export function KpiNotes({ of: { isTest, unpriced }, short }: { of: ReadKpi; short?: boolean }) {
  const notes = [
    ...(unpriced > 0 ? ([['warn', t('unpriced', { n: unpriced })]] as const) : []),
    ...(isTest ? ([['info', common('testMode')]] as const) : []),
  ]
  return (
    <>
      {notes.map(([tone, text]) =>
        short ? (
          <p key={tone} class="hint">
            {text}
          </p>
        ) : (
          <Note key={tone} tone={tone}>
            {text}
          </Note>
        ),
      )}
    </>
  )
}

/** The days that an answer is about, and of when it is. */
export const Days = ({ of: { startDate, endDate, readAt } }: { of: Pick<ReadKpi, 'startDate' | 'endDate' | 'readAt'> }) => (
  <p class="faint">
    {t('days', { from: day(startDate), to: day(endDate) })} · {common('asOf', { at: moment(readAt) })}
  </p>
)
