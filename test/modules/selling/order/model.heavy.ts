/** The invariants of selling hold for random parallel actions with an unreliable processor. */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { engine } from '../../../../db/columns.ts'
import { draftFindings } from '../../../../src/modules/selling/draft-order/index.ts'
import { orderFindings } from '../../../../src/modules/selling/order/index.ts'
import { type Answer, type Json, testApp } from '../../../support/app.ts'
import { type Books, booksOf, missingEvents, violationsAtRest, violationsOf } from '../../../support/books.ts'
import { copyOf } from '../../../support/database.ts'
import {
  createModel,
  createModelFixture,
  fixedStock,
  type ModelFixture,
  type Scenario,
  scenario,
  tokenSeconds,
} from '../../../support/selling-model.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const seed = Number(Bun.env['FUZZ_SEED'] ?? 20_260_106)
const runs = Number(Bun.env['FUZZ_RUNS'] ?? (engine === 'sqlite' ? 40 : 15))

let baseState: ModelFixture
afterAll(() => baseState?.database.drop())

/** How often each outcome occurred in all runs. The test fails if an expected outcome never occurred. */
const outcomeCounts = new Map<string, number>()
const countOutcome = (what: string) => outcomeCounts.set(what, (outcomeCounts.get(what) ?? 0) + 1)

test('holds every invariant of selling after each batch of parallel actions, and settles everything in the end', async () => {
  baseState = await createModelFixture()
  const property = fc.asyncProperty(scenario, async (one) => {
    const database = await copyOf(baseState.database)
    try {
      await runStory(one, database)
    } finally {
      await database.drop()
    }
  })
  await fc.assert(property, { seed, numRuns: runs })
  const expectedOutcomes = [
    'CONFIRMED',
    'PARTIALLY_FULFILLED',
    'FULFILLED',
    'CANCELLED',
    'EXPIRED',
    'refund',
    'refund of lines',
    'gift card',
    'sale of a draft',
    'checkout 409',
    'USD',
    'JPY',
    'KWD',
  ]
  expect(expectedOutcomes.filter((what) => !outcomeCounts.has(what))).toEqual([])
})

async function runStory({ carts, batches }: Scenario, database: ModelFixture['database']): Promise<void> {
  await using app = await testApp({ ACCESS_TOKEN_SECONDS: String(tokenSeconds) }, { database })
  const model = createModel(app, baseState)
  await model.begin(carts)
  let before = await booksOf(app)
  for (const batch of batches) {
    const answers = await model.run(batch)
    const after = await booksOf(app)
    expect(violationsOf(after)).toEqual([])
    expect(missingEvents(before, after)).toEqual([])
    for (const { action, answer } of answers) assertAnswer(action.do, answer)
    before = after
  }
  const finalBooks = await model.rest()
  expect(violationsAtRest(finalBooks)).toEqual([])
  expect(missingEvents(before, finalBooks)).toEqual([])
  assertStockConserved(finalBooks)
  assertDraftPrices(finalBooks, model.drafts)
  for await (const { subject, problems } of draftFindings(app.deps.db)) expect([subject, problems]).toEqual([subject, []])
  for await (const { subject, problems } of orderFindings(app.deps.db)) expect([subject, problems]).toEqual([subject, []])
  expect(app.logged.filter(({ level }) => level === 'error')).toEqual([])
  for (const { status, currency, giftCardTotal } of finalBooks.orders)
    for (const outcome of [status, currency, ...(giftCardTotal > 0 ? ['gift card'] : [])]) countOutcome(outcome)
  for (const { type } of finalBooks.events) countOutcome(type)
  for (const { purpose, lines } of finalBooks.refunds)
    countOutcome(purpose !== 'REFUND' ? purpose : lines.length > 0 ? 'refund of lines' : 'refund')
}

/** Returns whether 503 is allowed: for a message that its sender repeats, or while an earlier payment is undecided. */
const mayBeUnavailable = (action: string, { message }: Json) =>
  action === 'message' || (action === 'checkout' && /^The payment processor cannot confirm/.test(message))

function assertAnswer(action: string, { status, body, text }: Answer): void {
  countOutcome(`${action} ${status}`)
  if (status >= 500 && !(status === 503 && mayBeUnavailable(action, body))) throw new Error(`${action}: ${status} ${text}`)
  for (const amount of amountsIn(body)) if (!Number.isSafeInteger(amount)) throw new Error(`${action}: an amount of ${amount}`)
}

function amountsIn(value: Json): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  const ownAmount = 'amount' in value && 'currency' in value && typeof value.amount !== 'object' ? [value.amount] : []
  return [...ownAmount, ...Object.values(value).flatMap(amountsIn)]
}

/** Checks that orders of drafts have the variants and prices of the draft, whatever changes of the cart were tried. */
function assertDraftPrices({ orders, lines }: Books, drafts: ReadonlyMap<string, ReadonlyMap<string, number>>): void {
  for (const { id, cartId, status, discountTotal } of orders) {
    const draft = drafts.get(cartId)
    if (!draft) continue
    const bought = lines.filter(({ orderId }) => orderId === id).map(({ variantId, unitPrice }) => [variantId, unitPrice] as const)
    expect(new Map(bought)).toEqual(new Map(draft))
    expect(discountTotal).toBe(0)
    if (status === 'CONFIRMED' || status === 'FULFILLED') countOutcome('sale of a draft')
  }
}

/** Checks variants whose stock only orders change: their stock is the initial stock less the units taken. */
function assertStockConserved({ variants, lines, orders, refunds }: Books): void {
  const refundedLines = refunds.filter(({ status }) => status === 'SUCCEEDED').flatMap((refund) => refund.lines)
  const committedOrders = new Set(orders.filter(({ holds }) => holds === 'COMMITTED').map(({ id }) => id))
  const returned = new Set(orders.filter(({ status, confirmedAt }) => status === 'CANCELLED' && confirmedAt !== null).map(({ id }) => id))
  for (const { id, sku, onHand } of variants) {
    const first = { fixed: fixedStock, ahead: 2 }[sku ?? '']
    if (first === undefined) continue
    const sold = lines.filter(({ variantId, orderId }) => variantId === id && committedOrders.has(orderId))
    const unitsTaken = (line: Books['lines'][number]): number => {
      const units = refundedLines.filter(({ lineId }) => lineId === line.id)
      // A cancelled order returns all units that no earlier refund covered.
      const removedUnits = returned.has(line.orderId) ? units.reduce((all, { quantity }) => all + quantity, 0) : line.quantity
      return removedUnits - units.reduce((all, { quantity, restock }) => all + (restock ? quantity : 0), 0)
    }
    expect(onHand).toBe(sold.reduce((left, line) => left - unitsTaken(line), first))
  }
}
