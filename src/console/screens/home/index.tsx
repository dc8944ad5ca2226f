import { useMemo } from 'preact/hooks'
import { api, ok, type Schema } from '../../lib/api/api.ts'
import { takePrefetched } from '../../lib/api/prefetch.ts'
import { useResource } from '../../lib/api/resource.ts'
import { day, money, number, percent, timeZone } from '../../lib/format/format.ts'
import { shopDaysAgo } from '../../lib/format/shop-days.ts'
import { common } from '../../lib/i18n/common.ts'
import { useLiveReload } from '../../lib/live/live-events.ts'
import { dayChoices, parseDateRange, rangeDates } from '../../lib/navigation/date-range.ts'
import { type Query, useQuery } from '../../lib/navigation/query.ts'
import { role, shop } from '../../lib/session/current-shop.ts'
import { Plot } from '../../ui/chart.tsx'
import { DateRangeFilter } from '../../ui/date-range-filter.tsx'
import { Deferred } from '../../ui/deferred.tsx'
import { Figure } from '../../ui/figure.tsx'
import { Page, ResourceView, Section } from '../../ui/page.tsx'
import { t } from './i18n.ts'
import { AttentionList } from './needs-attention.tsx'
import { TopProducts } from './sellers.tsx'
import { NextSteps } from './steps.tsx'

/** The path that is prefetched for a URL without a query. */
export const firstRead = '/shops/v2/overview'

/** The shop's figures and what needs attention. */
export default function Home() {
  const query = useQuery()
  const parseRange = () => parseDateRange(query.of, dayChoices, shopDaysAgo)
  const shown = parseRange()
  const overview = useResource<Schema<'Overview'>>(
    JSON.stringify([shown.days, query.of['from'], query.of['to']]),
    // The range is computed at each read, because an open page outlasts a day.
    (signal) => ok(api.GET('/shops/v2/overview', { params: { query: rangeDates(parseRange()) }, signal })),
    () => takePrefetched(Object.keys(query.of).length === 0 ? firstRead : undefined),
  )
  // Collects bursts of order events.
  useLiveReload(['order.*', 'stock.low', 'shop.*'], overview.reload, () => true, 1_500)
  return (
    <Page title={shop.value?.title || shop.value?.name || common('home')} subtitle={t('subtitle')}>
      {!(overview.data.value && isNewShop(overview.data.value)) && <DateRangeFilter query={query} shown={shown} today={shopDaysAgo} />}
      <ResourceView of={overview}>{(of) => <ShopOverview of={of} query={query} />}</ResourceView>
    </Page>
  )
}

/** Whether there is nothing to report yet: only the setup guide is shown then. */
const isNewShop = ({ orders, goLive }: Schema<'Overview'>): boolean =>
  orders.confirmed === 0 && goLive?.steps.some(({ step, done }) => step === 'PRODUCTS' && !done) === true

function ShopOverview({ of, query }: { of: Schema<'Overview'>; query: Query }) {
  return (
    <>
      <NextSteps of={of} />
      {!isNewShop(of) && (
        <>
          <OverviewFigures of={of} />
          <AttentionList of={of} />
          <OverviewPlots of={of} />
          <Deferred>
            <TopProducts of={of} query={query} leads={role.value !== 'FULFILMENT'} />
          </Deferred>
        </>
      )}
    </>
  )
}

/** Converts the API's percentage to a fraction. */
const toFraction = (percentChange: number | null) => (percentChange === null ? null : percentChange / 100)

function OverviewFigures({ of: { sales, orders, carts, startDate, endDate } }: { of: Schema<'Overview'> }) {
  return (
    <>
      <p class="faint">{common('zoneDays', { from: day(startDate), to: day(endDate), zone: timeZone().replaceAll('_', ' ') })}</p>
      <div class="grid">
        <Figure
          name={t('sales')}
          value={money(sales.net)}
          change={toFraction(sales.percentChange)}
          before={money(sales.previous.net)}
          note={t('salesNote', { confirmed: money(sales.confirmed), refunds: money(sales.refunds) })}
        />
        <Figure
          name={common('orders')}
          value={number(orders.confirmed)}
          change={toFraction(orders.percentChange)}
          before={number(orders.previousConfirmed)}
        />
        {carts && (
          <Figure
            name={t('conversion')}
            value={carts.rate === null ? '–' : percent(carts.rate)}
            {...(carts.previous?.rate != null ? { before: percent(carts.previous.rate) } : {})}
            note={carts.capped ? t('cartsCapped') : t('carts', { n: carts.begun, converted: number(carts.converted) })}
          />
        )}
      </div>
    </>
  )
}

function OverviewPlots({ of: { sales, orders, currency } }: { of: Schema<'Overview'> }) {
  // The chart is redrawn when these values change.
  const ofSales = useMemo(
    () => ({
      dates: sales.series.map(({ date }) => date),
      series: [
        { name: t('sales'), values: sales.series.map(({ net }) => net) },
        { name: common('refunds'), values: sales.series.map(({ refunds }) => refunds) },
      ],
      format: (amount: number) => money({ amount: Math.round(amount), currency }),
    }),
    [sales, currency],
  )
  const ofOrders = useMemo(
    () => ({
      dates: orders.series.map(({ date }) => date),
      series: [{ name: common('orders'), values: orders.series.map(({ value }) => value) }],
    }),
    [orders],
  )
  return (
    <div class="grid">
      <Section>
        <Plot title={t('salesPlot')} {...ofSales} sketched />
      </Section>
      <Section>
        <Plot title={t('ordersPlot')} {...ofOrders} sketched />
      </Section>
    </div>
  )
}
