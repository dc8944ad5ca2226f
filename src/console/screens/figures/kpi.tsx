/** Shared by both pages of figures. */
import { api, ok } from '../../lib/api/api.ts'
import { type Resource, useResource } from '../../lib/api/resource.ts'
import { number, percent, usd } from '../../lib/format/format.ts'
import { processorName } from '../../lib/format/processor-names.ts'
import { serverNow } from '../../lib/format/server-clock.ts'
import { common } from '../../lib/i18n/common.ts'
import { useLiveReload, useVisibleInterval } from '../../lib/live/live-events.ts'
import {
  type DateRange,
  operatorDayChoices,
  parseDateRange,
  previousRange,
  rangeDates,
  rangeQuery,
} from '../../lib/navigation/date-range.ts'
import type { Query } from '../../lib/navigation/query.ts'
import { type SalesMode, salesMode } from '../../lib/session/sales-mode.ts'
import { Note } from '../../ui/note.tsx'
import { t } from './i18n.ts'
import { type Kpi, type KpiName, type KpiPart, toCountKpi, toRateKpi, unitOf } from './kpi.domain.ts'

/** Whether a figure counts orders, which depend on the mode. */
const isSalesKpi = (name: KpiName): boolean => name === 'gmv' || name === 'confirmed-orders' || name === 'refund-rate'

/** Returns the mode parameter of a download, so that it matches the page. */
export const modeOf = async (name: KpiName): Promise<{ mode?: SalesMode }> => (isSalesKpi(name) ? { mode: await salesMode() } : {})

/**
 * Reads a figure.
 * @param mode for figures of orders
 */
async function readKpi(name: KpiName, range: DateRange, mode: SalesMode, signal: AbortSignal): Promise<Kpi> {
  const request = { params: { query: rangeDates(range) }, signal }
  const salesRequest = { params: { query: { ...rangeDates(range), mode } }, signal }
  switch (name) {
    case 'gmv':
      return toCountKpi(await ok(api.GET('/admin/dashboard/gmv', salesRequest)))
    case 'confirmed-orders':
      return toCountKpi(await ok(api.GET('/admin/dashboard/confirmed-orders', salesRequest)))
    case 'registered-users':
      return toCountKpi(await ok(api.GET('/admin/dashboard/registered-users', request)))
    case 'verified-shops':
      return toCountKpi(await ok(api.GET('/admin/dashboard/verified-shops', request)))
    case 'created-products':
      return toCountKpi(await ok(api.GET('/admin/dashboard/created-products', request)))
    default: {
      const response = await ok(api.GET('/admin/dashboard/refund-rate', salesRequest))
      // The route has no previous value, so a second request reads it; a failure leaves it out.
      const previous = api.GET('/admin/dashboard/refund-rate', { params: { query: { ...previousRange(response), mode } }, signal })
      return toRateKpi(response, await ok(previous).catch(() => undefined))
    }
  }
}

/** Events that change a figure. */
const changeEvents: Readonly<Record<KpiName, readonly string[]>> = {
  gmv: ['order.confirmed'],
  'confirmed-orders': ['order.confirmed'],
  'registered-users': ['merchant.created'],
  'verified-shops': ['shop.verified'],
  'created-products': [],
  'refund-rate': ['order.confirmed'],
}
/** A busy instance must not recompute yearly sums for each order. */
const reloadDelayMs = 5_000
/** For changes without events, such as a new day. */
const pollMs = 60_000

/** Returns the dates of the URL. */
export const kpiDateRange = (values: Query['values']): DateRange => parseDateRange(values, operatorDayChoices)

/** A figure with its reading time. `isTest` if it counts test shops because none is live. */
export type KpiReading = Kpi & { readonly readAt: string; readonly isTest: boolean }

/** Reads a figure and keeps it up to date. */
export function useKpi(name: KpiName, query: Query): Resource<KpiReading> {
  const kpi = useResource(`${name} ${rangeQuery(query.values)}`, async (signal) => {
    const mode = isSalesKpi(name) ? await salesMode(signal) : 'LIVE'
    const read = await readKpi(name, kpiDateRange(query.values), mode, signal)
    return { ...read, isTest: mode === 'TEST', readAt: new Date(serverNow()).toISOString() }
  })
  useLiveReload(changeEvents[name], kpi.reload, undefined, reloadDelayMs)
  useVisibleInterval(pollMs, kpi.reload)
  return kpi
}

/** Returns the title of a figure. */
export const kpiTitle = (name: KpiName): string => t(`kpi.${name}`)

const formats = { usd, part: percent, count: number }
/** Returns the format of a figure's values, by its unit. */
export const formatOf = (name: KpiName): ((value: number) => string) => formats[unitOf(name)]
/** Formats a value of a figure; a dash if it is unknown. */
export const kpiValueText = (name: KpiName, value: number | null): string => (value === null ? '–' : formatOf(name)(value))

/** Returns a part's name. */
export const partName = ({ name }: Pick<KpiPart, 'name'>): string => t.find(`part.${name}`) ?? processorName(name)

/**
 * Lists the limits of a figure.
 * @param isCompact as small texts
 */
export function KpiNotes({ kpi: { isTest, unpriced }, isCompact }: { kpi: KpiReading; isCompact?: boolean }) {
  const notes = [
    ...(unpriced > 0 ? ([['warn', t('unpriced', { n: unpriced })]] as const) : []),
    ...(isTest ? ([['info', common('testMode')]] as const) : []),
  ]
  return (
    <>
      {notes.map(([tone, text]) =>
        isCompact ? (
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
