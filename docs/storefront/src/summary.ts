/** Lines and totals of a cart or an order. */
import type { Schema } from './api.ts'
import type { Cart } from './cart.ts'
import { type Child, h } from './dom.ts'
import type { Words } from './i18n.ts'

type Money = Schema<'Money'>

type Line = { readonly title: string | null; readonly variantTitle: string | null; readonly quantity: number; readonly total: Money }

/** The name of a line. Each text has its own direction. */
export const nameOf = ({ title, variantTitle }: Pick<Line, 'title' | 'variantTitle'>, words: Words): Child => [
  h('bdi', {}, title ?? words.gone),
  variantTitle !== null && variantTitle !== '' && variantTitle !== 'Default Title' && [' ', h('bdi', { class: 'small' }, variantTitle)],
]

export const linesList = (lines: readonly Line[], words: Words): HTMLElement =>
  h(
    'ul',
    { class: 'lines' },
    lines.map((line) => h('li', {}, h('span', {}, nameOf(line, words), ' × ', line.quantity), h('span', {}, words.money(line.total)))),
  )

type Sum = readonly [label: string, amount: Money, sign?: 'less']
/** @param sums zero amounts are left out */
function sumsList(sums: readonly Sum[], last: Sum, words: Words, inLast: readonly Sum[]): HTMLElement {
  const row = ([label, amount, sign]: Sum, style?: string) => [
    h('dt', { class: style }, label),
    h('dd', { class: style }, words.money(sign === 'less' ? { ...amount, amount: -amount.amount } : amount)),
  ]
  const some = (all: readonly Sum[]) => all.filter(([, { amount }]) => amount !== 0)
  return h(
    'dl',
    { class: 'sums' },
    some(sums).map((sum) => row(sum)),
    row(last, 'total'),
    some(inLast).map((sum) => row(sum, 'small')),
  )
}

export function cartSums({ totals }: Cart, words: Words): HTMLElement {
  const { tax, shippingTax } = totals
  const ofShipping = shippingTax ? [[words.shippingTax, shippingTax] as const] : []
  const isIncluded = tax.amount < (shippingTax?.amount ?? 0)
  return sumsList(
    [
      [words.subtotal, totals.subtotal],
      [words.discount, totals.discount, 'less'],
      [words.shipping, totals.shipping],
      [words.tax, tax],
      ...(isIncluded ? [] : ofShipping),
      [words.giftCards, totals.giftCards, 'less'],
    ],
    [words.due, totals.amountDue],
    words,
    [[words.taxIncluded, totals.taxIncluded], ...(isIncluded ? ofShipping : [])],
  )
}

export function orderSums(order: Schema<'PublicOrder'>, words: Words): HTMLElement {
  const ofShipping = [words.shippingTax, order.shippingTax] as const
  const isIncluded = order.shippingTaxRate?.inclusive ?? false
  return sumsList(
    [
      [words.subtotal, order.subtotal],
      [words.discount, order.discountTotal, 'less'],
      [words.shipping, order.shippingTotal],
      [words.tax, order.taxTotal],
      ...(isIncluded ? [] : [ofShipping]),
    ],
    [words.total, order.total],
    words,
    [
      [words.taxIncluded, order.taxIncluded],
      ...(isIncluded ? [ofShipping] : []),
      [words.giftCards, order.giftCardTotal],
      [words.refunded, order.refundedTotal],
      [words.refundedToCards, order.giftCardRefundedTotal],
    ],
  )
}

/** Returns how to pay outside souk, as the shop wrote it. */
export const instructionsOf = ({ title, instructions }: { title: string; instructions: string }): HTMLElement =>
  h(
    'section',
    {},
    h('h2', {}, h('bdi', {}, title)),
    instructions.split('\n').map((line) => line.trim() !== '' && h('p', {}, h('bdi', {}, line))),
  )
