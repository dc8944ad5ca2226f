import type { Reader, Writer } from '../../../db/engine.ts'
import type { Deps } from '../../core/deps.ts'
import { fixedRateOf, usdCentsOf } from '../fx/domain.ts'
import { daysWithRate, rateNear } from '../fx/index.ts'
import { deltasOfLines, deltasOfMovement, deltasOfPricing, deltasOfSale, type Sold } from '../kpi/domain.ts'
import { noteDeltas } from '../kpi/index.ts'
import { type RateKey, ledgerStore as store, type Transaction, type Unpriced } from './store.ts'

/** A movement of money as it is reported; what it is worth in dollars is found by its `rateDay`. */
export type Movement = Omit<Transaction, 'id' | 'usdPerUnit' | 'usdCents'>

type From = Pick<Reader, 'select'>
type Worth = Pick<Transaction, 'usdPerUnit' | 'usdCents'>

/** Rows of one write: others wait behind it. */
const pricedAtOnce = 100

/** What the dashboards are told with movements. */
export type Counting = {
  /** Whether they count: see `isCounted` of the kpi module. */
  readonly isCounted: boolean
  /** The sale that they are of, where this write makes it one. */
  readonly sold?: Sold
}

/**
 * Writes rows of the ledger, inside the write that moves the money, and what the dashboards count of them. A movement whose key is there
 * already is left out. Without a rate near enough it has no worth in dollars until `priceUnpriced` finds one.
 */
export async function recordMovements(
  tx: Writer,
  { newId }: Pick<Deps, 'newId'>,
  movements: readonly Movement[],
  { isCounted, sold }: Counting,
): Promise<void> {
  const worthOf = await appraiser(tx, movements)
  const priced: Transaction[] = []
  for (const movement of movements) priced.push({ ...movement, id: newId('transaction'), ...(await worthOf(movement)) })
  await store.insertNew(tx, priced)
  if (!isCounted) return
  await noteDeltas(tx, [...(sold ? deltasOfSale(sold, priced[0]?.usdPerUnit ?? null) : []), ...priced.flatMap(deltasOfMovement)])
}

/** Gives rows without a worth the rate that has come since, in small writes. Returns how many it priced. */
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
    const rows = await store.unpriced(db.read, currency, span, pricedAtOnce)
    const worthOf = await appraiser(db.read, rows)
    const found: (Unpriced & Worth)[] = []
    for (const row of rows) found.push({ ...row, ...(await worthOf(row)) })
    const worths = found.filter(({ usdCents }) => usdCents !== null)
    if (worths.length === 0) return priced
    await db.write(async (tx) => {
      const told: string[] = []
      for (const worth of worths) if (await store.price(tx, worth)) told.push(worth.id)
      await notePriced(tx, told)
    })
    priced += worths.length
  }
}

/** Tells the dashboards what movements are worth that were told it by this write. What a partner sold is worth something once its sale is. */
async function notePriced(tx: Writer, ids: readonly string[]): Promise<void> {
  const counted = await store.counted(tx, ids)
  await noteDeltas(tx, counted.flatMap(deltasOfPricing))
  for (const { key, usdPerUnit, ...sale } of await store.salesOfPartners(tx, counted))
    if (counted.some((movement) => movement.key === key)) await noteDeltas(tx, deltasOfLines(sale, usdPerUnit))
}

/**
 * Says what rows are worth. What one order moved on one day has one rate, so that a full refund takes back the very dollars
 * that came in, whatever rates have become known in between.
 */
async function appraiser(from: From, rows: readonly RateKey[]) {
  const floating = rows.filter(({ currency }) => fixedRateOf(currency) === undefined).map(({ orderId }) => orderId)
  const known = new Map<string, string | undefined>()
  if (floating.length > 0)
    for (const row of await store.ratesOf(from, [...new Set(floating)])) known.set(ofOrder(row), row.usdPerUnit ?? undefined)
  const rateOf = async ({ currency, rateDay }: RateKey): Promise<string | undefined> => {
    const key = `${currency} ${rateDay}`
    if (!known.has(key)) known.set(key, (await rateNear(from, currency, rateDay))?.usdPerUnit)
    return known.get(key)
  }
  return async (row: RateKey & Pick<Transaction, 'amount'>): Promise<Worth> => {
    const usdPerUnit = known.get(ofOrder(row)) ?? (await rateOf(row))
    return usdPerUnit === undefined
      ? { usdPerUnit: null, usdCents: null }
      : { usdPerUnit, usdCents: usdCentsOf(row.amount, row.currency, usdPerUnit) }
  }
}

const ofOrder = ({ orderId, currency, rateDay }: RateKey): string => `${orderId} ${currency} ${rateDay}`
