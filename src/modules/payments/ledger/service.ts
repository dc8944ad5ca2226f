import type { Reader, Writer } from '../../../../db/engine.ts'
import type { Deps } from '../../../core/deps.ts'
import { type ConfirmedSale, deltasOfLines, deltasOfMovement, deltasOfPricing, deltasOfSale } from '../../operations/kpi/domain.ts'
import { appendDeltas } from '../../operations/kpi/index.ts'
import { fixedRateOf, usdCentsOf } from '../fx/domain.ts'
import { daysWithRate, rateNear } from '../fx/index.ts'
import { addedWorth, signOf, sumOf } from './domain.ts'
import { type RateKey, ledgerStore as store, type Transaction } from './store.ts'

/** A movement to record; its `rateDay` decides its value in dollars. */
export type Movement = Omit<Transaction, 'id' | 'usdPerUnit' | 'usdCents'>

type From = Pick<Reader, 'select'>
type ValueInUsd = Pick<Transaction, 'usdPerUnit' | 'usdCents'>

/** Rows of one write: others wait for it. */
const pricingBatch = 100

/** What the dashboards need with movements. */
export type Counting = {
  /** Whether they count: see `isCounted` of the kpi module. */
  readonly isCounted: boolean
  /** The mode of their order. */
  readonly mode: ConfirmedSale['mode']
  /** The sale, if this write makes one. */
  readonly sold?: ConfirmedSale
}

/**
 * Records movements and their dashboard figures, inside the write that moves the money. A movement with a known key is
 * skipped. Without a rate it has no dollar value until `priceUnpriced` finds one.
 */
export async function recordMovements(
  tx: Writer,
  { newId }: Pick<Deps, 'newId'>,
  movements: readonly Movement[],
  { isCounted, mode, sold }: Counting,
): Promise<void> {
  const worthOf = await createAppraiser(tx, movements)
  const priced: Transaction[] = []
  for (const movement of movements) priced.push({ ...movement, id: newId('transaction'), ...(await worthOf(movement)) })
  await store.insertNew(tx, priced)
  if (!isCounted) return
  const ofMovements = priced.flatMap((movement) => deltasOfMovement({ ...movement, mode }))
  await appendDeltas(tx, [...(sold ? deltasOfSale(sold, priced[0]?.usdPerUnit ?? null) : []), ...ofMovements])
}

/** Prices rows whose rate has become known, in small writes. Returns their number. */
export async function priceUnpriced({ db }: Pick<Deps, 'db'>): Promise<number> {
  let priced = 0
  let currency = await store.nextUnpricedCurrency(db.read, '')
  while (currency !== undefined) {
    for (const span of await daysWithRate(db.read, currency)) priced += await priceSpan({ db }, currency, span)
    currency = await store.nextUnpricedCurrency(db.read, currency)
  }
  return priced
}

async function priceSpan({ db }: Pick<Deps, 'db'>, currency: string, span: { from: string; to: string }): Promise<number> {
  let priced = 0
  for (;;) {
    const found = await store.listUnpriced(db.read, currency, span, pricingBatch)
    if (found.length === 0) return priced
    const done = await db.write(async (tx) => {
      // Refunds of an order round together, so its rows are locked.
      await store.holdOrders(tx, found)
      const rows = await store.filterUnpriced(tx, found)
      const worthOf = await createAppraiser(tx, rows)
      const pricedIds: string[] = []
      for (const row of rows) {
        const worth = await worthOf(row)
        if (worth.usdCents === null) continue
        await store.price(tx, { id: row.id, ...worth })
        pricedIds.push(row.id)
      }
      await recordPricing(tx, pricedIds)
      return { rows: rows.length, priced: pricedIds.length }
    })
    priced += done.priced
    // Another process priced these rows, but there may be more.
    if (done.rows > 0 && done.priced === 0) return priced
  }
}

/** Adds the dollar values of movements to the dashboards. An affiliate's sales count once their sale is priced. */
async function recordPricing(tx: Writer, ids: readonly string[]): Promise<void> {
  const counted = await store.counted(tx, ids)
  await appendDeltas(tx, counted.flatMap(deltasOfPricing))
  for (const { key, usdPerUnit, ...sale } of await store.salesOfAffiliates(tx, counted))
    if (counted.some((movement) => movement.key === key)) await appendDeltas(tx, deltasOfLines(sale, usdPerUnit))
}

/**
 * Returns a function that values movements in US dollars. Call it once per movement, in their order. Movements of one
 * order on one day have one rate and are rounded as a sum. So a full refund in any number of parts takes back exactly
 * the dollars that came in, even if new rates have become known.
 */
async function createAppraiser(from: From, rows: readonly Movement[]) {
  // Dollars are never rounded.
  const rounded = rows.filter(({ currency }) => fixedRateOf(currency) !== fixedRateOf('USD')).map(({ orderId }) => orderId)
  const rates = new Map<string, string | undefined>()
  const sums = new Map<string, { amount: number; usdCents: number }>()
  const add = (row: Movement, usdCents: number) => {
    const before = sums.get(sumOf(row)) ?? { amount: 0, usdCents: 0 }
    const sign = signOf(row)
    sums.set(sumOf(row), { amount: before.amount + sign * row.amount, usdCents: before.usdCents + sign * usdCents })
  }
  if (rounded.length > 0)
    for (const row of await store.pricedOf(from, [...new Set(rounded)])) {
      rates.set(ofOrder(row), row.usdPerUnit ?? undefined)
      add(row, row.usdCents ?? 0)
    }
  const rateOf = async ({ currency, rateDay }: RateKey): Promise<string | undefined> => {
    const key = `${currency} ${rateDay}`
    if (!rates.has(key)) rates.set(key, (await rateNear(from, currency, rateDay))?.usdPerUnit)
    return rates.get(key)
  }
  return async (row: Movement): Promise<ValueInUsd> => {
    const usdPerUnit = rates.get(ofOrder(row)) ?? (await rateOf(row))
    if (usdPerUnit === undefined) return { usdPerUnit: null, usdCents: null }
    const usdCents = addedWorth(row, sums.get(sumOf(row)), (amount) => usdCentsOf(amount, row.currency, usdPerUnit))
    add(row, usdCents)
    return { usdPerUnit, usdCents }
  }
}

const ofOrder = ({ orderId, currency, rateDay }: RateKey): string => `${orderId} ${currency} ${rateDay}`
