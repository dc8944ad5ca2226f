import type { OrderLine } from './order-types.ts'

/** Shows the product, variant and SKU of an order line. */
export const OrderLineName = ({ line: { title, variantTitle, sku } }: { line: Pick<OrderLine, 'title' | 'variantTitle' | 'sku'> }) => (
  <span class="line-name">
    <bdi>{title}</bdi>
    {[variantTitle === 'Default Title' ? '' : variantTitle, sku].filter(Boolean).map((text, index) => (
      <small key={index} class="faint">
        {' '}
        <bdi>{text}</bdi>
      </small>
    ))}
  </span>
)
