/** Types and helpers for the data of the demo's shops. */
import type { ShippingMethod, TaxRate } from '../../db/schema/shop.ts'
import type { Money } from '../lib/money.ts'
import { handleOf } from '../lib/search-terms.ts'
import type { ProductInput, VariantInput } from '../modules/catalog/products/domain.ts'
import type { AddressFields } from '../modules/customers/customer/domain.ts'
import type { ApplicationChange, Decision } from '../modules/lending/application/domain.ts'
import type { Assessment } from '../modules/lending/credit/domain.ts'
import type { Repayment } from '../modules/lending/repayment/domain.ts'
import type { PaymentChoice } from '../modules/payments/payment/domain.ts'
import type { Partnership, ShopMethods } from '../modules/payments/payment-method/domain.ts'
import type { KybInput } from '../modules/shop/kyb/domain.ts'
import { bytesOf } from './past-clock.ts'

export type DemoProduct = Omit<ProductInput, 'variants'> & {
  title: string
  handle: string
  /** `onHand` is the stock at the end of the year. */
  variants: (VariantInput & { price: Money; onHand: number })[]
}
/** An address without its house number, which precedes the street. */
export type DemoAddress = {
  street: string
  city: string
  province: string | null
  postalCode: string | null
  countryCode: string
  /** Code of the shipping method for this address. */
  ships: string
}
export type Person = { name: string; email: string; password?: string }
type Partner = {
  name: string
  code: string
  rateBps: number
  /** Percentage of the shop's orders. */
  brings: number
  /** The day on which the affiliate becomes inactive. */
  endsDay?: number
}
export type DemoCard = {
  name: string
  amount: number
  note: string
  issuedDay: number
  expiresDay?: number
  disabledDay?: number
  /** How an order uses the card: a part of it, all of it, or all with a refund later. */
  used?: 'in part' | 'up' | 'and refunded'
}
/** A loan application. Days are days of the demo year. */
export type DemoLoan = {
  day: number
  /** The amount is in dollars. */
  asks: Partial<Omit<ApplicationChange, 'documentationCompleted'>>
  /** Number of required documents to upload. Default: all. */
  documents?: number
  submittedDay?: number
  withdrawn?: { day: number; reason: string }
  decisions?: readonly { day: number; decision: Decision; reason?: string; partnerExternalRef?: string; assessment?: Assessment }[]
}
/** Outcomes of a loan's instalments. */
export type DemoRepaid = {
  lender: string
  loanRef: string
  /** Amount of one instalment, in dollars. */
  amountUsd: number
  firstDay: number
  everyDays: number
  outcomes: readonly Repayment['outcome'][]
}
export type DemoShop = {
  name: string
  title: string
  description: string
  currency: string
  country: string
  merchant: { email: string; password: string }
  /** Days count from the first day of the demo year. */
  opensDay: number
  ordersInYear: number
  /** Days between two later products. */
  newProductEveryDays: number
  utcOffsetHours: number
  /** Time zone of the console and the mails. */
  timeZone: string
  carrier: string
  taxRates: TaxRate[]
  shippingMethods: ShippingMethod[]
  /** In order of creation. The first `productsAtFirst` exist at the opening; the others follow one by one. */
  products: readonly DemoProduct[]
  productsAtFirst: number
  /** Unpublished products. */
  drafts?: readonly DemoProduct[]
  places: readonly DemoAddress[]
  /** In the order in which they join. */
  people: readonly Person[]
  /** The inputs of the payment resolver. */
  ways?: {
    /** The merchant's choice. */
    methods?: ShopMethods
    /** An approved KYB application. Shares are in percent. */
    kyb?: KybInput
    partnership?: Omit<Partnership, 'shopIds'>
  }
  loans?: readonly DemoLoan[]
  repaid?: readonly DemoRepaid[]
  /** How orders were paid. `percent` is the share of orders. */
  payments: readonly { processor: string; method: PaymentChoice['method']; percent: number }[]
  partners?: readonly Partner[]
  cards: readonly DemoCard[]
  /** Each collection contains the products of a type. */
  collections?: readonly { title: string; type: string }[]
  blogs?: readonly { title: string; excerpt: string; bodyHtml: string; tags: string[] }[]
}

/** Repeats an outcome for `count` instalments. */
export const times = (count: number, outcome: Repayment['outcome']): Repayment['outcome'][] => Array.from({ length: count }, () => outcome)

/**
 * A product as a tuple. The price is in minor units, `tags` are separated by commas, and `words` is the description.
 */
export type Line = readonly [
  title: string,
  type: string,
  vendor: string,
  price: number,
  tags: string,
  words: string,
  options?: { name: string; values: string[] },
]

/**
 * Builds products from tuples.
 * @param step price difference between consecutive variants, in minor units
 */
export const productsOf = (lines: readonly Line[], { currency, step }: { currency: string; step: number }): DemoProduct[] =>
  lines.map(([title, type, vendor, price, tags, words, options], nth) => ({
    title,
    handle: handleOf(title),
    type,
    vendor,
    tags: tags.split(', '),
    descriptionHtml: `<p>${words}</p>`,
    status: 'ACTIVE',
    options: options ? [options] : [],
    variants: (options?.values ?? [undefined]).map((value, at) => ({
      optionValues: value === undefined ? [] : [value],
      price: { amount: price + at * step, currency },
      compareAtPrice: nth % 6 === 0 ? { amount: Math.round(price * 1.25), currency } : null,
      cost: { amount: Math.round(price * 0.4), currency },
      sku: `${vendor.slice(0, 2).toUpperCase()}-${String(nth + 1).padStart(3, '0')}-${at + 1}`,
      weightGrams: 200 + ((nth * 137) % 2_000),
      onHand: (nth * 7 + at * 3) % 40,
    })),
  }))

/**
 * Creates fictitious people. Their addresses at example.com receive no mail.
 * @param lines names, separated by commas
 */
export const peopleOf = (...lines: string[]): Person[] =>
  lines.flatMap((line) => line.split(', ')).map((name) => ({ name, email: `${handleOf(name).replaceAll('-', '.')}@example.com` }))

/** Returns a person's address. The house number follows from the email address. */
export const addressAt = ({ name, email }: Person, { street, city, province, postalCode, countryCode }: DemoAddress): AddressFields => ({
  name,
  line1: `${1 + (bytesOf(email)[0] ?? 0)} ${street}`,
  city,
  province,
  postalCode,
  countryCode,
})
