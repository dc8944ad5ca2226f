/** The form values of a draft order and its request bodies. */

import type { Schema, Versioned } from '../../lib/api/api.ts'
import { pickChanges } from '../../lib/api/changed-fields.ts'
import { variantTitleText } from '../../lib/format/variant-title.ts'
import { type Money, moneyText, parseMoney } from '../../lib/forms/amounts.ts'
import { wholeNumber } from '../../lib/forms/number-input.ts'

type Draft = Schema<'DraftOrder'>
type Postal = Schema<'PostalAddress'>

export type VersionedDraft = Versioned<Draft>

/** A line's values, with the texts that are shown. */
export type LineText = {
  readonly variantId: string
  readonly title: string
  readonly detail: string
  readonly quantity: string
  /** In major units; empty means the product's price at the time of saving. */
  readonly price: string
}

/** The form's values. The shopper fills what stays empty. */
export type DraftText = {
  readonly lines: readonly LineText[]
  readonly email: string
  readonly customerId: string | null
  readonly shippingAddress: Postal | null
  readonly billingAddress: Postal | null
  readonly shippingMethod: string
  readonly discountCode: string
  readonly note: string
}

export const blankDraft: DraftText = {
  lines: [],
  email: '',
  customerId: null,
  shippingAddress: null,
  billingAddress: null,
  shippingMethod: '',
  discountCode: '',
  note: '',
}

/** Returns the variant title and SKU. */
export const variantDetail = ({
  variantTitle,
  title,
  sku,
}: {
  variantTitle?: string | null
  title?: string | null
  sku: string | null
}): string => [variantTitleText(variantTitle ?? title), sku].filter(Boolean).join(' · ')

/** Returns the form's values of a draft: only what the shop has set, not what the shopper has. */
export function textOf(draft: Draft): DraftText {
  const { settled } = draft
  return {
    lines: draft.lines.map(({ variantId, title, variantTitle, sku, quantity, unitPrice }) => ({
      variantId,
      title: title ?? variantId,
      detail: variantDetail({ variantTitle, sku }),
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

/** Why a draft cannot be sent. */
type LineError = { readonly line?: string; readonly problem: 'noLines' | 'quantity' | 'price' }

type Body = {
  readonly lines: { variantId: string; quantity: number; unitPrice?: { amount: number; currency: string } }[]
  readonly email: string | null
  readonly customerId: string | null
  readonly shippingAddress: Postal | null
  readonly billingAddress: Postal | null
  readonly shippingMethod: string | null
  readonly discountCode: string | null
  readonly note: string | null
}

/** Parses a quantity; undefined if invalid. */
export const parseQuantity = (text: string): number | undefined => wholeNumber(text, 4) || undefined

/** Parses a price; null for empty, undefined if invalid. */
export function parsePrice(text: string, currency: string): Money | null | undefined {
  return text.trim() === '' ? null : parseMoney(text, currency)
}

/** Returns the first error of the lines. The API checks the rest. */
export function findLineError({ lines }: DraftText, currency: string): LineError | undefined {
  if (lines.length === 0) return { problem: 'noLines' }
  for (const { variantId, quantity, price } of lines) {
    if (parseQuantity(quantity) === undefined) return { line: variantId, problem: 'quantity' }
    if (parsePrice(price, currency) === undefined) return { line: variantId, problem: 'price' }
  }
  return undefined
}

/** Builds the body of a new draft from valid values. */
export function bodyOf(input: DraftText, currency: string): Body {
  const text = (value: string) => value.trim() || null
  return {
    lines: input.lines.map(({ variantId, quantity, price }) => {
      const unitPrice = parsePrice(price, currency)
      return { variantId, quantity: parseQuantity(quantity) ?? 0, ...(unitPrice ? { unitPrice: { ...unitPrice } } : {}) }
    }),
    email: text(input.email),
    customerId: input.customerId,
    shippingAddress: input.shippingAddress,
    billingAddress: input.billingAddress,
    shippingMethod: text(input.shippingMethod),
    discountCode: text(input.discountCode),
    note: text(input.note),
  }
}

/** Builds a body of the changed fields, so that the shopper's entries stay. */
export const changeOf = (base: DraftText, input: DraftText, currency: string): Partial<Body> =>
  pickChanges(bodyOf(input, currency), bodyOf(base, currency))

/** Returns the lines' total in minor units, before discounts, shipping and tax; undefined if a price is missing. */
export function subtotalOf({ lines }: DraftText, currency: string): number | undefined {
  let sum = 0
  for (const { quantity, price } of lines) {
    const units = parseQuantity(quantity)
    const unitPrice = parsePrice(price, currency)
    if (units === undefined || !unitPrice) return undefined
    sum += units * unitPrice.amount
  }
  return Number.isSafeInteger(sum) ? sum : undefined
}
