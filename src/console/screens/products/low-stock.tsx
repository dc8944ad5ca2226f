import { api, ok, type Schema } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { number } from '../../lib/format/format.ts'
import { variantTitleText } from '../../lib/format/variant-title.ts'
import { common } from '../../lib/i18n/common.ts'
import { useLiveReload } from '../../lib/live/live-events.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { canManage, shopPath } from '../../lib/session/current-shop.ts'
import { CsvButton } from '../../ui/csv-button.tsx'
import { ListView } from '../../ui/list-view.tsx'
import { EmptyState, Page } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { t } from './i18n.ts'

type LowStockVariant = Schema<'LowStock'>

const columns = (): readonly Column<LowStockVariant>[] => [
  { title: common('product'), main: true, cell: ({ title }) => <bdi class="cut">{title}</bdi> },
  {
    title: t('variant'),
    cell: ({ variantTitle }) => variantTitleText(variantTitle) && <bdi class="cut">{variantTitleText(variantTitle)}</bdi>,
  },
  { title: t('sku'), cell: ({ sku }) => sku !== null && <bdi>{sku}</bdi> },
  {
    title: t('onHand'),
    alignEnd: true,
    cell: ({ onHand }) => <span class={onHand <= 0 ? 'state bad' : 'state warn'}>{number(onHand)}</span>,
  },
  { title: t('reserved'), alignEnd: true, cell: ({ reserved }) => number(reserved) },
  { title: t('lowStockAt'), alignEnd: true, cell: ({ lowStockAt }) => number(lowStockAt) },
]

/** Variants with low stock, lowest first. */
export default function LowStock() {
  const query = useQuery()
  const low = useResource(String(query.page), (signal) =>
    ok(api.GET('/product-v2/low-stock', { params: { query: { page: query.page } }, signal })),
  )
  useLiveReload(['stock.*', 'import.finished'], low.reload)
  return (
    <Page
      title={t('lowTitle')}
      subtitle={t('lowText')}
      actions={canManage.value && <CsvButton path="/product-v2/low-stock" name="low-stock" />}
    >
      <ListView resource={low} query={query} empty={<EmptyState icon="check" title={t('noLow')} text={t('noLowText')} />}>
        {(list) => (
          <Table
            caption={t('lowTitle')}
            columns={columns()}
            rows={list.data}
            rowKey={({ variantId }) => variantId}
            href={({ productId, variantId }) => shopPath('products', productId, 'variants', variantId, 'stock')}
          />
        )}
      </ListView>
    </Page>
  )
}
