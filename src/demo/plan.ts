/** Plans the year of each demo shop. The plan is a pure function, so that a repeated fill has the same plan. */
import { dayMs, hourMs, minuteMs } from '../lib/day.ts'
import type { PaymentChoice } from '../modules/payments/payment/domain.ts'
import { attributionWindowMs } from '../modules/selling/affiliate/domain.ts'
import { codeBytes, codeOf } from '../modules/selling/gift-card/domain.ts'
import { demoShop } from './data.ts'
import { bytesOf, demoId } from './past-clock.ts'
import type { DemoAddress, DemoCard, DemoProduct, DemoShop, Person } from './shop.ts'

export const daysInYear = 365
/** Delay between a partial shipment and the rest, in milliseconds. */
const restAfterMs = 52 * hourMs

/** Planned steps of an order, in milliseconds since the epoch. */
type Fate = {
  /** Its first payment is declined. Without a second payment or a cancellation, the order expires. */
  declined?: boolean
  paidAgainAt?: number
  cancelledAt?: number
  sentAt?: number
  /** `sentAt` ships only a part; this ships the rest. */
  restSentAt?: number
  refund?: { at: number; percent: number }
}
export type PlannedOrder = {
  id: string
  at: number
  buyer: Person
  isGuest: boolean
  place: DemoAddress
  lines: { handle: string; variant: number; quantity: number }[]
  /** Minor units. */
  subtotal: number
  payment: { processor: string; method: PaymentChoice['method'] }
  /** An affiliate's code. */
  partner: string | undefined
  fate: Fate
}
type PlannedProduct = DemoProduct & { at: number }
export type PlannedCustomer = Person & { joinsAt: number; place: DemoAddress }
export type ShopPlan = ReturnType<typeof planOf>

/** A seeded random number generator. */
type Chance = { below(limit: number): number; of<One>(list: readonly One[]): One }

function chanceOf(name: string): Chance {
  let state = bytesOf(name).readUInt32BE()
  // mulberry32
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return { below, of: (list) => at(list, below(list.length)) }
}

function at<One>(list: readonly One[], nth: number): One {
  const one = list[nth % list.length]
  if (one === undefined) throw new Error('the demo has nothing to choose from')
  return one
}

/** Picks one item by its percentage. Returns undefined for the rest of the hundred. */
function pickByPercent<One>(chance: Chance, list: readonly One[], percentOf: (one: One) => number): One | undefined {
  let roll = chance.below(100)
  return list.find((one) => {
    roll -= percentOf(one)
    return roll < 0
  })
}

/**
 * Plans a shop's products, customers, orders, gift cards and clicks.
 * @param start first millisecond of the first day of the year, UTC
 */
export function planOf(shop: DemoShop, start: number) {
  const chance = chanceOf(shop.name)
  const dayAt = (day: number, hours = 0) => start + day * dayMs + hours * hourMs
  const opensAt = dayAt(shop.opensDay, 8)
  const products: PlannedProduct[] = shop.products.map((product, nth) => {
    const position = nth - shop.productsAtFirst + 1
    return { ...product, at: position > 0 ? dayAt(shop.opensDay + position * shop.newProductEveryDays, 9) : opensAt + (nth + 1) * minuteMs }
  })
  const daysToJoin = daysInYear - 3 - shop.opensDay
  const customers: PlannedCustomer[] = shop.people.map((person, nth) => ({
    ...person,
    joinsAt: dayAt(shop.opensDay + 1 + Math.floor((daysToJoin * nth) / shop.people.length), 7) + nth * minuteMs,
    place: at(shop.places, nth),
  }))
  const scene = { shop, start, products, customers, newcomers: [...customers] }
  const orders = momentsOf(shop, start, chance).map((moment, before) => orderOf(scene, { moment, nth: before + 1 }, chance))
  return {
    shop,
    start,
    opensAt,
    products: [...products, ...(shop.drafts ?? []).map((draft) => ({ ...draft, at: dayAt(daysInYear - 4, 9) }))],
    customers,
    orders,
    cards: cardsOf(shop, dayAt, orders),
    clicks: clicksOf(shop, dayAt, orders),
    /** Affiliates that become inactive. */
    partings: (shop.partners ?? []).flatMap(({ code, endsDay }) => (endsDay === undefined ? [] : [{ code, leavesAt: dayAt(endsDay) }])),
  }
}

/** Relative demand by weekday; index 0 is Sunday, as in JavaScript. Fridays and Saturdays sell most. */
const demandByWeekday = [1.1, 0.65, 0.7, 0.85, 1, 1.35, 1.6]
/** Hours of orders in local time. An hour that is listed more often is more likely. */
const shoppingHours = [9, 10, 11, 12, 13, 14, 16, 17, 18, 19, 19, 20, 20, 20, 21, 21, 22]

/** Returns the times of all orders, ascending. Demand grows over the year. */
function momentsOf({ opensDay, ordersInYear, utcOffsetHours }: DemoShop, start: number, chance: Chance): number[] {
  const firstDay = opensDay + 1
  const demand = Array.from({ length: daysInYear - firstDay }, (_, day) => {
    const weekday = new Date(start + (firstDay + day) * dayMs).getUTCDay()
    return (0.4 + (firstDay + day) / daysInYear) * (demandByWeekday[weekday] ?? 1) * (0.8 + chance.below(40) / 100)
  })
  const each = ordersInYear / demand.reduce((sum, one) => sum + one, 0)
  let due = 0.5
  return demand.flatMap((one, day) => {
    due += one * each
    const count = Math.floor(due)
    due -= count
    return Array.from({ length: count }, () => {
      const hour = (chance.of(shoppingHours) - utcOffsetHours + 24) % 24
      return start + (firstDay + day) * dayMs + hour * hourMs + chance.below(hourMs)
    }).sort((a, b) => a - b)
  })
}

/** `newcomers` are customers without an order, in the order in which they join. */
type Scene = { shop: DemoShop; start: number; products: PlannedProduct[]; customers: PlannedCustomer[]; newcomers: PlannedCustomer[] }
type When = { moment: number /** Number of the order within the shop. */; nth: number }

function orderOf(scene: Scene, { moment, nth }: When, chance: Chance): PlannedOrder {
  const { shop, start, products } = scene
  const buyer = buyerOf(scene, { moment, nth }, chance)
  const goods = products.filter((product) => product.at < moment)
  const lines = linesOf(goods, chance)
  const day = (moment - start) / dayMs
  const partners = (shop.partners ?? []).filter(({ endsDay }) => endsDay === undefined || day < endsDay)
  const { processor, method } = pickByPercent(chance, shop.payments, ({ percent }) => percent) ?? at(shop.payments, 0)
  return {
    id: demoId('order', moment, `${shop.name} ${nth}`),
    at: moment,
    ...buyer,
    lines,
    subtotal: lines.reduce((sum, { handle, variant, quantity }) => {
      const price = goods.find((product) => product.handle === handle)?.variants[variant]?.price.amount ?? 0
      return sum + price * quantity
    }, 0),
    payment: { processor, method },
    partner: pickByPercent(chance, partners, ({ brings }) => brings)?.code,
    fate: fateOf(nth, moment, chance),
  }
}

const guestPercent = 12

/** Picks the buyer. A new customer buys first; otherwise early customers return most often. */
function buyerOf(
  { shop, customers, newcomers }: Scene,
  { moment, nth }: When,
  chance: Chance,
): Pick<PlannedOrder, 'buyer' | 'isGuest' | 'place'> {
  const joined = customers.filter(({ joinsAt }) => joinsAt < moment)
  const newcomer = joined.length > customers.length - newcomers.length ? newcomers.shift() : undefined
  if (newcomer) return { buyer: newcomer, isGuest: false, place: newcomer.place }
  if (joined.length === 0 || chance.below(100) < guestPercent) {
    const [first = ''] = chance.of(shop.people).name.split(' ')
    const last = chance.of(shop.people).name.split(' ').slice(1).join(' ')
    const buyer = { name: `${first} ${last}`, email: `guest${nth}.${shop.name}@example.com` }
    return { buyer, isGuest: true, place: chance.of(shop.places) }
  }
  const regular = at(joined, Math.min(chance.below(joined.length), chance.below(joined.length)))
  return { buyer: regular, isGuest: false, place: regular.place }
}

/** Picks one to three products. The oldest sell best. */
function linesOf(goods: readonly PlannedProduct[], chance: Chance): PlannedOrder['lines'] {
  const lines = Array.from({ length: chance.of([1, 1, 1, 1, 2, 2, 2, 3]) }, () => {
    const product = at(goods, Math.min(chance.below(goods.length), chance.below(goods.length)))
    const variant = chance.below(product.variants.length)
    return { handle: product.handle, variant, quantity: chance.of([1, 1, 1, 1, 1, 1, 2, 2, 3]) }
  })
  return lines.filter(({ handle }, nth) => lines.findIndex((line) => line.handle === handle) === nth)
}

/**
 * Plans an order's steps by its number within the shop. Most orders are paid and sent; other outcomes occur regularly.
 */
function fateOf(nth: number, moment: number, chance: Chance): Fate {
  const soon = moment + (12 + chance.below(24)) * minuteMs
  const sentAt = moment + (20 + chance.below(50)) * hourMs
  const refundAt = sentAt + (3 + chance.below(8)) * dayMs
  if (nth % 61 === 40) return { declined: true }
  if (nth % 97 === 55) return { declined: true, cancelledAt: soon }
  if (nth % 43 === 21) return { declined: true, paidAgainAt: soon, sentAt }
  if (nth % 47 === 30) return { cancelledAt: moment + (2 + chance.below(10)) * hourMs }
  if (nth % 31 === 11) return { sentAt, refund: { at: refundAt, percent: 20 + 10 * chance.below(5) } }
  if (nth % 53 === 19) return { sentAt, refund: { at: refundAt, percent: 100 } }
  if (nth % 23 === 7) return { sentAt, restSentAt: sentAt + restAfterMs }
  return { sentAt }
}

type DayAt = (day: number, hours?: number) => number

/** Returns what the code of a gift card is made of. The codes are the same in every demo, like the passwords. */
const codeBytesOf = ({ name: shop }: DemoShop, name: string) => bytesOf(`code ${shop} ${name}`).subarray(0, codeBytes)

/** The code of an unused gift card of the main shop. */
export const demoGiftCardCode = codeOf(codeBytesOf(demoShop, 'latest'))

function cardsOf(shop: DemoShop, dayAt: DayAt, orders: readonly PlannedOrder[]) {
  const used = new Set<string>()
  const maybeAt = (day: number | undefined) => (day === undefined ? undefined : dayAt(day, 23))
  return shop.cards.map(({ name, amount, note, issuedDay, expiresDay, disabledDay, used: how }) => {
    const issuedAt = dayAt(issuedDay, 10)
    const fits = how && matchesUse[how]
    const order = orders.find((one) => one.at > issuedAt && !used.has(one.id) && fits?.(one, amount))
    if (order) used.add(order.id)
    return {
      id: demoId('giftCard', issuedAt, `${shop.name} ${name}`),
      chance: codeBytesOf(shop, name),
      amount,
      note,
      issuedAt,
      expiresAt: maybeAt(expiresDay),
      disabledAt: maybeAt(disabledDay),
      /** The order that it pays for. */
      orderId: order?.id,
    }
  })
}

const isSold = ({ fate }: PlannedOrder) => !fate.declined && fate.cancelledAt === undefined && fate.refund === undefined

/** Tests whether an order gives a card its planned outcome. Tax and shipping come on top of the subtotal. */
const matchesUse: Record<NonNullable<DemoCard['used']>, (order: PlannedOrder, amount: number) => boolean> = {
  'in part': (order, amount) => isSold(order) && order.subtotal * 1.5 < amount,
  up: (order, amount) => isSold(order) && order.subtotal > amount,
  'and refunded': ({ fate, subtotal }, amount) => fate.refund?.percent === 100 && subtotal > amount,
}

/**
 * Plans the clicks within the attribution window; older ones would be removed. Each order of an affiliate follows a
 * click.
 */
function clicksOf({ name, partners = [] }: DemoShop, dayAt: DayAt, orders: readonly PlannedOrder[]) {
  const chance = chanceOf(`${name} clicks`)
  const days = attributionWindowMs / dayMs
  return partners.flatMap(({ code, endsDay }) => {
    if (endsDay !== undefined) return []
    const purchases = orders
      .filter((order) => order.partner === code && order.at > dayAt(daysInYear - days))
      .map((order) => order.at - 5 * minuteMs)
    const visits = Array.from({ length: days * 2 }, () => dayAt(daysInYear - days + chance.below(days)) + chance.below(dayMs))
    return [...purchases, ...visits].map((at, nth) => ({ id: demoId('click', at, `${name} ${code} ${nth}`), at, partner: code }))
  })
}
