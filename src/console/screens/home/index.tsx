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
import { NextSteps } from './steps.tsx'
import { TopProducts } from './top-products.tsx'

/** The path that is prefetched for a URL without a query. */
export const firstPath = '/shops/v2/overview'

/** The shop's figures and what needs attention. */
export default function Home() {
  const query = useQuery()
  const parseRange = () => parseDateRange(query.values, dayChoices, shopDaysAgo)
  const range = parseRange()
  const overview = useResource<Schema<'Overview'>>(
    JSON.stringify([range.days, query.values['from'], query.values['to']]),
    // The range is computed at each read, because an open page outlasts a day.
    (signal) => ok(api.GET('/shops/v2/overview', { params: { query: rangeDates(parseRange()) }, signal })),
    () => takePrefetched(Object.keys(query.values).length === 0 ? firstPath : undefined),
  )
  // Collects bursts of order events.
  useLiveReload(['order.*', 'stock.low', 'shop.*'], overview.reload, () => true, 1_500)
  return (
    <Page title={shop.value?.title || shop.value?.name || common('home')} subtitle={t('subtitle')}>
      {!(overview.data.value && isNewShop(overview.data.value)) && <DateRangeFilter query={query} range={range} dateBefore={shopDaysAgo} />}
      <ResourceView resource={overview}>{(data) => <ShopOverview overview={data} query={query} />}</ResourceView>
    </Page>
  )
}

/** Whether there is nothing to report yet: only the setup guide is shown then. */
const isNewShop = ({ orders, goLive }: Schema<'Overview'>): boolean =>
  orders.confirmed === 0 && goLive?.steps.some(({ step, done }) => step === 'PRODUCTS' && !done) === true

function ShopOverview({ overview, query }: { overview: Schema<'Overview'>; query: Query }) {
  return (
    <>
      <NextSteps overview={overview} />
      {!isNewShop(overview) && (
        <>
          <OverviewFigures overview={overview} />
          <AttentionList overview={overview} />
          <OverviewPlots overview={overview} />
          <Deferred>
            <TopProducts overview={overview} query={query} linksToProducts={role.value !== 'FULFILMENT'} />
          </Deferred>
        </>
      )}
    </>
  )
}

/** Converts the API's percentage to a fraction. */
const toFraction = (percentChange: number | null) => (percentChange === null ? null : percentChange / 100)

function OverviewFigures({ overview: { sales, orders, carts, startDate, endDate } }: { overview: Schema<'Overview'> }) {
  return (
    <>
      <p class="faint">{common('zoneDays', { from: day(startDate), to: day(endDate), zone: timeZone().replaceAll('_', ' ') })}</p>
      <div class="grid">
        <Figure
          name={t('sales')}
          value={money(sales.net)}
          change={toFraction(sales.percentChange)}
          previous={money(sales.previous.net)}
          note={t('salesNote', { confirmed: money(sales.confirmed), refunds: money(sales.refunds) })}
        />
        <Figure
          name={common('orders')}
          value={number(orders.confirmed)}
          change={toFraction(orders.percentChange)}
          previous={number(orders.previousConfirmed)}
        />
        {carts && (
          <Figure
            name={t('conversion')}
            value={carts.rate === null ? '–' : percent(carts.rate)}
            {...(carts.previous?.rate != null ? { previous: percent(carts.previous.rate) } : {})}
            note={carts.capped ? t('cartsCapped') : t('carts', { n: carts.begun, converted: number(carts.converted) })}
          />
        )}
      </div>
    </>
  )
}

function OverviewPlots({ overview: { sales, orders, currency } }: { overview: Schema<'Overview'> }) {
  // The chart is redrawn when these values change.
  const salesPlot = useMemo(
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
  const ordersPlot = useMemo(
    () => ({
      dates: orders.series.map(({ date }) => date),
      series: [{ name: common('orders'), values: orders.series.map(({ value }) => value) }],
    }),
    [orders],
  )
  return (
    <div class="grid">
      <Section>
        <Plot title={t('salesPlot')} {...salesPlot} startsAsSketch />
      </Section>
      <Section>
        <Plot title={t('ordersPlot')} {...ordersPlot} startsAsSketch />
      </Section>
    </div>
  )
}
