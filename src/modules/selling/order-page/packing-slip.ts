import { AppError } from '../../../core/errors.ts'
import { escapeHtml } from '../../../lib/markup.ts'
import { visibleVariantTitle } from '../../catalog/products/domain.ts'
import type { Phrasebook } from '../../messaging/mail/index.ts'
import { type FullOrder, unitsOf } from '../order/index.ts'
import { bdi, recipientLines, type Seller, sellerLines } from './html-pages.ts'

type PackedLine = FullOrder['lines'][number] & { readonly units: number }

/**
 * Returns what goes into the parcel: the units that are left to send or, once nothing is left, those that were sent.
 * @throws AppError CONFLICT for an order without such units
 */
function packedLines({ order, lines, fulfilments, refunds }: FullOrder): PackedLine[] {
  const units = new Map(unitsOf(order, lines, fulfilments, refunds).map((one) => [one.lineId, one]))
  const packedLinesBy = (count: 'left' | 'sent') =>
    lines.map((line) => ({ ...line, units: units.get(line.id)?.[count] ?? 0 })).filter((line) => line.units > 0)
  const left = order.status === 'CONFIRMED' ? packedLinesBy('left') : []
  const found = left.length > 0 ? left : packedLinesBy('sent')
  if (found.length === 0) throw new AppError('CONFLICT', `Order ${order.number} has nothing to pack`, { code: 'invalid_transition' })
  return found
}

/**
 * Renders a packing slip, without prices.
 * @throws AppError as `packedLines`
 */
export function packingSlipHtml(fullOrder: FullOrder, seller: Seller, words: Phrasebook): string {
  const { say, count, day } = words
  const { createdAt, shippingAddress, shippingMethod } = fullOrder.order
  const rows = packedLines(fullOrder).map(({ title, variantTitle, sku, units, quantity }) => {
    const variant = visibleVariantTitle(variantTitle)
    const name = `${bdi(title)}${variant === '' ? '' : ` <span class="note">${bdi(variant)}</span>`}`
    const packed = units === quantity ? count(units) : say.partOf(count(units), count(quantity))
    return `<tr><td>${name}</td><td>${sku === null ? '' : bdi(sku)}</td><td class="n">${escapeHtml(packed)}</td></tr>`
  })
  return `<p>${sellerLines(seller, words)}</p>
<p class="note">${escapeHtml(say.placedOn(day(createdAt, seller.timeZone)))}</p>
${shippingAddress ? `<h2>${escapeHtml(say.shipsTo)}</h2>\n<p>${recipientLines(shippingAddress, words)}</p>` : ''}
${shippingMethod ? `<p>${escapeHtml(say.shipping)}: ${bdi(shippingMethod.title)}</p>` : ''}
<table>
<thead><tr><th scope="col">${escapeHtml(say.item)}</th><th scope="col">${escapeHtml(say.sku)}</th><th scope="col" class="n">${escapeHtml(say.count)}</th></tr></thead>
<tbody>${rows.join('\n')}</tbody>
</table>`
}
