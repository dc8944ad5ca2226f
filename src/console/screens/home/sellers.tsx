import type { Schema } from '../../lib/api/api.ts'
import { number } from '../../lib/format/format.ts'
import type { Query } from '../../lib/navigation/query.ts'
import { at } from '../../lib/session/current-shop.ts'
import { Money, Tabs } from '../../ui/bits.tsx'
import { Section } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { w } from './i18n.ts'

type Seller = Schema<'TopSeller'>

const columns = (): readonly Column<Seller>[] => [
  { key: 'product', title: w('product'), main: true, cell: ({ title }) => <bdi class="cut">{title ?? w('productGone')}</bdi> },
  { key: 'units', title: w('units'), end: true, cell: ({ units }) => number(units) },
  { key: 'revenue', title: w('revenue'), end: true, cell: ({ revenue }) => <Money of={revenue} /> },
]

/** What sells best in these days. */
export function Sellers({ of: { topProducts }, query, leads }: { of: Schema<'Overview'>; query: Query; leads: boolean }) {
  const byUnits = query.of['top'] === 'units'
  const rows = byUnits ? topProducts.byUnits : topProducts.byRevenue
  return (
    <Section title={w('top')}>
      {rows.length === 0 ? (
        <p class="faint">{w('topNothing')}</p>
      ) : (
        <>
          <Tabs
            label={w('topView')}
            of={[
              { href: query.href({ top: undefined }), text: w('byRevenue'), current: !byUnits },
              { href: query.href({ top: 'units' }), text: w('byUnits'), current: byUnits },
            ]}
          />
          <Table
            caption={w('topTable')}
            columns={columns()}
            rows={rows}
            rowKey={({ productId }) => productId}
            href={({ productId, title }) => (leads && title !== null ? at('products', productId) : undefined)}
          />
        </>
      )}
    </Section>
  )
}
