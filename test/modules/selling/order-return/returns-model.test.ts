/** Random fulfilments, refunds and returns by two actors at once, with refunds whose calls are lost. */
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

const ordered = [4, 2]
const onHand = 10
const line = fc.nat({ max: ordered.length - 1 })
const quantity = fc.integer({ min: 1, max: 3 })
const act = fc.oneof(
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
type Act = typeof act extends fc.Arbitrary<infer One> ? One : never
const fault = fc.constantFrom<Fault>('none', 'none', 'none', 'unheard', 'unanswered')
/** What both actors do at the same time, and what becomes of calls to the processor then. */
const step = fc.record({ acts: fc.array(act, { minLength: 1, maxLength: 2 }), fault, isSentAgain: fc.boolean() })

async function orderIn(shop: Selling) {
  const book = await shop.add({ title: 'Book', variants: [{ price: shop.usd(333), onHand }] })
  const { token } = await customerOf(shop.app, shop.shop.name)
  const cartId = await shop.cart({ token, quantity: ordered[0] ?? 1 })
  const item = { variantId: book.variants[0]?.id, quantity: ordered[1] }
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
      const { token, orderId, lineIds } = await orderIn(shop)
      let now: Fault = 'none'
      changeProcessor(app, () => ({}))
      const processor = app.deps.processors.get('sandbox')
      if (!processor) throw new Error('no sandbox')
      changeProcessor(app, () => ({ ...withFaults(processor, () => now) }))
      const { read } = app.deps.db
      const path = `/v2/orders/${orderId}`
      const bodyOf = async (one: Act): Promise<readonly [string, object, boolean?]> => {
        const known = await read.select().from(returns).orderBy(returns.id)
        const nth = 'nth' in one && known.length > 0 ? known[one.nth % known.length]?.id : 'ret_none'
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
      for (const { acts, fault: next, isSentAgain } of steps) {
        now = next
        const sent = await Promise.all(acts.map(bodyOf))
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
          // The same keys again: the same answers, and nothing happens twice.
          const again = await send()
          expect(again.map(({ status }) => status)).toEqual(answers.map(({ status }) => status))
        }
        key++
        const [parcels, back, books] = [await read.select().from(fulfilments), await read.select().from(returns), await booksOf(app)]
        const standing = back.filter(({ status }) => status !== 'REJECTED')
        const held = books.refunds.filter(({ status }) => status !== 'FAILED')
        const { returnable } = ok(await shop.get(`${path}/returns`)).body
        lineIds.forEach((id, at) => {
          const [ofSent, ofReturns] = [countOf(parcels, id), countOf(standing, id)]
          expect(ofReturns).toBeLessThanOrEqual(ofSent)
          expect(ofReturns + returnable[at].quantity).toBeLessThanOrEqual(ofSent)
          expect(countOf(held, id)).toBeLessThanOrEqual(ordered[at] ?? 0)
        })
        const captured = books.payments.reduce((sum, payment) => sum + payment.captured, 0)
        expect(held.reduce((sum, { amount }) => sum + amount, 0)).toBeLessThanOrEqual(captured)
        // A received return with a refund has exactly that one, of its lines.
        const refunded = back.filter(({ refundId }) => refundId !== null)
        expect(new Set(refunded.map(({ refundId }) => refundId)).size).toBe(refunded.length)
        for (const { refundId, lines } of refunded)
          expect(books.refunds.find(({ id }) => id === refundId)?.lines.map(({ lineId, quantity: n }) => [lineId, n])).toEqual(
            lines.map(({ lineId, quantity: n }) => [lineId, n]),
          )
      }
      now = 'none'
      for (let round = 0; round < 5; round++) {
        app.clock.advance(60 * 60_000)
        await app.jobs.resume()
      }
      const [back, books] = [await read.select().from(returns), await booksOf(app)]
      const assured = books.refunds.filter(({ status }) => status !== 'FAILED' && status !== 'PENDING')
      const shelved = assured.map(({ lines }) => ({ lines: lines.filter(({ restock, returned }) => restock && !returned) }))
      const received = back.filter(({ status, restocked }) => status === 'RECEIVED' && restocked)
      const expected = lineIds.map((id, at) => onHand - (ordered[at] ?? 0) + countOf(shelved, id) + countOf(received, id))
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
