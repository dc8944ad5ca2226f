import type { Deps } from '../../../core/deps.ts'
import { AppError } from '../../../core/errors.ts'
import type { Principal, ShopContext } from '../../../core/principal.ts'
import { managers, owners, readers, type StaffRole } from '../../../core/roles.ts'
import { type CatalogDeps, countLowStock } from '../../catalog/products/index.ts'
import { failuresTolerated } from '../../messaging/webhook/domain.ts'
import { hasAccount, type ProcessorAccountDeps } from '../../payments/processor-account/index.ts'
import { countOpenDrafts, type DraftDeps } from '../../selling/draft-order/index.ts'
import { type KybDeps, kybOf } from '../../shop/kyb/index.ts'
import { type ShopDeps, shopOf } from '../../shop/shop/index.ts'
import { type AskedWindow, type DaySums, dayText, type ProductSums, type Side, type Span } from '../kpi/domain.ts'
import { readShopFigures } from '../kpi/index.ts'
import {
  areCartsKept,
  changeSince,
  countedOf,
  countedView,
  type GoLiveStep,
  goLiveSteps,
  headOf,
  rankedProducts,
  requiredSteps,
  waitingMax,
} from './domain.ts'
import { waitingStore } from './pending-work-store.ts'
import { overviewStore as store } from './store.ts'

export type OverviewDeps = Pick<Deps, 'db' | 'clock' | 'life' | 'config'> &
  Pick<CatalogDeps, 'catalogStore'> &
  Pick<DraftDeps, 'draftStore'> &
  KybDeps &
  ProcessorAccountDeps &
  ShopDeps

/** Which parts others than orders are for, as the routes have it that tell them whole. The secret key may what their access says. */
function sightOf(principal: Principal): { catalog: boolean; carts: boolean; webhooks: boolean; owner: boolean } {
  const isKey = principal.kind === 'key'
  const role = principal.kind === 'merchant' ? principal.role : undefined
  const isAmong = (roles: readonly StaffRole[]) => role !== undefined && roles.includes(role)
  return {
    catalog: isKey || isAmong(readers),
    carts: isKey || isAmong(managers),
    webhooks: isKey || isAmong(owners),
    owner: isAmong(owners),
  }
}

/**
 * A sum as the number that it is.
 * @throws AppError INVALID where no number is: a figure that is nearly right is none
 */
function exact(sum: bigint): number {
  const number = Number(sum)
  if (Number.isSafeInteger(number)) return number
  throw new AppError(
    'INVALID',
    'startDate, endDate (query): what these days, or as many before them, add up to is more than a number can tell exactly: ask for fewer days',
  )
}

/**
 * What a shop's home page shows: figures over a window of days, and what waits for its people.
 * @param principal what its role may not read elsewhere is null here
 * @throws AppError INVALID, naming the parameter of the window, and where a sum is more than a number can tell exactly; UNAVAILABLE while the past is
 *   being counted
 */
export async function readOverview(deps: OverviewDeps, shop: ShopContext, principal: Principal, asked: AskedWindow) {
  const now = deps.clock.now()
  const side: Side = { shopId: shop.id, mode: shop.mode, currency: shop.currency }
  const sight = sightOf(principal)
  const { span, before, days, products } = await readShopFigures(deps, side, asked, rankedProducts)
  return {
    asOf: new Date(now).toISOString(),
    startDate: dayText(span.from),
    endDate: dayText(span.to),
    currency: shop.currency,
    mode: shop.mode,
    sales: salesOf(shop.currency, span, before, days),
    orders: ordersOf(span, before, days),
    carts: sight.carts ? await cartsOf(deps, side, span, before) : null,
    topProducts: { byRevenue: ranked(shop.currency, products, 'revenue'), byUnits: ranked(shop.currency, products, 'units') },
    waiting: await waitingFor(deps, side, sight),
    kyb: sight.owner ? await kybState(deps, shop.merchantId) : null,
    goLive: sight.owner && shop.mode === 'TEST' ? { steps: await stepsOf(deps, shop) } : null,
  }
}

const within = (days: readonly DaySums[], { from, to }: Span): DaySums[] => days.filter(({ day }) => day >= from && day <= to)
const add = (days: readonly DaySums[], figure: 'orders' | 'confirmed' | 'refunds'): bigint =>
  days.reduce((sum, one) => sum + one[figure], 0n)

function salesOf(currency: string, span: Span, before: Span, days: readonly DaySums[]) {
  const money = (amount: bigint) => ({ amount: exact(amount), currency })
  const sums = (some: readonly DaySums[]) => {
    const [confirmed, refunds] = [add(some, 'confirmed'), add(some, 'refunds')]
    return { confirmed: money(confirmed), refunds: money(refunds), net: money(confirmed - refunds) }
  }
  const [now, earlier] = [sums(within(days, span)), sums(within(days, before))]
  return {
    ...now,
    previous: earlier,
    percentChange: changeSince(now.net.amount, earlier.net.amount),
    series: seriesOf(span, days, (day) => {
      const [confirmed, refunds] = [exact(day?.confirmed ?? 0n), exact(day?.refunds ?? 0n)]
      return { confirmed, refunds, net: confirmed - refunds }
    }),
  }
}

function ordersOf(span: Span, before: Span, days: readonly DaySums[]) {
  const [confirmed, previousConfirmed] = [exact(add(within(days, span), 'orders')), exact(add(within(days, before), 'orders'))]
  return {
    confirmed,
    previousConfirmed,
    percentChange: changeSince(confirmed, previousConfirmed),
    series: seriesOf(span, days, (day) => ({ value: exact(day?.orders ?? 0n) })),
  }
}

/** One entry a day, also where there is nothing. */
function seriesOf<Value extends object>({ from, to }: Span, days: readonly DaySums[], value: (day: DaySums | undefined) => Value) {
  const byDay = new Map(days.map((one) => [one.day, one]))
  return Array.from({ length: to - from + 1 }, (_, nth) => ({ date: dayText(from + nth), ...value(byDay.get(from + nth)) }))
}

function ranked(currency: string, products: readonly ProductSums[], by: 'units' | 'revenue') {
  return headOf(products, by).map(({ productId, title, units, revenue }, nth) => ({
    rank: nth + 1,
    productId,
    title,
    units: exact(units),
    revenue: { amount: exact(revenue), currency },
  }))
}

/** Null where carts of these days are forgotten: what is left of them says nothing of them all. */
async function cartsOf({ db, clock }: OverviewDeps, { shopId, mode }: Side, span: Span, before: Span) {
  const now = clock.now()
  if (!areCartsKept(span, now)) return null
  // Those of before were begun with test money.
  const since = mode === 'LIVE' ? ((await store.keysSince(db.read, shopId, mode)) ?? 0) : 0
  const count = async (of: Span) => {
    const { begun, converted, isCapped } = await store.carts(db.read, { shopId, since }, of)
    return { isCapped, figures: { begun, converted, rate: begun === 0 || isCapped ? null : converted / begun } }
  }
  const [these, those] = [await count(span), areCartsKept(before, now) ? await count(before) : null]
  const isCapped = these.isCapped || those?.isCapped === true
  return { ...these.figures, previous: those?.figures ?? null, ...(isCapped ? { capped: true as const } : {}) }
}

async function waitingFor(deps: OverviewDeps, side: Side, sight: ReturnType<typeof sightOf>) {
  const { read } = deps.db
  const most = waitingMax + 1
  const counts = await waitingStore.counts(read, side)
  const ofWebhooks = sight.webhooks ? await waitingStore.webhooks(read, side.shopId, failuresTolerated) : null
  return {
    ordersToSend: countedView(counts.ordersToSend),
    paymentsProcessing: countedView(counts.paymentsProcessing),
    ordersStuck: countedView(counts.ordersStuck),
    refundsManual: countedView(counts.refundsManual),
    refundsClaimable: countedView(counts.refundsClaimable),
    disputes: { ...countedView(counts.disputes), orders: await waitingStore.disputed(read, side) },
    drafts: countedView(countedOf(await countOpenDrafts(deps, side.shopId, most))),
    lowStock: sight.catalog ? countedView(countedOf(await countLowStock(deps, { id: side.shopId }, most))) : null,
    webhooks: ofWebhooks && { ...ofWebhooks, undelivered: countedView(ofWebhooks.undelivered) },
  }
}

async function kybState(deps: OverviewDeps, merchantId: string) {
  const record = await kybOf(deps, merchantId)
  return { status: record?.status ?? ('NONE' as const), reason: record?.reason ?? null }
}

/** What is done of what a shop goes live with. */
async function stepsOf(deps: OverviewDeps, shop: ShopContext) {
  const { read } = deps.db
  const done: Readonly<Record<GoLiveStep, boolean>> = {
    PRODUCTS: await waitingStore.hasProducts(read, shop.id, deps.clock.now()),
    SHIPPING: (await shopOf(deps, shop)).shippingMethods.length > 0,
    PROCESSOR_ACCOUNT: await hasAccount(deps, { shopId: shop.id, mode: 'LIVE' }),
    KYB: (await kybOf(deps, shop.merchantId))?.status === 'APPROVED',
    ORDERS_FINISHED: !(await waitingStore.hasUnfinished(read, shop.id)),
  }
  return goLiveSteps.map((step) => ({ step, done: done[step], required: requiredSteps.has(step) }))
}
