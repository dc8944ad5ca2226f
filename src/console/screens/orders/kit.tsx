/** What the parts of an order's page share. */
import type { Schema } from '../../lib/api/api.ts'

export type Order = Schema<'Order'>
export type Line = Order['lines'][number]

/** A window that does something to an order: `onDone` once it is done, so that the page shows it. */
export type Doing = { readonly of: Order; readonly onClose: () => void; readonly onDone: () => Promise<void> }

/** What a line is of. */
export const LineName = ({ of: { title, variantTitle, sku } }: { of: Pick<Line, 'title' | 'variantTitle' | 'sku'> }) => (
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
