/** Tests random requests in any order and release: amounts add up, and a read repeats the last response. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { loadCurrentSession, shownDigestOf } from '../../../../src/modules/agents/agent-session/index.ts'
import { agentOf, amountsOf, buyer } from '../../../support/agent-calls.ts'
import { type Json, testApp } from '../../../support/app.ts'
import { ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'
import { ucpSkipNote } from '../../../support/ucp-schemas.ts'

setDefaultTimeout(longTestMs)

const runs = 25
const countries = ['US', 'DE', 'usa', 'FR', 'Narnia'] as const
const codes = ['TEN', 'HALF', 'SHIP', 'FIVER', 'nope'] as const

const destination = fc.record(
  {
    id: fc.constantFrom('a', 'b'),
    address_country: fc.constantFrom(...countries),
    address_region: fc.constantFrom('ME', 'Maine', 'CA', 'XX'),
    street_address: fc.constant('1 Quay Street'),
    address_locality: fc.constant('Portland'),
    first_name: fc.constant('Noor'),
  },
  { requiredKeys: [] },
)
const contents = fc.record({
  lines: fc.array(fc.record({ of: fc.nat(4), quantity: fc.integer({ min: 1, max: 30 }) }), { maxLength: 6 }),
  buyer: fc.constantFrom(undefined, buyer, { email: 'a@example.com' }),
  destinations: fc.array(destination, { maxLength: 3 }),
  selected: fc.constantFrom(undefined, null, 'a', 'b'),
  option: fc.constantFrom(undefined, null, 'post', 'air', 'free'),
  codes: fc.uniqueArray(fc.constantFrom(...codes), { maxLength: 5 }),
})
const change = fc.oneof(
  fc.record({ kind: fc.constant('price' as const), of: fc.nat(2), amount: fc.integer({ min: 0, max: 5_000 }) }),
  fc.record({ kind: fc.constant('stock' as const), of: fc.nat(2), amount: fc.nat(20) }),
  fc.record({ kind: fc.constant('tax' as const), amount: fc.integer({ min: 0, max: 2_500 }) }),
  fc.record({ kind: fc.constant('rate' as const), amount: fc.integer({ min: 0, max: 2_000 }) }),
)
const steps = fc.array(fc.oneof({ weight: 3, arbitrary: contents.map((sent) => ({ kind: 'put' as const, sent })) }, change), {
  minLength: 1,
  maxLength: 6,
})

test(`amounts of random sessions add up, and reads repeat responses${ucpSkipNote}`, async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { onHand: 20 })
  const put = async (path: string, body: unknown) => void ok((await shop.put(path, body)) as never)
  const variants: [product: string, variant: string][] = [[shop.productId, shop.variantId]]
  for (const [title, more] of Object.entries({ Cup: { weightGrams: 500 }, Song: { requiresShipping: false, taxable: false } })) {
    const product = await shop.add({ title, variants: [{ price: shop.money(333), onHand: 20, ...more }] })
    variants.push([product.id, product.variants[0]?.id ?? ''])
  }
  const discount = async (body: object) => void ok(await shop.post('/discounts', body), 201)
  await discount({ title: 'Ten', code: 'TEN', kind: 'PERCENT', valueBps: 1_000 })
  await discount({ title: 'Half', code: 'HALF', kind: 'PERCENT', valueBps: 5_000, minSubtotal: shop.money(5_000) })
  await discount({ title: 'Ships free', code: 'SHIP', kind: 'FREE_SHIPPING' })
  await discount({ title: 'Five off', code: 'FIVER', kind: 'FIXED', amount: shop.money(500) })
  await discount({ title: 'Third', kind: 'PERCENT', valueBps: 333, productIds: [shop.productId] })
  const rate = (amount: number) =>
    put('/shops/v2/shipping-methods', {
      data: [
        {
          code: 'post',
          title: 'Post',
          zones: [{ countries: ['US'] }],
          rates: [{ amount: shop.money(amount) }],
          freeOver: shop.money(20_000),
        },
        { code: 'air', title: 'Air', zones: [{}], rates: [{ upToGrams: 5_000, amount: shop.money(1_999) }] },
      ],
    })
  const tax = (rateBps: number) =>
    put('/shops/v2/tax-rates', {
      data: [
        { country: 'US', rateBps, inclusive: false, shipping: true },
        { country: 'DE', rateBps: 1_900, inclusive: true, shipping: true },
      ],
    })
  await rate(500)
  await tax(825)
  const bodyOf = ({ lines, destinations, selected, option, ...sent }: Json) => ({
    line_items: lines.map(({ of, quantity }: { of: number; quantity: number }) => ({
      item: { id: variants[of]?.[1] ?? `var_${of}` },
      quantity,
    })),
    ...(sent.buyer ? { buyer: sent.buyer } : {}),
    fulfillment: {
      methods: [{ type: 'shipping', destinations, selected_destination_id: selected, groups: [{ selected_option_id: option }] }],
    },
    discounts: { codes: sent.codes },
  })
  const profile = 'https://platform.example/profile.json'
  const agents = (['2026-08-25', '2026-04-08'] as const).map((release) => agentOf(app, shop, { profile, isProven: true, release }))

  function assertAddsUp(answer: Json): void {
    const { total = 0, ...others } = amountsOf(answer)
    expect(Object.values(others).reduce((sum, amount) => sum + amount, 0)).toBe(total)
    const ofLines = (type: string) =>
      answer.line_items.map((item: Json) => amountsOf(item)[type] ?? 0).reduce((a: number, b: number) => a + b, 0)
    expect([ofLines('subtotal'), ofLines('items_discount')]).toEqual([others['subtotal'] ?? 0, others['items_discount'] ?? 0])
    const applied = (answer.discounts?.applied ?? []).reduce((sum: number, { amount }: Json) => sum + amount, 0)
    expect(applied).toBe(-((others['items_discount'] ?? 0) + (others['discount'] ?? 0)) + 0)
    const errors = answer.messages.filter(({ type }: Json) => type === 'error')
    expect(answer.status).toBe(errors.length > 0 ? 'incomplete' : 'ready_for_complete')
    expect(total).toBeGreaterThanOrEqual(0)
  }

  await fc.assert(
    fc.asyncProperty(contents, steps, async (first, following) => {
      // Unknown codes are rate limited per minute.
      app.clock.advance(61_000)
      const created: Json = await agents[0]?.create(bodyOf(first))
      if (created.ucp.status === 'error') return void expect(created.id).toBeUndefined()
      assertAddsUp(created)
      for (const [nth, step] of following.entries()) {
        const agent = agents[nth % 2]
        if (step.kind === 'put') assertAddsUp(await agent?.put(created.id, bodyOf(step.sent)))
        else if (step.kind === 'tax') await tax(step.amount)
        else if (step.kind === 'rate') await rate(step.amount)
        else {
          const [productId = '', variantId = ''] = variants[step.of] ?? []
          if (step.kind === 'price')
            ok(await shop.patch(`/product-v2/${productId}`, { variants: [{ id: variantId, price: shop.money(step.amount) }] }))
          else ok(await shop.count(productId, variantId, { counted: step.amount }))
        }
        const read: Json = await agent?.read(created.id)
        assertAddsUp(read)
        expect(await agent?.read(created.id)).toEqual(read)
        const loaded = await loadCurrentSession(app.deps, agent?.call() ?? (undefined as never), created.id)
        expect(loaded?.session.shown).toBe(loaded ? shownDigestOf(loaded.view) : '')
        app.clock.advance(61_000)
      }
    }),
    { numRuns: runs },
  )
})

test('in a live shop a person pays on the page of the link', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const agent = agentOf(app, { shop: { ...shop.shop, mode: 'LIVE' } })
  const answer = await agent.create({ line_items: [{ item: { id: shop.variantId }, quantity: 1 }], buyer })
  expect([answer.status, answer.ucp.payment_handlers, answer.messages]).toEqual(['requires_escalation', {}, []])
  expect(answer.continue_url).toContain('/pages/buy/')
})
