import type { Deps } from '../../../core/deps.ts'
import { invalidField } from '../../../core/errors.ts'
import type { Principal, ShopContext } from '../../../core/principal.ts'
import { managers, owners, readers, type StaffRole } from '../../../core/roles.ts'
import { dayText } from '../../../lib/day.ts'
import { type CatalogDeps, countLowStock } from '../../catalog/products/index.ts'
import { failuresTolerated } from '../../messaging/webhook/domain.ts'
import { manualMethodsOf, type PaymentMethodDeps } from '../../payments/payment-method/index.ts'
import { hasAccount, type ProcessorAccountDeps } from '../../payments/processor-account/index.ts'
import { countOpenDrafts, type DraftDeps } from '../../selling/draft-order/index.ts'
import { findKybOf, type KybDeps } from '../../shop/kyb/index.ts'
import { liveSince, type ShopDeps, shopOf } from '../../shop/shop/index.ts'
import type { DaySums, Period, ProductSums, ShopCurrency, Span, WindowQuery } from '../kpi/domain.ts'
import { readShopFigures } from '../kpi/index.ts'
import {
  cappedCountOf,
  cappedCountView,
  changeSince,
  type GoLiveStep,
  goLiveSteps,
  hasAllCarts,
  headOf,
  rankedProducts,
  requiredSteps,
  waitingMax,
} from './domain.ts'
import { pendingWorkStore } from './pending-work-store.ts'
import { overviewStore as store } from './store.ts'

export type OverviewDeps = Pick<Deps, 'db' | 'clock' | 'life' | 'config'> &
  Pick<CatalogDeps, 'catalogStore'> &
  Pick<DraftDeps, 'draftStore'> &
  KybDeps &
  Pick<PaymentMethodDeps, 'paymentMethodStore'> &
  ProcessorAccountDeps &
  ShopDeps

/** Which parts the caller may read, by the access rules of their own routes. */
function permissionsOf(principal: Principal): { catalog: boolean; management: boolean; webhooks: boolean; owner: boolean } {
  const isKey = principal.kind === 'key'
  const role = principal.kind === 'merchant' ? principal.role : undefined
  const isAmong = (roles: readonly StaffRole[]) => role !== undefined && roles.includes(role)
  return {
    catalog: isKey || isAmong(readers),
    management: isKey || isAmong(managers),
    webhooks: isKey || isAmong(owners),
    owner: isAmong(owners),
  }
}

/** @throws AppError INVALID if a number cannot hold the sum exactly */
function toExactNumber(sum: bigint): number {
  const number = Number(sum)
  if (Number.isSafeInteger(number)) return number
  throw invalidField('startDate, endDate', 'the totals of these days are too large to be exact: use fewer days')
}

/**
 * Reads a shop's home page: figures over a window, and pending work.
 * @param principal parts that its role may not read are null
 * @throws AppError INVALID for the window, with the parameter, and for a sum that a number cannot hold exactly;
 * UNAVAILABLE during the backfill
 */
export async function readOverview(deps: OverviewDeps, shop: ShopContext, principal: Principal, query: WindowQuery) {
  const now = deps.clock.now()
  const shopCurrency: ShopCurrency = { shopId: shop.id, mode: shop.mode, currency: shop.currency }
  const permissions = permissionsOf(principal)
  const { span, before, period, periodBefore, days, products } = await readShopFigures(
    deps,
    { ...shopCurrency, timeZone: shop.timeZone },
    query,
    rankedProducts,
  )
  return {
    asOf: new Date(now).toISOString(),
    startDate: dayText(span.from),
    endDate: dayText(span.to),
    currency: shop.currency,
    mode: shop.mode,
    sales: salesOf(shop.currency, span, before, days),
    orders: ordersOf(span, before, days),
    carts: permissions.management ? await cartsOf(deps, shopCurrency, period, periodBefore) : null,
    topProducts: { byRevenue: ranked(shop.currency, products, 'revenue'), byUnits: ranked(shop.currency, products, 'units') },
    waiting: await readPendingWork(deps, shopCurrency, permissions),
    kyb: permissions.owner ? await kybState(deps, shop.merchantId) : null,
    goLive: permissions.owner && shop.mode === 'TEST' ? { steps: await goLiveStepsOf(deps, shop) } : null,
  }
}

const daysWithin = (days: readonly DaySums[], { from, to }: Span): DaySums[] => days.filter(({ day }) => day >= from && day <= to)
const add = (days: readonly DaySums[], figure: 'orders' | 'confirmed' | 'refunds'): bigint =>
  days.reduce((sum, sums) => sum + sums[figure], 0n)

function salesOf(currency: string, span: Span, before: Span, days: readonly DaySums[]) {
  const money = (amount: bigint) => ({ amount: toExactNumber(amount), currency })
  const sums = (daySums: readonly DaySums[]) => {
    const [confirmed, refunds] = [add(daySums, 'confirmed'), add(daySums, 'refunds')]
    return { confirmed: money(confirmed), refunds: money(refunds), net: money(confirmed - refunds) }
  }
  const [now, earlier] = [sums(daysWithin(days, span)), sums(daysWithin(days, before))]
  return {
    ...now,
    previous: earlier,
    percentChange: changeSince(now.net.amount, earlier.net.amount),
    series: seriesOf(span, days, (day) => {
      const [confirmed, refunds] = [toExactNumber(day?.confirmed ?? 0n), toExactNumber(day?.refunds ?? 0n)]
      return { confirmed, refunds, net: confirmed - refunds }
    }),
  }
}

function ordersOf(span: Span, before: Span, days: readonly DaySums[]) {
  const [confirmed, previousConfirmed] = [
    toExactNumber(add(daysWithin(days, span), 'orders')),
    toExactNumber(add(daysWithin(days, before), 'orders')),
  ]
  return {
    confirmed,
    previousConfirmed,
    percentChange: changeSince(confirmed, previousConfirmed),
    series: seriesOf(span, days, (day) => ({ value: toExactNumber(day?.orders ?? 0n) })),
  }
}

/** One entry per day, including empty ones. */
function seriesOf<Value extends object>({ from, to }: Span, days: readonly DaySums[], value: (day: DaySums | undefined) => Value) {
  const byDay = new Map(days.map((sums) => [sums.day, sums]))
  return Array.from({ length: to - from + 1 }, (_, nth) => ({ date: dayText(from + nth), ...value(byDay.get(from + nth)) }))
}

function ranked(currency: string, products: readonly ProductSums[], by: 'units' | 'revenue') {
  return headOf(products, by).map(({ productId, title, units, revenue }, nth) => ({
    rank: nth + 1,
    productId,
    title,
    units: toExactNumber(units),
    revenue: { amount: toExactNumber(revenue), currency },
  }))
}

/** Null if carts of the period were removed. */
async function cartsOf(deps: OverviewDeps, { shopId, mode }: ShopCurrency, period: Period, before: Period) {
  const { db, clock } = deps
  const now = clock.now()
  if (!hasAllCarts(period, now)) return null
  // Earlier carts were test carts.
  const since = mode === 'LIVE' ? ((await liveSince(deps, shopId)) ?? 0) : 0
  const count = async (of: Period) => {
    const { begun, converted, isCapped } = await store.carts(db.read, { shopId, since }, of)
    return { isCapped, figures: { begun, converted, rate: begun === 0 || isCapped ? null : converted / begun } }
  }
  const [current, previous] = [await count(period), hasAllCarts(before, now) ? await count(before) : null]
  const isCapped = current.isCapped || previous?.isCapped === true
  return { ...current.figures, previous: previous?.figures ?? null, ...(isCapped ? { capped: true as const } : {}) }
}

async function readPendingWork(deps: OverviewDeps, shopCurrency: ShopCurrency, permissions: ReturnType<typeof permissionsOf>) {
  const { read } = deps.db
  const limit = waitingMax + 1
  const counts = await pendingWorkStore.counts(read, shopCurrency)
  const ofWebhooks = permissions.webhooks ? await pendingWorkStore.webhooks(read, shopCurrency.shopId, failuresTolerated) : null
  return {
    ordersToSend: cappedCountView(counts.ordersToSend),
    paymentsProcessing: cappedCountView(counts.paymentsProcessing),
    ordersStuck: cappedCountView(counts.ordersStuck),
    returnsRequested: permissions.management ? cappedCountView(counts.returnsRequested) : null,
    returnsApproved: permissions.management ? cappedCountView(counts.returnsApproved) : null,
    refundsManual: cappedCountView(counts.refundsManual),
    refundsClaimable: cappedCountView(counts.refundsClaimable),
    disputes: { ...cappedCountView(counts.disputes), orders: await pendingWorkStore.listDisputed(read, shopCurrency) },
    drafts: cappedCountView(cappedCountOf(await countOpenDrafts(deps, shopCurrency.shopId, limit))),
    lowStock: permissions.catalog ? cappedCountView(cappedCountOf(await countLowStock(deps, { id: shopCurrency.shopId }, limit))) : null,
    webhooks: ofWebhooks && { ...ofWebhooks, undelivered: cappedCountView(ofWebhooks.undelivered) },
  }
}

async function kybState(deps: OverviewDeps, merchantId: string) {
  const record = await findKybOf(deps, merchantId)
  return { status: record?.status ?? ('NONE' as const), reason: record?.reason ?? null }
}

/** Returns which steps to go live are done. */
async function goLiveStepsOf(deps: OverviewDeps, shop: ShopContext) {
  const { read } = deps.db
  const { shippingMethods, taxRates } = await shopOf(deps, shop)
  const isDone: Readonly<Record<GoLiveStep, boolean>> = {
    PRODUCTS: await pendingWorkStore.hasProducts(read, shop.id, deps.clock.now()),
    SHIPPING: shippingMethods.length > 0,
    TAXES: taxRates.length > 0,
    PROCESSOR_ACCOUNT: (await hasAccount(deps, { shopId: shop.id, mode: 'LIVE' })) || (await manualMethodsOf(deps, shop.id)).length > 0,
    KYB: (await findKybOf(deps, shop.merchantId))?.status === 'APPROVED',
    ORDERS_FINISHED: !(await pendingWorkStore.hasUnfinished(read, shop.id)),
  }
  return goLiveSteps.map((step) => ({ step, done: isDone[step], required: requiredSteps.has(step) }))
}
