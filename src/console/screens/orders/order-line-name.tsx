import { variantTitleText } from '../../lib/format/variant-title.ts'
import type { OrderLine } from './order-types.ts'

/** Shows the product, variant and SKU of an order line. */
export const OrderLineName = ({ line: { title, variantTitle, sku } }: { line: Pick<OrderLine, 'title' | 'variantTitle' | 'sku'> }) => (
  <span>
    <bdi>{title}</bdi>
    {[variantTitleText(variantTitle), sku].filter(Boolean).map((text, index) => (
      <small key={index} class="faint">
        {index === 0 ? ' ' : ' · '}
        <bdi>{text}</bdi>
      </small>
    ))}
  </span>
)
