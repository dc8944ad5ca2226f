/** The invariants of selling hold for random parallel actions with an unreliable processor. */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { engine } from '../../../../db/columns.ts'
import { draftFindings } from '../../../../src/modules/selling/draft-order/index.ts'
import { orderFindings } from '../../../../src/modules/selling/order/index.ts'
import { type Answer, type Json, testApp } from '../../../support/app.ts'
import { type Books, booksOf, missingEvents, violationsAtRest, violationsOf } from '../../../support/books.ts'
import { copyOf } from '../../../support/database.ts'
import { fixedStock, type Ground, layGround, modelOn, type Story, story, tokenSeconds } from '../../../support/selling-model.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const seed = Number(Bun.env['FUZZ_SEED'] ?? 20_260_106)
const runs = Number(Bun.env['FUZZ_RUNS'] ?? (engine === 'sqlite' ? 40 : 15))

let ground: Ground
afterAll(() => ground?.database.drop())

/** What came about in all runs together. A model in which nothing happens proves nothing. */
const seen = new Map<string, number>()
const note = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1)

test('holds every invariant of selling after each batch of parallel actions, and settles everything in the end', async () => {
  ground = await layGround()
  const property = fc.asyncProperty(story, async (one) => {
    const database = await copyOf(ground.database)
    try {
      await tell(one, database)
    } finally {
      await database.drop()
    }
  })
  await fc.assert(property, { seed, numRuns: runs })
  const usual = [
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
  expect(usual.filter((what) => !seen.has(what))).toEqual([])
})

async function tell({ carts, batches }: Story, database: Ground['database']): Promise<void> {
  await using app = await testApp({ ACCESS_TOKEN_SECONDS: String(tokenSeconds) }, { database })
  const model = modelOn(app, ground)
  await model.begin(carts)
  let before = await booksOf(app)
  for (const one of batches) {
    const answers = await model.run(one)
    const after = await booksOf(app)
    expect(violationsOf(after)).toEqual([])
    expect(missingEvents(before, after)).toEqual([])
    for (const { action, answer } of answers) assertAnswer(action.do, answer)
    before = after
  }
  const end = await model.rest()
  expect(violationsAtRest(end)).toEqual([])
  expect(missingEvents(before, end)).toEqual([])
  assertConserved(end)
  assertAsDrawnUp(end, model.drafts)
  for await (const { subject, problems } of draftFindings(app.deps.db)) expect([subject, problems]).toEqual([subject, []])
  for await (const { subject, problems } of orderFindings(app.deps.db)) expect([subject, problems]).toEqual([subject, []])
  expect(app.logged.filter(({ level }) => level === 'error')).toEqual([])
  for (const { status, currency, giftCardTotal } of end.orders)
    for (const what of [status, currency, ...(giftCardTotal > 0 ? ['gift card'] : [])]) note(what)
  for (const { type } of end.events) note(type)
  for (const { purpose, lines } of end.refunds) note(purpose !== 'REFUND' ? purpose : lines.length > 0 ? 'refund of lines' : 'refund')
}

/** By 503 is answered a message, whose sender comes again, and a payment after one of which its processor does not say whether it may still succeed. */
const mayBeUnavailable = (what: string, { message }: Json) =>
  what === 'message' || (what === 'checkout' && /^The payment processor cannot confirm/.test(message))

function assertAnswer(what: string, { status, body, text }: Answer): void {
  note(`${what} ${status}`)
  if (status >= 500 && !(status === 503 && mayBeUnavailable(what, body))) throw new Error(`${what}: ${status} ${text}`)
  for (const amount of amountsIn(body)) if (!Number.isSafeInteger(amount)) throw new Error(`${what}: an amount of ${amount}`)
}

function amountsIn(value: Json): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  const own = 'amount' in value && 'currency' in value && typeof value.amount !== 'object' ? [value.amount] : []
  return [...own, ...Object.values(value).flatMap(amountsIn)]
}

/** Orders of drafts have what their shops drew up, at those prices, whatever was tried on their carts. */
function assertAsDrawnUp({ orders, lines }: Books, drafts: ReadonlyMap<string, ReadonlyMap<string, number>>): void {
  for (const { id, cartId, status, discountTotal } of orders) {
    const draft = drafts.get(cartId)
    if (!draft) continue
    const bought = lines.filter(({ orderId }) => orderId === id).map(({ variantId, unitPrice }) => [variantId, unitPrice] as const)
    expect(new Map(bought)).toEqual(new Map(draft))
    expect(discountTotal).toBe(0)
    if (status === 'CONFIRMED' || status === 'FULFILLED') note('sale of a draft')
  }
}

/** What only orders take from holds what they left. */
function assertConserved({ variants, lines, orders, refunds }: Books): void {
  const back = refunds.filter(({ status }) => status === 'SUCCEEDED').flatMap((refund) => refund.lines)
  const took = new Set(orders.filter(({ holds }) => holds === 'COMMITTED').map(({ id }) => id))
  const returned = new Set(orders.filter(({ status, confirmedAt }) => status === 'CANCELLED' && confirmedAt !== null).map(({ id }) => id))
  for (const { id, sku, onHand } of variants) {
    const first = { fixed: fixedStock, ahead: 2 }[sku ?? '']
    if (first === undefined) continue
    const sold = lines.filter(({ variantId, orderId }) => variantId === id && took.has(orderId))
    const goneFor = (line: Books['lines'][number]): number => {
      const units = back.filter(({ lineId }) => lineId === line.id)
      // A cancelled order brings back what no refund decided about before.
      const kept = returned.has(line.orderId) ? units.reduce((all, { quantity }) => all + quantity, 0) : line.quantity
      return kept - units.reduce((all, { quantity, restock }) => all + (restock ? quantity : 0), 0)
    }
    expect(onHand).toBe(sold.reduce((left, line) => left - goneFor(line), first))
  }
}
