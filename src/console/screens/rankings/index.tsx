import { api, ok, pathWith, type Schema } from '../../lib/api/api.ts'
import { download } from '../../lib/api/download.ts'
import { type Resource, useResource } from '../../lib/api/resource.ts'
import { number, usd } from '../../lib/format/format.ts'
import { serverNow } from '../../lib/format/server-clock.ts'
import { common } from '../../lib/i18n/common.ts'
import { useLiveReload, useVisibleInterval } from '../../lib/live/live-events.ts'
import { operatorDayChoices, parseDateRange, rangeDates, rangeQuery } from '../../lib/navigation/date-range.ts'
import { type Query, useQuery } from '../../lib/navigation/query.ts'
import { operatorPath } from '../../lib/session/current-shop.ts'
import { type SalesMode, salesMode } from '../../lib/session/sales-mode.ts'
import { Button } from '../../ui/button.tsx'
import { DateRangeFilter } from '../../ui/date-range-filter.tsx'
import { Note } from '../../ui/note.tsx'
import { EmptyState, Page, ResourceView } from '../../ui/page.tsx'
import { ReadingDates } from '../../ui/reading-dates.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { t } from './i18n.ts'

type Merchant = Schema<'TopMerchants'>['data'][number]
type Product = Schema<'TopProducts'>['data'][number]

const limits = [10, 25, 50, 100] as const
/** A busy instance must not recompute rankings for each order. */
const reloadDelayMs = 5_000
/** A new day sends no event. */
const pollMs = 60_000

type Dates = ReturnType<typeof rangeDates>
const queryDates = (values: Query['values']): Dates => rangeDates(parseDateRange(values, operatorDayChoices))

/** Reads a ranking with its reading time. */
function useRanking<Of>(
  query: Query,
  limit: number,
  read: (parameters: Dates & { limit: number; mode: SalesMode }, signal: AbortSignal) => Promise<Of>,
) {
  const ranking: Resource<Of & { readAt: string; isTest: boolean }> = useResource(
    `${rangeQuery(query.values)} ${limit}`,
    async (signal) => {
      const mode = await salesMode(signal)
      const response = await read({ ...queryDates(query.values), limit, mode }, signal)
      return { ...response, isTest: mode === 'TEST', readAt: new Date(serverNow()).toISOString() }
    },
  )
  useLiveReload(['order.confirmed'], ranking.reload, undefined, reloadDelayMs)
  useVisibleInterval(pollMs, ranking.reload)
  return ranking
}

/** Best-selling products and merchants of affiliates. */
export default function Rankings() {
  const query = useQuery()
  const range = parseDateRange(query.values, operatorDayChoices)
  const limit = limits.find((limit) => String(limit) === query.values['limit']) ?? 10
  const isByProduct = query.values['top'] === 'products'
  const path = isByProduct ? '/admin/affiliate/top-products' : '/admin/affiliate/top-merchants'
  return (
    <Page
      title={common('rankings')}
      subtitle={t('subtitle')}
      actions={
        <Button
          icon="download"
          onPress={async () =>
            download(
              pathWith(path, { ...queryDates(query.values), limit, mode: await salesMode() }),
              `${path.split('/').at(-1)}.csv`,
              'text/csv',
            )
          }
          text={common('download')}
        />
      }
    >
      <DateRangeFilter query={query} range={range} dayCounts={operatorDayChoices} />
      <Tabs
        label={t('kind')}
        tabs={[
          { href: query.href({ top: undefined }), text: t('merchants'), current: !isByProduct },
          { href: query.href({ top: 'products' }), text: common('products'), current: isByProduct },
        ]}
      />
      <LimitFilter query={query} limit={limit} />
      {isByProduct ? <TopProducts query={query} limit={limit} /> : <TopMerchants query={query} limit={limit} />}
    </Page>
  )
}

const LimitFilter = ({ query, limit }: { query: Query; limit: number }) => (
  <div class="filters">
    <label class="filter">
      <span>{t('limit')}</span>
      <select value={limit} onChange={({ currentTarget: { value } }) => query.set({ limit: value === '10' ? undefined : value })}>
        {limits.map((limit) => (
          <option key={limit} value={limit}>
            {number(limit)}
          </option>
        ))}
      </select>
    </label>
  </div>
)

type RankingReading<Row> = { data: readonly Row[]; startDate: string; endDate: string; readAt: string; isTest: boolean }

function RankingTable<Row>({
  ranking,
  ...table
}: { ranking: Resource<RankingReading<Row>> } & Omit<Parameters<typeof Table<Row>>[0], 'rows'>) {
  return (
    <ResourceView resource={ranking}>
      {({ data, startDate, endDate, readAt, isTest }) => (
        <>
          <ReadingDates startDate={startDate} endDate={endDate} readAt={readAt} />
          {isTest && <Note tone="info">{common('testMode')}</Note>}
          {data.length === 0 ? <EmptyState icon="people" title={t('none')} text={t('noneText')} /> : <Table {...table} rows={data} />}
        </>
      )}
    </ResourceView>
  )
}

const merchantColumns = (): readonly Column<Merchant>[] => [
  { title: t('rank'), cell: ({ rank }) => number(rank) },
  { title: common('shop'), main: true, cell: ({ shopName }) => <bdi>{shopName}</bdi> },
  { title: t('gmv'), alignEnd: true, cell: ({ affiliateGmvUsd }) => usd(affiliateGmvUsd) },
  { title: common('orders'), alignEnd: true, cell: ({ orders }) => number(orders) },
]

function TopMerchants({ query, limit }: { query: Query; limit: number }) {
  const ranking = useRanking(query, limit, (parameters, signal) =>
    ok(api.GET('/admin/affiliate/top-merchants', { params: { query: parameters }, signal })),
  )
  return (
    <RankingTable
      ranking={ranking}
      caption={t('merchants')}
      columns={merchantColumns()}
      rowKey={({ merchantId }) => merchantId}
      href={({ shopName }) => pathWith(operatorPath('shops'), { q: shopName })}
    />
  )
}

const productColumns = (): readonly Column<Product>[] => [
  { title: t('rank'), cell: ({ rank }) => number(rank) },
  { title: common('product'), main: true, cell: ({ title }) => <bdi class="cut">{title}</bdi> },
  {
    title: common('shop'),
    cell: ({ shopName }) => (
      <a href={pathWith(operatorPath('shops'), { q: shopName })}>
        <bdi>{shopName}</bdi>
      </a>
    ),
  },
  { title: common('units'), alignEnd: true, cell: ({ unitsSold }) => number(unitsSold) },
  { title: t('gmv'), alignEnd: true, cell: ({ affiliateGmvUsd }) => usd(affiliateGmvUsd) },
]

function TopProducts({ query, limit }: { query: Query; limit: number }) {
  const ranking = useRanking(query, limit, (parameters, signal) =>
    ok(api.GET('/admin/affiliate/top-products', { params: { query: parameters }, signal })),
  )
  return <RankingTable ranking={ranking} caption={common('products')} columns={productColumns()} rowKey={({ productId }) => productId} />
}
