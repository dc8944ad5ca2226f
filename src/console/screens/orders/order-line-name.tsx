import type { OrderLine } from './order-types.ts'

/** Shows the product, variant and SKU of an order line. */
export const OrderLineName = ({ of: { title, variantTitle, sku } }: { of: Pick<OrderLine, 'title' | 'variantTitle' | 'sku'> }) => (
  <span class="line-name">
    <bdi>{title}</bdi>
    {[variantTitle === 'Default Title' ? '' : variantTitle, sku].filter(Boolean).map((text, place) => (
      <small key={place} class="faint">
        {' '}
        <bdi>{text}</bdi>
      </small>
    ))}
  </span>
)
