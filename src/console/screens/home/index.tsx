import { useMemo } from 'preact/hooks'
import { api, ok, type Schema } from '../../lib/api/api.ts'
import { takePrefetched } from '../../lib/api/prefetch.ts'
import { useResource } from '../../lib/api/resource.ts'
import { day, money, number, percent } from '../../lib/format/format.ts'
import { useLiveReload } from '../../lib/live/live-events.ts'
import { parseDateRange, rangeDates } from '../../lib/navigation/date-range.ts'
import { type Query, useQuery } from '../../lib/navigation/query.ts'
import { role, shop } from '../../lib/session/current-shop.ts'
import { Plot } from '../../ui/chart.tsx'
import { DateRangeFilter } from '../../ui/date-range-filter.tsx'
import { Deferred } from '../../ui/deferred.tsx'
import { Figure } from '../../ui/figure.tsx'
import { Page, ResourceView, Section } from '../../ui/page.tsx'
import { t } from './i18n.ts'
import { WaitingList } from './needs-attention.tsx'
import { Sellers } from './sellers.tsx'
import { NextSteps } from './steps.tsx'

/** What it reads where its address has no query. */
export const readsFirst = '/shops/v2/overview'

/** How a shop stands: what it sold in some days, and what waits for its people now. */
export default function Home() {
  const query = useQuery()
  const shown = parseDateRange(query.of)
  const overview = useResource<Schema<'Overview'>>(
    JSON.stringify([shown.days, query.of['from'], query.of['to']]),
    // By the day that it is by then: a page that stays open goes on with the days.
    (signal) => ok(api.GET('/shops/v2/overview', { params: { query: rangeDates(parseDateRange(query.of)) }, signal })),
    () => takePrefetched(Object.keys(query.of).length === 0 ? readsFirst : undefined),
  )
  // Of many orders at once it is enough to see some of the steps.
  useLiveReload(['order.*', 'stock.low', 'shop.*'], overview.reload, () => true, 1_500)
  return (
    <Page title={shop.value?.title || shop.value?.name || t('title')} subtitle={t('subtitle')}>
      <DateRangeFilter query={query} shown={shown} />
      <ResourceView of={overview}>{(of) => <Standing of={of} query={query} />}</ResourceView>
    </Page>
  )
}

function Standing({ of, query }: { of: Schema<'Overview'>; query: Query }) {
  const isNew = of.orders.confirmed === 0 && of.goLive?.steps.some(({ step, done }) => step === 'PRODUCTS' && !done)
  return (
    <>
      <NextSteps of={of} />
      {!isNew && (
        <>
          <Figures of={of} />
          <div class="columns turned">
            <WaitingList of={of} />
            <Plots of={of} />
          </div>
          <Deferred>
            <Sellers of={of} query={query} leads={role.value !== 'FULFILMENT'} />
          </Deferred>
        </>
      )}
    </>
  )
}

/** The API says how many per cent; a figure takes a part of one. */
const changeOf = (percentChange: number | null) => (percentChange === null ? null : percentChange / 100)

function Figures({ of: { sales, orders, carts, startDate, endDate } }: { of: Schema<'Overview'> }) {
  return (
    <>
      <p class="faint">{t('days', { from: day(startDate), to: day(endDate) })}</p>
      <div class="grid">
        <Figure
          name={t('sales')}
          value={money(sales.net)}
          change={changeOf(sales.percentChange)}
          before={money(sales.previous.net)}
          note={t('salesNote', { confirmed: money(sales.confirmed), refunds: money(sales.refunds) })}
        />
        <Figure
          name={t('orders')}
          value={number(orders.confirmed)}
          change={changeOf(orders.percentChange)}
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

function Plots({ of: { sales, orders, currency } }: { of: Schema<'Overview'> }) {
  // A plot is drawn anew when these are others.
  const ofSales = useMemo(
    () => ({
      dates: sales.series.map(({ date }) => date),
      series: [
        { name: t('sales'), values: sales.series.map(({ net }) => net) },
        { name: t('refunds'), values: sales.series.map(({ refunds }) => refunds) },
      ],
      format: (amount: number) => money({ amount: Math.round(amount), currency }),
    }),
    [sales, currency],
  )
  const ofOrders = useMemo(
    () => ({
      dates: orders.series.map(({ date }) => date),
      series: [{ name: t('orders'), values: orders.series.map(({ value }) => value) }],
    }),
    [orders],
  )
  return (
    <div class="stack">
      <Section>
        <Plot title={t('salesPlot')} {...ofSales} sketched />
      </Section>
      <Section>
        <Plot title={t('ordersPlot')} {...ofOrders} sketched />
      </Section>
    </div>
  )
}
