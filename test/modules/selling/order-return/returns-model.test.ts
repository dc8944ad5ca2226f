/** Random fulfilments, refunds and returns by two actors in parallel, with lost refund calls. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { engine } from '../../../../db/columns.ts'
import { fulfilments } from '../../../../db/schema/fulfilments.ts'
import { returns } from '../../../../db/schema/returns.ts'
import { testApp } from '../../../support/app.ts'
import { booksOf, violationsAtRest } from '../../../support/books.ts'
import { changeProcessor, type Fault, withFaults } from '../../../support/sandbox.ts'
import { customerOf, ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const orderedQuantities = [4, 2]
const onHand = 10
const line = fc.nat({ max: orderedQuantities.length - 1 })
const quantity = fc.integer({ min: 1, max: 3 })
const action = fc.oneof(
  fc.record({ do: fc.constant('send' as const), line, quantity }),
  fc.record({ do: fc.constant('send' as const), line, quantity }),
  fc.record({ do: fc.constant('refund' as const), line, quantity, restock: fc.boolean() }),
  fc.record({ do: fc.constant('refundAmount' as const), amount: fc.integer({ min: 1, max: 1_500 }) }),
  fc.record({ do: fc.constant('ask' as const), line, quantity, asShopper: fc.boolean() }),
  fc.record({ do: fc.constant('ask' as const), line, quantity, asShopper: fc.boolean() }),
  fc.record({ do: fc.constant('approve' as const), nth: fc.nat() }),
  fc.record({ do: fc.constant('reject' as const), nth: fc.nat() }),
  fc.record({ do: fc.constant('receive' as const), nth: fc.nat(), restock: fc.boolean(), refund: fc.boolean() }),
)
type Action = typeof action extends fc.Arbitrary<infer One> ? One : never
const fault = fc.constantFrom<Fault>('none', 'none', 'none', 'unheard', 'unanswered')
/** The parallel actions of a step, the fault of the processor during it, and whether the requests are repeated. */
const step = fc.record({ actions: fc.array(action, { minLength: 1, maxLength: 2 }), fault, isSentAgain: fc.boolean() })

async function placeOrder(shop: Selling) {
  const book = await shop.add({ title: 'Book', variants: [{ price: shop.usd(333), onHand }] })
  const { token } = await customerOf(shop.app, shop.shop.name)
  const cartId = await shop.cart({ token, quantity: orderedQuantities[0] ?? 1 })
  const item = { variantId: book.variants[0]?.id, quantity: orderedQuantities[1] }
  ok(await shop.app.call('POST', `/cart/${cartId}/items`, { token, body: item }))
  const { order } = ok(await shop.checkout(cartId, {}, undefined, token)).body
  return { token, orderId: order.id as string, lineIds: order.lines.map(({ id }: { id: string }) => id) as string[] }
}

const countOf = (all: readonly { lines: readonly { lineId: string; quantity: number }[] }[], id: string) =>
  all.flatMap(({ lines }) => lines.filter(({ lineId }) => lineId === id)).reduce((sum, one) => sum + one.quantity, 0)

test('never returns more than was sent, never refunds more than was captured, and counts stock once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 10 }), async (steps) => {
      await using app = await testApp()
      const shop = await sellingIn(app, { onHand })
      const { token, orderId, lineIds } = await placeOrder(shop)
      let currentFault: Fault = 'none'
      changeProcessor(app, () => ({}))
      const processor = app.deps.processors.get('sandbox')
      if (!processor) throw new Error('no sandbox')
      changeProcessor(app, () => ({ ...withFaults(processor, () => currentFault) }))
      const { read } = app.deps.db
      const path = `/v2/orders/${orderId}`
      const requestFor = async (one: Action): Promise<readonly [string, object, boolean?]> => {
        const storedReturns = await read.select().from(returns).orderBy(returns.id)
        const nth = 'nth' in one && storedReturns.length > 0 ? storedReturns[one.nth % storedReturns.length]?.id : 'ret_none'
        const lineId = 'line' in one ? lineIds[one.line] : ''
        switch (one.do) {
          case 'send':
            return ['fulfilments', { lines: [{ lineId, quantity: one.quantity }] }]
          case 'refund':
            return ['refunds', { lines: [{ lineId, quantity: one.quantity, restock: one.restock }] }]
          case 'refundAmount':
            return ['refunds', { amount: shop.usd(one.amount) }]
          case 'ask':
            return ['returns', { lines: [{ lineId, quantity: one.quantity, reason: 'x' }] }, one.asShopper]
          case 'receive':
            return [`returns/${nth}/receive`, { restock: one.restock, refund: one.refund }]
          default:
            return [`returns/${nth}/${one.do}`, {}]
        }
      }
      let key = 0
      for (const { actions, fault: stepFault, isSentAgain } of steps) {
        currentFault = stepFault
        const sent = await Promise.all(actions.map(requestFor))
        const send = () =>
          Promise.all(
            sent.map(([what, body, asShopper], at) =>
              app.call('POST', `${path}/${what}`, {
                ...(asShopper ? { token } : { key: shop.secretKey }),
                body,
                headers: { 'idempotency-key': `key-${key}-${at}` },
              }),
            ),
          )
        const answers = await send()
        for (const { status, text } of answers) if (![200, 201, 404, 409].includes(status)) throw new Error(`${status} ${text}`)
        if (isSentAgain) {
          // Requests under the same keys get the same statuses, and take effect once.
          const replayed = await send()
          expect(replayed.map(({ status }) => status)).toEqual(answers.map(({ status }) => status))
        }
        key++
        const [sentParcels, allReturns, books] = [
          await read.select().from(fulfilments),
          await read.select().from(returns),
          await booksOf(app),
        ]
        const openReturns = allReturns.filter(({ status }) => status !== 'REJECTED')
        const effectiveRefunds = books.refunds.filter(({ status }) => status !== 'FAILED')
        const { returnable } = ok(await shop.get(`${path}/returns`)).body
        lineIds.forEach((id, at) => {
          const [sentCount, returnedCount] = [countOf(sentParcels, id), countOf(openReturns, id)]
          expect(returnedCount).toBeLessThanOrEqual(sentCount)
          expect(returnedCount + returnable[at].quantity).toBeLessThanOrEqual(sentCount)
          expect(countOf(effectiveRefunds, id)).toBeLessThanOrEqual(orderedQuantities[at] ?? 0)
        })
        const captured = books.payments.reduce((sum, payment) => sum + payment.captured, 0)
        expect(effectiveRefunds.reduce((sum, { amount }) => sum + amount, 0)).toBeLessThanOrEqual(captured)
        // A received return with a refund refers to one refund of exactly its lines.
        const refunded = allReturns.filter(({ refundId }) => refundId !== null)
        expect(new Set(refunded.map(({ refundId }) => refundId)).size).toBe(refunded.length)
        for (const { refundId, lines } of refunded)
          expect(books.refunds.find(({ id }) => id === refundId)?.lines.map(({ lineId, quantity: n }) => [lineId, n])).toEqual(
            lines.map(({ lineId, quantity: n }) => [lineId, n]),
          )
      }
      currentFault = 'none'
      for (let round = 0; round < 5; round++) {
        app.clock.advance(60 * 60_000)
        await app.jobs.resume()
      }
      const [allReturns, books] = [await read.select().from(returns), await booksOf(app)]
      const settledRefunds = books.refunds.filter(({ status }) => status !== 'FAILED' && status !== 'PENDING')
      const restockedRefunds = settledRefunds.map(({ lines }) => ({ lines: lines.filter(({ restock, returned }) => restock && !returned) }))
      const received = allReturns.filter(({ status, restocked }) => status === 'RECEIVED' && restocked)
      const expected = lineIds.map(
        (id, at) => onHand - (orderedQuantities[at] ?? 0) + countOf(restockedRefunds, id) + countOf(received, id),
      )
      const stock = lineIds.map((id) => {
        const variantId = books.lines.find((one) => one.id === id)?.variantId
        return books.variants.find((one) => one.id === variantId)?.onHand
      })
      expect(stock).toEqual(expected)
      expect(violationsAtRest(books)).toEqual([])
    }),
    { numRuns: engine === 'sqlite' ? 40 : 15 },
  )
})
