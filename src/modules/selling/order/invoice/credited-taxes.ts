import { multiplyHalfEven } from '../../../../lib/rounding.ts'
import type { OrderLine, Refund } from '../domain.ts'
import { sumTaxes, type TaxTotal, taxesOfParts } from '../tax-totals.ts'

type CreditedRefund = Pick<Refund, 'amount' | 'giftCardAmount' | 'lines'>

/**
 * Splits each refund into net amounts and tax by rate. Refunded lines are credited at their own rate. The rest of a
 * refund is spread over what is left of the goods and of shipping, in proportion; only what exceeds them is spread over
 * sold gift cards, because an amount leaves them in use. Once all is refunded, the credited taxes are exactly those of
 * the order. An earlier refund's split never depends on later ones.
 * @param refunds in the order of their credit notes
 */
export function creditedTaxes(
  order: Parameters<typeof taxesOfParts>[0],
  lines: readonly (Parameters<typeof taxesOfParts>[1][number] & Pick<OrderLine, 'id' | 'giftCard'>)[],
  refunds: readonly CreditedRefund[],
): TaxTotal[][] {
  const parts = taxesOfParts(order, lines).map((part) => ({ ...part, gross: part.net + part.tax, credited: 0, creditedTax: 0 }))
  const indexOf = new Map(lines.map(({ id }, at) => [id, at]))
  return refunds.map((refund) => {
    const shares = parts.map(() => 0)
    const leftOf = (at: number) => (parts[at]?.gross ?? 0) - (parts[at]?.credited ?? 0) - (shares[at] ?? 0)
    let rest = refund.amount + refund.giftCardAmount
    for (const { lineId, amount } of refund.lines) {
      const at = indexOf.get(lineId) ?? -1
      // An earlier refund of an amount may have taken some of it.
      const share = Math.min(amount, rest, leftOf(at))
      if (share <= 0) continue
      shares[at] = (shares[at] ?? 0) + share
      rest -= share
    }
    for (const isCard of [false, true]) {
      const room = parts.map((_, at) => ((lines[at]?.giftCard ?? false) === isCard ? leftOf(at) : 0))
      for (const [at, share] of spreadOver(rest, room).entries()) {
        shares[at] = (shares[at] ?? 0) + share
        rest -= share
      }
    }
    const credited = parts.map((part, at) => {
      const gross = shares[at] ?? 0
      part.credited += gross
      const tax = part.gross > 0 ? multiplyHalfEven(part.tax, part.credited, part.gross) - part.creditedTax : 0
      part.creditedTax += tax
      return { rateBps: part.rateBps, inclusive: part.inclusive, net: gross - tax, tax }
    })
    const beyond = rest > 0 ? [{ rateBps: 0, inclusive: false, net: rest, tax: 0 }] : []
    return sumTaxes([...credited, ...beyond]).filter(({ net, tax }) => net !== 0 || tax !== 0)
  })
}

/** Spreads an amount in proportion to `room`, never more than it. Cumulative rounding keeps the sum exact. */
function spreadOver(amount: number, room: readonly number[]): number[] {
  const all = room.reduce((sum, one) => sum + one, 0)
  const spread = Math.min(amount, all)
  let before = 0
  let credited = 0
  return room.map((one) => {
    before += one
    const share = all > 0 ? multiplyHalfEven(spread, before, all) - credited : 0
    credited += share
    return share
  })
}
