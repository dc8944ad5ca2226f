/** What a shop of the demo is made of, and how its goods are written down. */
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
  /** `onHand` is what is left at the end of the year. */
  variants: (VariantInput & { price: Money; onHand: number })[]
}
/** Where people live; a house number goes before the street. */
export type DemoAddress = {
  street: string
  city: string
  province: string | null
  postalCode: string | null
  countryCode: string
  /** The code of the shipping method that is taken there. */
  ships: string
}
export type Person = { name: string; email: string; password?: string }
type Partner = {
  name: string
  code: string
  rateBps: number
  /** Out of a hundred orders. */
  brings: number
  /** The day on which the shop parts with them. */
  endsDay?: number
}
export type DemoCard = {
  name: string
  amount: number
  note: string
  issuedDay: number
  expiresDay?: number
  disabledDay?: number
  /** By an order that leaves something on it, one that takes all of it, or one whose money went back. */
  used?: 'in part' | 'up' | 'and refunded'
}
/** An application for a loan, by the days on which something becomes of it. */
export type DemoLoan = {
  day: number
  /** An amount in dollars. */
  asks: Partial<Omit<ApplicationChange, 'documentationCompleted'>>
  /** How many of those that are required are handed in; all when it does not say. */
  documents?: number
  submittedDay?: number
  withdrawn?: { day: number; reason: string }
  decisions?: readonly { day: number; decision: Decision; reason?: string; partnerExternalRef?: string; assessment?: Assessment }[]
}
/** What became of the instalments of a loan. */
export type DemoRepaid = {
  lender: string
  loanRef: string
  /** Of each instalment, in dollars. */
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
  /** Days are counted from the first of the year that the demo tells of. */
  opensDay: number
  ordersInYear: number
  /** Of the goods that are not there on the first day: so many days lie between one and the next. */
  newProductEveryDays: number
  utcOffsetHours: number
  /** What its people read dates in. */
  timeZone: string
  carrier: string
  taxRates: TaxRate[]
  shippingMethods: ShippingMethod[]
  /** To be created in this order; those past the first `productsAtFirst` come one by one. */
  products: readonly DemoProduct[]
  productsAtFirst: number
  /** Made, and not on sale yet. */
  drafts?: readonly DemoProduct[]
  places: readonly DemoAddress[]
  /** The customers, in the order in which they come. */
  people: readonly Person[]
  /** What the resolver decides by. */
  ways?: {
    /** What the merchant has chosen. */
    methods?: ShopMethods
    /** Approved. Shares in percent. */
    kyb?: KybInput
    partnership?: Omit<Partnership, 'shopIds'>
  }
  loans?: readonly DemoLoan[]
  repaid?: readonly DemoRepaid[]
  /** How they paid, and how many out of a hundred. */
  payments: readonly { processor: string; method: PaymentChoice['method']; percent: number }[]
  partners?: readonly Partner[]
  cards: readonly DemoCard[]
  /** Of the goods of a type. */
  collections?: readonly { title: string; type: string }[]
  blogs?: readonly { title: string; excerpt: string; bodyHtml: string; tags: string[] }[]
}

/** So many instalments with one outcome. */
export const times = (count: number, outcome: Repayment['outcome']): Repayment['outcome'][] => Array.from({ length: count }, () => outcome)

/** A product on a line: title, type, vendor, price in minor units, tags, a sentence, and the option it comes in. */
export type Line = readonly [
  title: string,
  type: string,
  vendor: string,
  price: number,
  tags: string,
  words: string,
  options?: { name: string; values: string[] },
]

/** @param step how much dearer each variant is than the one before, in minor units */
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
 * People who do not exist, at addresses where no mail arrives.
 * @param lines their names, separated by commas
 */
export const peopleOf = (...lines: string[]): Person[] =>
  lines.flatMap((line) => line.split(', ')).map((name) => ({ name, email: `${handleOf(name).replaceAll('-', '.')}@example.com` }))

/** Where somebody lives. */
export const addressAt = ({ name, email }: Person, { street, city, province, postalCode, countryCode }: DemoAddress): AddressFields => ({
  name,
  line1: `${1 + (bytesOf(email)[0] ?? 0)} ${street}`,
  city,
  province,
  postalCode,
  countryCode,
})
