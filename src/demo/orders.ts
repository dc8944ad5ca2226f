/**
 * Lets the planned orders happen: each by the services that serve a shopper and a merchant of today, at its own time.
 */

import type { Principal } from '../core/principal.ts'
import { hourMs } from '../lib/day.ts'
import { multiplyHalfEven } from '../lib/rounding.ts'
import { paymentsOf } from '../modules/payments/payment/index.ts'
import { approveCommissions } from '../modules/selling/affiliate/index.ts'
import { addItem, applyGiftCard, cartOf, createCart, priced, snapshotOf } from '../modules/selling/cart/index.ts'
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
import { inThePast, type PastDeps } from './past-clock.ts'
import type { PlannedOrder, ShopPlan } from './plan.ts'
import { declinedToken } from './processors.ts'
import { addressAt } from './shop.ts'

/** A shop of the plan as it is in the database. */
export type Market = {
  plan: ShopPlan
  shop: Shop
  /** By their e-mail addresses. */
  customerIds: ReadonlyMap<string, string>
  /** By the handle of the product, in order. */
  variantIds: ReadonlyMap<string, readonly string[]>
}
type Sale = { deps: PastDeps; market: Market; planned: PlannedOrder }

/** What a shopper takes to fill a cart. */
const shoppingMs = 6 * 60_000
/** Longer than any write of an order has to do with the clock. */
const afterwardsMs = 1_000
/** How long after something is due the job comes that does it. */
const jobDelayMs = 40_000

/**
 * Makes the orders up to a moment, and what becomes of them. An order has its id by the plan: one that is there already
 * is gone on with, and what was done of it is not done again.
 * @param sideBySide orders at once: they share commits where the engine has them share
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
    .map((sale) => ({ ...sale, deps: inThePast(deps, sale.planned.at - shoppingMs, { order: sale.planned.id }) }))
  const runJobs = jobsOf(deps, sales, until)
  for (let from = 0; from < sales.length; from += sideBySide) {
    const some = sales.slice(from, from + sideBySide)
    // What the jobs find to do is of earlier orders alone, and those are done with.
    await Promise.all([runJobs(some[0]?.planned.at ?? until), sellSome(markets, some, { until, done })])
  }
  await runJobs(until)
}

async function sellSome(
  markets: readonly Market[],
  sales: readonly Sale[],
  { until, done }: { until: number; done: () => void },
): Promise<void> {
  const shopped = await Promise.all(sales.map(async (sale) => ({ sale, cartId: await shopFor(sale) })))
  // One after the other within a shop: its order numbers follow the time.
  const placed = new Map<Sale, SagaRun>()
  await Promise.all(
    markets.map(async (market) => {
      for (const { sale, cartId } of shopped)
        if (sale.market === market && cartId !== undefined) placed.set(sale, await place(sale, cartId))
    }),
  )
  await Promise.all(sales.map((sale) => live(sale, until, placed.get(sale)).then(done)))
}

/** Fills a cart, unless it became an order already. */
async function shopFor({ deps, market, planned }: Sale): Promise<string | undefined> {
  if (await findOrder(deps, planned.id)) return undefined
  const { shop, plan } = market
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
  return id
}

function shopperOf({ shop, customerIds }: Market, { buyer, isGuest }: PlannedOrder): Principal {
  if (isGuest) return { kind: 'key', id: 'demo', scopes: ['storefront'], shop: contextOf(shop) }
  return { kind: 'customer', id: customerIds.get(buyer.email) ?? '', sessionId: 'demo', shopId: shop.id }
}

async function place(sale: Sale, cartId: string): Promise<SagaRun> {
  const { deps, market, planned } = sale
  deps.clock.to(planned.at)
  const cart = await cartOf(deps, { shop: market.shop, principal: shopperOf(market, planned) }, cartId)
  const snapshot = await snapshotOf(deps, cart)
  const { email } = planned.buyer
  const purchase = { snapshot, mode: snapshot.shop.mode, priced: priced(snapshot, deps.clock.now()), email, placedFrom: null }
  return placeOrder(deps, purchase, choiceOf(planned, 1), context)
}

/** A fill holds the leases of an earlier one that broke off. */
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
 * What becomes of an order, up to a moment. Each step looks whether there is anything left to do: it may have been done
 * before the fill broke off, and a server that ran in between may have let the order expire.
 * @param placed the order, if this fill placed it
 */
async function live(sale: Sale, until: number, placed: SagaRun | undefined): Promise<void> {
  const { deps, planned } = sale
  const { paidAgainAt, cancelledAt, sentAt, restSentAt, refund } = planned.fate
  const { updatedAt } = await orderOf(sale)
  // After what was done before a fill broke off: its events have their ids a little later.
  deps.clock.to(updatedAt + afterwardsMs)
  await runSaga(deps, planned.id, context, placed)
  const steps: [at: number | undefined, step: (sale: Sale) => Promise<unknown>][] = [
    [paidAgainAt, payOnceMore],
    [cancelledAt, cancel],
    [sentAt, restSentAt === undefined ? send : sendPart],
    [restSentAt, send],
    [refund?.at, giveBack],
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

async function payOnceMore(sale: Sale): Promise<void> {
  const { deps, planned } = sale
  const choices = choiceOf(planned, 2)
  const begun = await paymentsOf(deps, planned.id)
  const order = await orderOf(sale)
  const isNew = order.status === 'PENDING_PAYMENT' && !begun.some(({ attemptKey }) => attemptKey === choices.first.attemptKey)
  await runSaga(deps, planned.id, context, isNew ? await startNewPayment(deps, order, choices, context) : undefined)
}

/** What the merchant does to an order. */
const request = ({ market, planned }: Sale, what: string) => ({
  shopId: market.shop.id,
  orderId: planned.id,
  actor: { id: market.shop.merchantId },
  attempt: { key: `demo ${planned.id} ${what}`, isResumed: false, storeAnswer: async () => undefined, storeRefusal: async () => undefined },
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

/** Sends the first of its lines, or a unit of its only one, where something is left then. */
async function sendPart(sale: Sale): Promise<void> {
  const { deps, market, planned } = sale
  const { lines, notes, fulfilmentStatus } = await readOrder(deps, { shopId: market.shop.id }, planned.id)
  const [first, ...rest] = lines
  const quantity = first && (rest.length > 0 ? first.quantity : first.quantity - 1)
  if (fulfilmentStatus !== 'UNFULFILLED' || !first || !quantity) return
  const asked = request(sale, 'send a part')
  const by = { shop: market.shop, actor: asked.actor }
  // A fill that broke off may have written it.
  if (notes.length === 0)
    await addOrderNote(deps, by, planned.id, 'The rest is not in yet: promised within three days, and the customer knows')
  const parcel = { lines: [{ lineId: first.id, quantity }], trackingNumber: undefined, carrier: market.plan.shop.carrier }
  await createFulfilment(deps, asked, parcel)
}

/** The key of the attempt makes it happen once. */
async function giveBack(sale: Sale): Promise<void> {
  const percent = sale.planned.fate.refund?.percent ?? 0
  const { total, currency, confirmedAt } = await orderOf(sale)
  if (confirmedAt === null) return
  const whole = percent === 100
  const { attempt, ...order } = request(sale, 'refund')
  await refundOrder(sale.deps, {
    ...order,
    ...(whole ? { all: true } : { amount: { amount: multiplyHalfEven(total, percent, 100), currency } }),
    reason: whole ? 'Sent back' : 'Arrived damaged',
    attemptKey: attempt.key,
  })
}

/**
 * The program's own jobs, each at the moments when there was something to do. They ask the database what it is: run
 * again, they find nothing.
 * @returns runs those up to a moment that have not run, in order
 */
function jobsOf(deps: AppDeps, sales: readonly Sale[], until: number): (before: number) => Promise<void> {
  const dues = sales.flatMap(({ planned: { at, partner, fate } }) => [
    ...(fate.declined && fate.paidAgainAt === undefined && fate.cancelledAt === undefined
      ? [{ at: at + pendingPaymentMs, job: expireOrders }]
      : []),
    ...(fate.sentAt === undefined ? [] : [{ at: (fate.restSentAt ?? fate.sentAt) + refundWindowMs, job: completeFulfilled }]),
    ...(partner === undefined ? [] : [{ at: at + refundWindowMs + hourMs, job: approveCommissions }]),
  ])
  const waiting = dues
    .map(({ at, job }) => ({ at: at + jobDelayMs, job }))
    .filter(({ at }) => at <= until)
    .sort((a, b) => a.at - b.at)
  return async (before) => {
    for (const { at, job } of waiting.splice(0, waiting.findLastIndex(({ at }) => at <= before) + 1)) await job(inThePast(deps, at))
  }
}
