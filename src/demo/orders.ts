/** Executes the planned orders through the services that shoppers and merchants use, each step at its planned time. */

import { storesNothing } from '../core/idempotency.ts'
import type { Principal } from '../core/principal.ts'
import { hourMs } from '../lib/day.ts'
import { multiplyHalfEven } from '../lib/rounding.ts'
import { paymentsOf } from '../modules/payments/payment/index.ts'
import { approveCommissions } from '../modules/selling/affiliate/index.ts'
import { addItem, applyGiftCard, cartOf, changeDiscountCode, createCart, priced, snapshotOf } from '../modules/selling/cart/index.ts'
import { codeOf } from '../modules/selling/gift-card/domain.ts'
import { type Order, pendingPaymentMs, refundWindowMs } from '../modules/selling/order/domain.ts'
import {
  addOrderNote,
  cancelOrder,
  completeFulfilled,
  createFulfilment,
  expireOrders,
  findOrder,
  fulfilOrder,
  placeOrder,
  readOrder,
  refundOrder,
  runSaga,
  type SagaRun,
  startNewPayment,
} from '../modules/selling/order/index.ts'
import { contextOf, type Shop } from '../modules/shop/shop/index.ts'
import type { AppDeps } from '../providers.ts'
import { depsAt, type PastDeps } from './past-clock.ts'
import type { PlannedOrder, ShopPlan } from './plan.ts'
import { declinedToken } from './processors.ts'
import { addressAt } from './shop.ts'

/** A planned shop with its stored records. */
export type Market = {
  plan: ShopPlan
  shop: Shop
  /** The key is an email address. */
  customerIds: ReadonlyMap<string, string>
  /** The key is a product handle. The ids are in the order of the product's variants. */
  variantIds: ReadonlyMap<string, readonly string[]>
  /** By the id of the order. */
  discountCodes: ReadonlyMap<string, string>
}
type Sale = { deps: PastDeps; market: Market; planned: PlannedOrder }

/** Duration in which a shopper fills a cart, in milliseconds. */
const shoppingMs = 6 * 60_000
/** Exceeds the clock ticks of any write of an order, in milliseconds. */
const afterwardsMs = 1_000
/** Delay of a job after its work becomes due, in milliseconds. */
const jobDelayMs = 40_000

/**
 * Executes the orders that are due before `until`, with their later steps. Order ids follow from the plan, so that a
 * repeated fill continues existing orders.
 * @param sideBySide number of concurrent orders; on SQLite they share commits
 */
export async function sell(
  deps: AppDeps,
  markets: readonly Market[],
  { until, sideBySide, done }: { until: number; sideBySide: number; done: () => void },
): Promise<void> {
  const sales = markets
    .flatMap((market) => market.plan.orders.map((planned) => ({ market, planned })))
    .filter(({ planned }) => planned.at <= until)
    .sort((a, b) => a.planned.at - b.planned.at)
    .map((sale) => ({ ...sale, deps: depsAt(deps, sale.planned.at - shoppingMs, { order: sale.planned.id }) }))
  const runJobs = jobsOf(deps, sales, until)
  for (let from = 0; from < sales.length; from += sideBySide) {
    const batch = sales.slice(from, from + sideBySide)
    // The jobs affect earlier orders only, and those are complete.
    await Promise.all([runJobs(batch[0]?.planned.at ?? until), sellBatch(markets, batch, { until, done })])
  }
  await runJobs(until)
}

async function sellBatch(
  markets: readonly Market[],
  sales: readonly Sale[],
  { until, done }: { until: number; done: () => void },
): Promise<void> {
  const filledCarts = await Promise.all(sales.map(async (sale) => ({ sale, cartId: await fillCart(sale) })))
  // Sequential within a shop, because order numbers must follow the time.
  const placed = new Map<Sale, SagaRun>()
  await Promise.all(
    markets.map(async (market) => {
      for (const { sale, cartId } of filledCarts)
        if (sale.market === market && cartId !== undefined) placed.set(sale, await checkOut(sale, cartId))
    }),
  )
  await Promise.all(sales.map((sale) => runSteps(sale, until, placed.get(sale)).then(done)))
}

/** Fills a cart. Returns undefined if its order exists. */
async function fillCart({ deps, market, planned }: Sale): Promise<string | undefined> {
  if (await findOrder(deps, planned.id)) return undefined
  const { shop, plan, discountCodes } = market
  const { buyer, place: at, lines } = planned
  const address = addressAt(buyer, at)
  const caller = { shop, principal: shopperOf(market, planned) }
  const { id } = await createCart(deps, caller, {
    email: buyer.email,
    shippingAddress: address,
    billingAddress: address,
    shippingMethod: at.ships,
    affiliateCode: planned.partner,
  })
  for (const { handle, variant, quantity } of lines)
    await addItem(deps, caller, id, { variantId: market.variantIds.get(handle)?.[variant] ?? '', quantity })
  const card = plan.cards.find(({ orderId }) => orderId === planned.id)
  if (card) await applyGiftCard(deps, caller, { code: codeOf(card.chance), cartId: id }, 'demo')
  const code = discountCodes.get(planned.id)
  // Each order is a shopper of its own: many carts are filled at once, and tries are limited by address.
  if (code !== undefined) await changeDiscountCode(deps, caller, id, { code, address: planned.id })
  return id
}

function shopperOf({ shop, customerIds }: Market, { buyer, isGuest }: PlannedOrder): Principal {
  if (isGuest) return { kind: 'key', id: 'demo', scopes: ['storefront'], shop: contextOf(shop) }
  return { kind: 'customer', id: customerIds.get(buyer.email) ?? '', sessionId: 'demo', shopId: shop.id }
}

async function checkOut(sale: Sale, cartId: string): Promise<SagaRun> {
  const { deps, market, planned } = sale
  deps.clock.to(planned.at)
  const cart = await cartOf(deps, { shop: market.shop, principal: shopperOf(market, planned) }, cartId)
  const snapshot = await snapshotOf(deps, cart)
  const { email } = planned.buyer
  const purchase = { snapshot, mode: snapshot.shop.mode, priced: priced(snapshot, deps.clock.now()), email, placedFrom: null }
  return placeOrder(deps, purchase, choiceOf(planned, 1), context)
}

/** All fills share one lease holder, so that a repeated fill takes over the leases of an interrupted one. */
const context = { holder: 'demo' }

const choiceOf = ({ id, payment, fate }: PlannedOrder, nth: 1 | 2) => ({
  first: {
    ...payment,
    accountId: '',
    mode: 'TEST' as const,
    token: nth === 1 && fate.declined ? declinedToken : undefined,
    returnUrl: undefined,
    attemptKey: `demo ${id} ${nth}`,
  },
  fallbacks: [],
})

/**
 * Executes the steps of an order that are due before `until`. Each step checks the stored state: an interrupted fill
 * may have done it, or a server may have expired the order.
 * @param placed the saga of the order if this fill placed it
 */
async function runSteps(sale: Sale, until: number, placed: SagaRun | undefined): Promise<void> {
  const { deps, planned } = sale
  const { paidAgainAt, cancelledAt, sentAt, restSentAt, refund } = planned.fate
  const { updatedAt } = await orderOf(sale)
  // The ids of new events must be later than those that an interrupted fill wrote.
  deps.clock.to(updatedAt + afterwardsMs)
  await runSaga(deps, planned.id, context, placed)
  const steps: [at: number | undefined, step: (sale: Sale) => Promise<unknown>][] = [
    [paidAgainAt, retryPayment],
    [cancelledAt, cancel],
    [sentAt, restSentAt === undefined ? send : sendPartly],
    [restSentAt, send],
    [refund?.at, refundPlanned],
  ]
  for (const [at, step] of steps) {
    if (at === undefined || at > until) continue
    deps.clock.to(at)
    await step(sale)
  }
}

async function orderOf({ deps, planned }: Sale): Promise<Order> {
  const order = await findOrder(deps, planned.id)
  if (!order) throw new Error('an order of the demo is not there')
  return order
}

async function retryPayment(sale: Sale): Promise<void> {
  const { deps, planned } = sale
  const choices = choiceOf(planned, 2)
  const earlierPayments = await paymentsOf(deps, planned.id)
  const order = await orderOf(sale)
  const isNew = order.status === 'PENDING_PAYMENT' && !earlierPayments.some(({ attemptKey }) => attemptKey === choices.first.attemptKey)
  await runSaga(deps, planned.id, context, isNew ? await startNewPayment(deps, order, choices, context) : undefined)
}

/** Builds a merchant's request on an order. The key makes it idempotent. */
const request = ({ market, planned }: Sale, what: string) => ({
  shopId: market.shop.id,
  orderId: planned.id,
  actor: { id: market.shop.merchantId },
  attempt: { key: `demo ${planned.id} ${what}`, isResumed: false, ...storesNothing },
})

async function cancel(sale: Sale): Promise<void> {
  const { status } = await orderOf(sale)
  if (status !== 'PENDING_PAYMENT' && status !== 'CONFIRMED') return
  const reason = 'The customer thought better of it'
  await cancelOrder(sale.deps, { ...request(sale, 'cancel'), reason })
}

async function send(sale: Sale): Promise<void> {
  const { status, number } = await orderOf(sale)
  if (status !== 'CONFIRMED') return
  const { carrier } = sale.market.plan.shop
  await fulfilOrder(sale.deps, request(sale, 'send'), { trackingNumber: `DEMO-${String(number).padStart(6, '0')}`, carrier })
}

/** Sends the first line, or all but one unit of the only line. Does nothing if no unit would remain. */
async function sendPartly(sale: Sale): Promise<void> {
  const { deps, market, planned } = sale
  const { lines, notes, fulfilmentStatus } = await readOrder(deps, { shopId: market.shop.id }, planned.id)
  const [first, ...rest] = lines
  const quantity = first && (rest.length > 0 ? first.quantity : first.quantity - 1)
  if (fulfilmentStatus !== 'UNFULFILLED' || !first || !quantity) return
  const command = request(sale, 'send a part')
  const by = { shop: market.shop, actor: command.actor }
  // An interrupted fill may have written the note.
  if (notes.length === 0)
    await addOrderNote(deps, by, planned.id, 'The rest is not in yet: promised within three days, and the customer knows')
  const input = { lines: [{ lineId: first.id, quantity }], trackingNumber: undefined, carrier: market.plan.shop.carrier }
  await createFulfilment(deps, command, input)
}

/** Refunds the order. The attempt key makes it idempotent. */
async function refundPlanned(sale: Sale): Promise<void> {
  const percent = sale.planned.fate.refund?.percent ?? 0
  const { total, currency, confirmedAt } = await orderOf(sale)
  if (confirmedAt === null) return
  const isFull = percent === 100
  const { attempt, ...order } = request(sale, 'refund')
  await refundOrder(sale.deps, {
    ...order,
    ...(isFull ? { all: true } : { amount: { amount: multiplyHalfEven(total, percent, 100), currency } }),
    reason: isFull ? 'Sent back' : 'Arrived damaged',
    attemptKey: attempt.key,
  })
}

/**
 * Plans the runs of souk's own jobs at the times when work becomes due. A repeated run has no effect, because the jobs
 * read their work from the database.
 * @returns a function that runs the pending jobs up to a time, in order
 */
function jobsOf(deps: AppDeps, sales: readonly Sale[], until: number): (before: number) => Promise<void> {
  const dueRuns = sales.flatMap(({ planned: { at, partner, fate } }) => [
    ...(fate.declined && fate.paidAgainAt === undefined && fate.cancelledAt === undefined
      ? [{ at: at + pendingPaymentMs, job: expireOrders }]
      : []),
    ...(fate.sentAt === undefined ? [] : [{ at: (fate.restSentAt ?? fate.sentAt) + refundWindowMs, job: completeFulfilled }]),
    ...(partner === undefined ? [] : [{ at: at + refundWindowMs + hourMs, job: approveCommissions }]),
  ])
  const pendingRuns = dueRuns
    .map(({ at, job }) => ({ at: at + jobDelayMs, job }))
    .filter(({ at }) => at <= until)
    .sort((a, b) => a.at - b.at)
  return async (before) => {
    for (const { at, job } of pendingRuns.splice(0, pendingRuns.findLastIndex(({ at }) => at <= before) + 1)) await job(depsAt(deps, at))
  }
}
