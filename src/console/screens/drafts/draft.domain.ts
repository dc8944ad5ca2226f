/** A draft order as it is typed, and as the API takes it. */

import type { Schema } from '../../lib/api/api.ts'
import { type Money, moneyText, parseMoney } from '../../lib/forms/amounts.ts'
import { wholeNumber } from '../../lib/forms/number-input.ts'

type Draft = Schema<'DraftOrder'>
type Postal = Schema<'PostalAddress'>

/** A draft as it was read, with its version. */
export type Versioned = { readonly data: Draft; readonly etag: string }

/** A line as it is typed; what is shown of it comes along. */
export type TypedLine = {
  readonly variantId: string
  readonly title: string
  readonly detail: string
  readonly quantity: string
  /** In major units; empty: what the product costs when it is saved. */
  readonly price: string
}

/** What is typed. What stands empty is left to whoever pays. */
export type Typed = {
  readonly lines: readonly TypedLine[]
  readonly email: string
  readonly customerId: string | null
  readonly shippingAddress: Postal | null
  readonly billingAddress: Postal | null
  readonly shippingMethod: string
  readonly discountCode: string
  readonly note: string
}

export const nothingTyped: Typed = {
  lines: [],
  email: '',
  customerId: null,
  shippingAddress: null,
  billingAddress: null,
  shippingMethod: '',
  discountCode: '',
  note: '',
}

/** What a variant is called beside its product. */
export const detailOf = ({
  variantTitle,
  title,
  sku,
}: {
  variantTitle?: string | null
  title?: string | null
  sku: string | null
}): string => [variantTitle ?? title, sku].filter((text) => text && text !== 'Default Title').join(' · ')

/** A draft as a form shows it: of what whoever pays may say, only what the shop has said. */
export function typedOf(draft: Draft): Typed {
  const { settled } = draft
  return {
    lines: draft.lines.map(({ variantId, title, variantTitle, sku, quantity, unitPrice }) => ({
      variantId,
      title: title ?? variantId,
      detail: detailOf({ variantTitle, sku }),
      quantity: String(quantity),
      price: moneyText(unitPrice),
    })),
    email: settled.includes('email') ? (draft.email ?? '') : '',
    customerId: draft.customerId,
    shippingAddress: settled.includes('shippingAddress') ? draft.shippingAddress : null,
    billingAddress: settled.includes('billingAddress') ? draft.billingAddress : null,
    shippingMethod: settled.includes('shippingMethod') ? (draft.shippingMethod ?? '') : '',
    discountCode: draft.discountCode ?? '',
    note: draft.note ?? '',
  }
}

/** Where something was typed that cannot be sent. */
export type Wrong = { readonly line?: string; readonly what: 'noLines' | 'quantity' | 'price' }

export type Body = {
  readonly lines: { variantId: string; quantity: number; unitPrice?: { amount: number; currency: string } }[]
  readonly email: string | null
  readonly customerId: string | null
  readonly shippingAddress: Postal | null
  readonly billingAddress: Postal | null
  readonly shippingMethod: string | null
  readonly discountCode: string | null
  readonly note: string | null
}

/** A quantity as the API takes it, or undefined. */
export const quantityIn = (text: string): number | undefined => wholeNumber(text, 4) || undefined

/** The price that was typed, null for none, undefined for what is no amount. */
export function priceIn(text: string, currency: string): Money | null | undefined {
  return text.trim() === '' ? null : parseMoney(text, currency)
}

/** What is wrong with what was typed; undefined where nothing is. What else may be wrong, souk says. */
export function wrongIn({ lines }: Typed, currency: string): Wrong | undefined {
  if (lines.length === 0) return { what: 'noLines' }
  for (const { variantId, quantity, price } of lines) {
    if (quantityIn(quantity) === undefined) return { line: variantId, what: 'quantity' }
    if (priceIn(price, currency) === undefined) return { line: variantId, what: 'price' }
  }
  return undefined
}

/** What is sent of a new draft. Nothing may be wrong with it. */
export function bodyOf(typed: Typed, currency: string): Body {
  const text = (value: string) => value.trim() || null
  return {
    lines: typed.lines.map(({ variantId, quantity, price }) => {
      const unitPrice = priceIn(price, currency)
      return { variantId, quantity: quantityIn(quantity) ?? 0, ...(unitPrice ? { unitPrice: { ...unitPrice } } : {}) }
    }),
    email: text(typed.email),
    customerId: typed.customerId,
    shippingAddress: typed.shippingAddress,
    billingAddress: typed.billingAddress,
    shippingMethod: text(typed.shippingMethod),
    discountCode: text(typed.discountCode),
    note: text(typed.note),
  }
}

/** What is sent of a change: the rest stays as it is, and what whoever pays has said stays theirs. */
export function changeOf(begun: Typed, typed: Typed, currency: string): Partial<Body> {
  const before = bodyOf(begun, currency)
  return Object.fromEntries(
    Object.entries(bodyOf(typed, currency)).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof Body])),
  )
}

/** What the lines come to before discounts, shipping and tax, as far as it can be told, in minor units. */
export function subtotalOf({ lines }: Typed, currency: string): number | undefined {
  let sum = 0
  for (const { quantity, price } of lines) {
    const units = quantityIn(quantity)
    const each = priceIn(price, currency)
    if (units === undefined || !each) return undefined
    sum += units * each.amount
  }
  return Number.isSafeInteger(sum) ? sum : undefined
}
