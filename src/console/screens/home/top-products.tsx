import type { Schema } from '../../lib/api/api.ts'
import { number } from '../../lib/format/format.ts'
import { common } from '../../lib/i18n/common.ts'
import type { Query } from '../../lib/navigation/query.ts'
import { shopPath } from '../../lib/session/current-shop.ts'
import { Money } from '../../ui/money.tsx'
import { Section } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { t } from './i18n.ts'

type Seller = Schema<'TopSeller'>

const columns = (): readonly Column<Seller>[] => [
  { title: common('product'), main: true, cell: ({ title }) => <bdi class="cut">{title ?? t('productGone')}</bdi> },
  { title: common('units'), alignEnd: true, cell: ({ units }) => number(units) },
  { title: t('revenue'), alignEnd: true, cell: ({ revenue }) => <Money amount={revenue} /> },
]

/** Best-selling products of the dates. */
export function TopProducts({
  overview: { topProducts },
  query,
  linksToProducts,
}: {
  overview: Schema<'Overview'>
  query: Query
  linksToProducts: boolean
}) {
  const isByUnits = query.values['top'] === 'units'
  const rows = isByUnits ? topProducts.byUnits : topProducts.byRevenue
  return (
    <Section title={t('top')}>
      {rows.length === 0 ? (
        <p class="faint">{t('topNothing')}</p>
      ) : (
        <>
          <Tabs
            label={t('topView')}
            tabs={[
              { href: query.href({ top: undefined }), text: t('byRevenue'), current: !isByUnits },
              { href: query.href({ top: 'units' }), text: t('byUnits'), current: isByUnits },
            ]}
          />
          <Table
            caption={t('topTable')}
            columns={columns()}
            rows={rows}
            rowKey={({ productId }) => productId}
            href={({ productId, title }) => (linksToProducts && title !== null ? shopPath('products', productId) : undefined)}
          />
        </>
      )}
    </Section>
  )
}
