import type { Schema } from '../../lib/api/api.ts'
import { money, number } from '../../lib/format/format.ts'
import { common } from '../../lib/i18n/common.ts'
import type { Query } from '../../lib/navigation/query.ts'
import { Picture } from '../../ui/picture.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { type Column, columnSort } from '../../ui/table.tsx'
import { t } from './i18n.ts'
import { stockOf } from './stock.domain.ts'

export type Product = Schema<'Product'>
export const productStatuses = ['ACTIVE', 'DRAFT', 'ARCHIVED'] as const

/** Shows the available stock. */
function StockCell({ product }: { product: Product }) {
  const { tracked, available } = stockOf(product.variants)
  if (tracked === 0) return <span class="faint">{t('notCounted')}</span>
  return <span class={available <= 0 ? 'state bad' : undefined}>{available <= 0 ? t('soldOut') : number(available)}</span>
}

const price = ({ priceRange: { min, max } }: Product) => (min.amount === max.amount ? money(min) : `${money(min)} – ${money(max)}`)

/** Returns the columns of the list of products. */
export const columns = (query: Query): readonly Column<Product>[] => [
  {
    title: common('product'),
    main: true,
    sort: columnSort(query, 'title'),
    cell: ({ title, images }) => (
      <span class="named">
        <Picture url={images[0]?.url} />
        <bdi class="cut">{title}</bdi>
      </span>
    ),
  },
  { title: common('status'), name: 'status', cell: ({ status }) => <StatusBadge status={status} /> },
  { title: t('stock'), name: 'stock', alignEnd: true, cell: (product) => <StockCell product={product} /> },
  { title: common('price'), name: 'price', sort: columnSort(query, 'price', '-price'), alignEnd: true, cell: price },
  { title: t('vendor'), name: 'vendor', words: true, cell: ({ vendor }) => <bdi class="cut short-cut">{vendor}</bdi> },
  { title: common('type'), name: 'type', words: true, cell: ({ type }) => <bdi class="cut short-cut">{type}</bdi> },
]
