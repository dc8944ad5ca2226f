/** Shops in three currencies, and random actions in them as data, for tests that run them concurrently in any order. */
import fc from 'fast-check'
import { system } from '../../src/core/command-context.ts'
import { issueGiftCard } from '../../src/modules/selling/gift-card/service.ts'
import { type Answer, type Json, type TestApp, testApp } from './app.ts'
import { type Books, booksOf } from './books.ts'
import { shopIn } from './catalog.ts'
import { type TestDatabase, testDatabase } from './database.ts'
import {
  changeProcessor,
  confirmAtSandbox,
  type Fault,
  sandboxMessage,
  succeedAtSandbox,
  withFaults,
  withInstantTimeout,
} from './sandbox.ts'
import { address, customerOf, ok } from './selling.ts'

const minuteMs = 60_000
/** Currencies with two, no and three decimals; exclusive tax, inclusive tax, and no tax. */
const markets = [
  { currency: 'USD', country: 'US', price: 1_999, tax: { country: 'US', rateBps: 725, inclusive: false }, shipping: 595, zoned: true },
  { currency: 'JPY', country: 'JP', price: 1_337, tax: { country: 'US', rateBps: 1_000, inclusive: true }, shipping: 0, zoned: false },
  { currency: 'KWD', country: 'KW', price: 12_345, tax: undefined, shipping: undefined, zoned: false },
]
/** Stock of the variant whose stock only orders change. */
export const fixedStock = 30
/** Longer than any run. */
export const tokenSeconds = 24 * 60 * 60
/** Each batch may start 61 minutes after the one before, so `tokenSeconds` must cover them all. */
export const batchesMax = 20

export type Market = {
  shopId: string
  shopName: string
  secretKey: string
  publishableKey: string
  customer: string
  currency: string
  ships: boolean
  productId: string
  /** In this order: stock that the merchant changes; fixed stock; backorders allowed; stock not tracked. */
  variants: string[]
  cards: string[]
}
export type ModelFixture = { database: TestDatabase; markets: Market[] }

/** Creates the shops in a database that each run copies. */
export async function createModelFixture(): Promise<ModelFixture> {
  const database = await testDatabase()
  await using app = await testApp({ ACCESS_TOKEN_SECONDS: String(tokenSeconds) }, { database })
  const opened: Market[] = []
  for (const market of markets) opened.push(await openMarket(app, market))
  return { database, markets: opened }
}

async function openMarket(app: TestApp, { currency, country, price, tax, shipping, zoned }: (typeof markets)[number]): Promise<Market> {
  const shop = await shopIn(app, { currency, country })
  const money = (amount: number) => ({ amount, currency })
  const product = async (sku: string, stock: Json) => shop.add({ title: sku, variants: [{ sku, price: money(price), ...stock }] })
  const changedStock = await product('changed', { onHand: 8, weightGrams: 300, lowStockAt: 3 })
  const fixedProduct = await product('fixed', { onHand: fixedStock, weightGrams: 700, taxClass: 'reduced', lowStockAt: 25 })
  const backordered = await product('ahead', { onHand: 2, allowBackorder: true })
  const untracked = await product('uncounted', { requiresShipping: false, taxClass: 'digital' })
  // The class `reduced` has its own rate, and `digital` uses the standard rate.
  if (tax) ok(await shop.put('/shops/v2/tax-rates', { data: [tax, { ...tax, rateBps: 133, class: 'reduced' }] }))
  const bands = (first: number) => [{ upToGrams: 1_000, amount: money(first) }, { amount: money(2 * first) }]
  const form = (amount: number) =>
    zoned
      ? { zones: [{ countries: ['US'], provinces: ['ME', 'CA'] }, {}], rates: bands(amount), freeOver: money(15 * price) }
      : { price: money(amount), countries: [] }
  const method = shipping !== undefined && { code: 'post', title: 'Post', ...form(shipping) }
  if (method) ok(await shop.put('/shops/v2/shipping-methods', { data: [method] }))
  ok(await shop.post('/affiliates', { name: 'Partner', code: 'partner', rateBps: 1_250 }))
  const cards: string[] = []
  for (const [amount, lifeMs] of [
    [price - 1, null],
    [3 * price, null],
    [500, 90 * minuteMs],
  ] as const) {
    const expiresAt = lifeMs === null ? null : app.clock.now() + lifeMs
    cards.push((await issueGiftCard(app.deps, { shop: shop.shop, actor: system }, { amount: money(amount), expiresAt })).code)
  }
  for (const discount of [
    { title: 'All', kind: 'PERCENT', valueBps: 725, perCustomerLimit: 3 },
    { title: 'Few', code: 'FEW', kind: 'PERCENT', valueBps: 3_333, usageLimit: 3 },
    {
      title: 'Each',
      code: 'EACH',
      kind: 'FIXED',
      amount: money(price),
      perCustomerLimit: 1,
      productIds: [changedStock.id, backordered.id],
    },
    { title: 'Free', code: 'FREE', kind: 'FREE_SHIPPING', minSubtotal: money(2 * price), usageLimit: 4 },
    { title: 'Whole', code: 'WHOLE', kind: 'PERCENT', valueBps: 10_000, usageLimit: 1 },
  ])
    ok(await shop.post('/discounts', discount), 201)
  return {
    shopId: shop.shop.id,
    shopName: shop.shop.name,
    secretKey: shop.secretKey,
    publishableKey: shop.publishableKey,
    customer: (await customerOf(app, shop.shop.name)).token,
    currency,
    ships: method !== false,
    productId: changedStock.id,
    variants: [changedStock, fixedProduct, backordered, untracked].map(({ variants }) => variants[0]?.id ?? ''),
    cards,
  }
}

/** Numbers are indexes (modulo the length) into the carts, payments or orders that exist at that moment. */
export type Action =
  | { do: 'begin'; market: number; guest: boolean; partner: boolean; lines: [variant: number, quantity: number][]; cards: number[] }
  | { do: 'add'; cart: number; variant: number; quantity: number }
  | { do: 'change'; cart: number; line: number; quantity: number }
  | { do: 'remove'; cart: number; line: number }
  | { do: 'apply' | 'unapply'; cart: number; card: number }
  | { do: 'code'; cart: number; code: string | null }
  | { do: 'checkout'; cart: number; token: string; again: boolean }
  | { do: 'return'; cart: number }
  | { do: 'confirm'; payment: number }
  | { do: 'retry'; payment: number; captured: boolean }
  | { do: 'message'; payment: number; type: string }
  | { do: 'refund'; order: number; share: 'all' | 'lines' | number; again: boolean }
  | { do: 'cancel' | 'fulfil'; order: number }
  | { do: 'send'; order: number; quantity: number }
  | { do: 'stock'; market: number; onHand: number }
  | { do: 'price'; market: number; price: number }
  | { do: 'resume' | 'close' }
type Begin = Extract<Action, { do: 'begin' }>
export type Batch = { advanceMs: number; faults: Fault[]; actions: Action[] }

const one = fc.nat({ max: 1_000 })
const few = fc.integer({ min: 1, max: 4 })
const word = <const Word extends string>(...words: Word[]): fc.Arbitrary<Word> => fc.constantFrom(...words)
const token = word('tok_success', 'tok_success', 'tok_crash', 'tok_decline', 'tok_decline', 'tok_timeout', 'tok_action')
const line = fc.tuple(fc.nat({ max: 3 }), few)

const begin: fc.Arbitrary<Begin> = fc.record({
  do: fc.constant('begin' as const),
  market: one,
  guest: fc.boolean(),
  partner: fc.boolean(),
  lines: fc.array(line, { minLength: 1, maxLength: 3 }),
  cards: fc.array(one, { maxLength: 2 }),
})

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: begin },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('add' as const), cart: one, variant: one, quantity: few }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('change' as const), cart: one, line: one, quantity: few }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remove' as const), cart: one, line: one }) },
  { weight: 2, arbitrary: fc.record({ do: word('apply', 'unapply'), cart: one, card: one }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('code' as const), cart: one, code: word('few', 'EACH', 'Free', 'whole', 'none') }) },
  {
    weight: 14,
    arbitrary: fc.record({ do: fc.constant('checkout' as const), cart: one, token, again: fc.constantFrom(false, false, true) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('return' as const), cart: one }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('confirm' as const), payment: one }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('retry' as const), payment: one, captured: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('message' as const),
      payment: one,
      type: word('payment.captured', 'payment.authorized', 'other'),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('refund' as const),
      order: one,
      // All, one line, or a share of the total.
      share: fc.constantFrom<'all' | 'lines' | number>('all', 'lines', 'lines', 0.1, 0.1, 0.37, 0.5, 1, 1.1),
      again: fc.boolean(),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: word('cancel', 'cancel', 'fulfil'), order: one }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('send' as const), order: one, quantity: fc.integer({ min: 1, max: 2 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('stock' as const), market: one, onHand: fc.integer({ min: 0, max: 12 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('price' as const), market: one, price: fc.integer({ min: 0, max: 50_000 }) }) },
  { weight: 3, arbitrary: fc.record({ do: word('resume', 'close') }) },
)

/** Concurrent actions after the clock advanced. `faults` apply to their first calls to the processor. */
const batch: fc.Arbitrary<Batch> = fc.record({
  advanceMs: fc.constantFrom(1_000, 1_000, 1_000, 1_000, 16_000, 61_000, 20 * minuteMs, 61 * minuteMs),
  faults: fc.oneof(
    { weight: 3, arbitrary: fc.constant<Fault[]>([]) },
    { weight: 1, arbitrary: fc.array(word<Fault>('none', 'unheard', 'unanswered'), { minLength: 1, maxLength: 6 }) },
  ),
  actions: fc.array(action, { minLength: 1, maxLength: 5 }),
})

/** A scenario starts with some carts and continues batch by batch. */
export const scenario = fc.record({
  carts: fc.array(begin, { minLength: 4, maxLength: 8, size: 'max' }),
  batches: fc.array(batch, { minLength: 8, maxLength: batchesMax, size: 'max' }),
})
export type Scenario = { carts: Begin[]; batches: Batch[] }

type ModelCart = {
  id: string
  market: Market
  auth: { token: string } | { key: string }
  /** Idempotency key of the last checkout. */
  key: string
  token: string
}

/** Returns functions that run batches in an app, which uses a copy of the fixture's database. */
export function createModel(app: TestApp, { markets: all }: Pick<ModelFixture, 'markets'>) {
  const carts: ModelCart[] = []
  let books: Books
  let faults: Fault[] = []
  let keys = 0
  const at = <T>(list: readonly T[], nth: number): T | undefined => list[nth % Math.max(1, list.length)]
  const newKey = () => `key-${keys++}`

  changeProcessor(app, withInstantTimeout(app))
  changeProcessor(app, (processor) => withFaults(processor, () => faults.shift() ?? 'none'))

  /** Prices of variants in draft orders, by cart. */
  const drafts = new Map<string, ReadonlyMap<string, number>>()

  /** Creates a draft order with the shop's own prices, for a guest with several lines and no affiliate. */
  async function createDraftOrder(shop: Market, { lines }: Begin): Promise<Answer> {
    const wanted = new Map(lines.map(([variant, quantity]) => [at(shop.variants, variant) ?? '', quantity]))
    const priceOf = (quantity: number, nth: number) => (quantity * 1_237 + nth * 391) % 5_000
    const asked = [...wanted].map(([variantId, quantity], nth) => ({
      variantId,
      quantity,
      unitPrice: { amount: priceOf(quantity, nth), currency: shop.currency },
    }))
    const body = { lines: asked, email: 'shopper@example.com', shippingAddress: address }
    const draw = (method: object) => app.call('POST', '/v2/orders/drafts', { key: shop.secretKey, body: { ...body, ...method } })
    const first = await draw(shop.ships ? { shippingMethod: 'post' } : {})
    // The post is not offered for heavy carts. Such a draft has no shipping method and cannot be bought.
    const made = first.status === 400 ? ok(await draw({})) : ok(first)
    drafts.set(made.body.cartId, new Map(asked.map(({ variantId, unitPrice }) => [variantId, unitPrice.amount])))
    return made
  }

  async function begin(asked: Begin): Promise<Answer> {
    const { market, guest, partner, lines, cards } = asked
    const shop = at(all, market) as Market
    if (guest && !partner && lines.length > 1) {
      const made = await createDraftOrder(shop, asked)
      const cart = { id: made.body.cartId, market: shop, auth: { key: shop.publishableKey }, key: newKey(), token: 'tok_success' }
      for (const card of cards) await apply(cart, card)
      carts.push(cart)
      return made
    }
    const auth = guest ? { key: shop.publishableKey } : { token: shop.customer }
    const body = {
      email: 'shopper@example.com',
      shippingAddress: address,
      ...(shop.ships ? { shippingMethod: 'post' } : {}),
      ...(partner ? { affiliateCode: 'partner' } : {}),
    }
    const made = ok(await app.call('POST', '/cart', { ...auth, body }))
    const cart = { id: made.body.id, market: shop, auth, key: newKey(), token: 'tok_success' }
    for (const [variant, quantity] of lines) await add(cart, variant, quantity)
    for (const card of cards) await apply(cart, card)
    carts.push(cart)
    return made
  }
  const add = ({ id, auth, market }: ModelCart, variant: number, quantity: number) =>
    app.call('POST', `/cart/${id}/items`, { ...auth, body: { variantId: at(market.variants, variant), quantity } })
  const apply = ({ id, auth, market }: ModelCart, card: number) =>
    app.call('PATCH', '/giftcard/apply', { ...auth, body: { code: at(market.cards, card), cartId: id } })

  async function onCart(nth: number, act: (cart: ModelCart) => Promise<Answer>): Promise<Answer | undefined> {
    const cart = at(carts, nth)
    return cart && act(cart)
  }
  /** Calls `act` with a cart, mostly one that is still open. */
  async function onOpen(nth: number, act: (cart: ModelCart) => Promise<Answer>): Promise<Answer | undefined> {
    const open = carts.filter(({ id }) => books.carts.some((cart) => cart.id === id && cart.status === 'OPEN'))
    const cart = at(nth % 4 === 0 ? carts : open, nth)
    return cart && act(cart)
  }
  async function onLine(cart: number, line: number, act: (path: string, auth: object) => Promise<Answer>): Promise<Answer | undefined> {
    return onOpen(cart, ({ id, auth }) => {
      const lineId =
        at(
          books.cartLines.filter(({ cartId }) => cartId === id),
          line,
        )?.id ?? 'line_none'
      return act(`/cart/${id}/items/${lineId}`, auth)
    })
  }
  /** Changes an order with its shop's secret key. `again` uses the same idempotency key each time. */
  async function onOrder(nth: number, what: string, body: (order: Books['orders'][number]) => unknown, again = false) {
    const order = at(books.orders, nth)
    const market = all.find(({ currency }) => currency === order?.currency)
    if (!order || !market) return undefined
    const headers = { 'idempotency-key': again ? `again-${what}-${order.id}` : newKey() }
    return app.call('POST', `/v2/orders/${order.id}/${what}`, { key: market.secretKey, body: body(order), headers })
  }
  function changeProduct(nth: number, change: (money: (amount: number) => Json) => Json): Promise<Answer> {
    const { secretKey, productId, variants, currency } = at(all, nth) as Market
    const body = { variants: [{ id: variants[0], ...change((amount) => ({ amount, currency })) }] }
    return app.call('PATCH', `/product-v2/${productId}`, { key: secretKey, body })
  }
  function countStock(nth: number, counted: number): Promise<Answer> {
    const { secretKey, productId, variants } = at(all, nth) as Market
    return app.call('POST', `/product-v2/${productId}/variants/${variants[0]}/stock`, { key: secretKey, body: { counted } })
  }
  function checkOut({ cart, token: paymentToken, again }: Extract<Action, { do: 'checkout' }>) {
    return onCart(cart, (known) => {
      if (!again) Object.assign(known, { key: newKey(), token: paymentToken })
      const body = { method: 'card', paymentToken: known.token }
      return app.call('POST', `/cart/${known.id}/checkout`, { ...known.auth, body, headers: { 'idempotency-key': known.key } })
    })
  }

  async function act(action: Action): Promise<Answer | undefined> {
    switch (action.do) {
      case 'begin':
        return begin(action)
      case 'add':
        return onOpen(action.cart, (cart) => add(cart, action.variant, action.quantity))
      case 'change':
        return onLine(action.cart, action.line, (path, auth) => app.call('PATCH', path, { ...auth, body: { quantity: action.quantity } }))
      case 'remove':
        return onLine(action.cart, action.line, (path, auth) => app.call('DELETE', path, auth))
      case 'apply':
        return onOpen(action.cart, (cart) => apply(cart, action.card))
      case 'unapply':
        return onOpen(action.cart, ({ id, auth }) => app.call('PATCH', '/giftcard/remove', { ...auth, body: { cartId: id } }))
      case 'code':
        return onOpen(action.cart, ({ id, auth }) =>
          app.call('PATCH', `/cart/${id}/discount`, { ...auth, body: { code: action.code === 'none' ? null : action.code } }),
        )
      case 'checkout':
        return checkOut(action)
      case 'return':
        return onCart(action.cart, ({ id, auth }) => app.call('POST', `/cart/${id}/complete`, auth))
      case 'confirm': {
        const payment = at(
          books.sandbox.filter(({ token: given }) => given === 'tok_action'),
          action.payment,
        )
        if (payment) await confirmAtSandbox(app, payment.id)
        return undefined
      }
      case 'retry': {
        const payment = at(
          books.sandbox.filter(({ status }) => status === 'DECLINED'),
          action.payment,
        )
        if (payment) await succeedAtSandbox(app, payment.id, action)
        return undefined
      }
      case 'message': {
        const payment = at(books.payments, action.payment)
        return payment && sandboxMessage(app, payment.id, action.type)
      }
      case 'refund': {
        const { share } = action
        const askedOf = ({ id, total, currency }: Books['orders'][number]) => {
          const line = at(
            books.lines.filter(({ orderId }) => orderId === id),
            action.order,
          )
          if (share === 'lines') return { lines: [{ lineId: line?.id, quantity: 1, restock: action.order % 3 > 0 }] }
          return share === 'all' ? { all: true } : { amount: { amount: Math.max(1, Math.floor(total * share)), currency } }
        }
        return onOrder(action.order, 'refunds', askedOf, action.again)
      }
      case 'cancel':
      case 'fulfil':
        return onOrder(action.order, action.do, () => ({}))
      case 'send': {
        const { order, quantity } = action
        const partOf = ({ id }: Books['orders'][number]) => {
          const own = books.lines.filter(({ orderId }) => orderId === id)
          return { lines: [{ lineId: at(own, order)?.id, quantity }] }
        }
        return onOrder(order, 'fulfilments', partOf)
      }
      case 'stock':
        return countStock(action.market, action.onHand)
      case 'price':
        return changeProduct(action.market, (money) => ({ price: money(action.price) }))
      case 'resume':
        await app.jobs.resume()
        return undefined
      case 'close':
        await app.jobs.closeOrders()
        return undefined
    }
  }

  return {
    drafts,
    async begin(first: readonly Begin[]): Promise<void> {
      for (const cart of first) await begin(cart)
    },
    /** Runs the actions of a batch concurrently. Returns each action with its response. */
    async run({ advanceMs, faults: given, actions }: Batch): Promise<{ action: Action; answer: Answer }[]> {
      app.clock.advance(advanceMs)
      books = await booksOf(app)
      faults = [...given]
      const answers = await Promise.all(actions.map(async (action) => ({ action, answer: await act(action) })))
      faults = []
      return answers.flatMap(({ action, answer }) => (answer ? [{ action, answer }] : []))
    },
    /** Advances the clock until no order or refund has work left. */
    async rest(): Promise<Books> {
      app.clock.advance(61 * minuteMs)
      for (let rounds = 0; rounds < 20; rounds++) {
        app.clock.advance(31 * minuteMs)
        await app.jobs.resume()
        await app.jobs.closeOrders()
        const { orders, refunds } = await booksOf(app)
        if ([...orders, ...refunds].every(({ resumeAt }) => resumeAt === null)) break
      }
      return booksOf(app)
    },
  }
}
