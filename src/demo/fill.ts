/** Fills the demo's shops through the services. Each record is created at its own time within the past year. */
import { isUniqueViolation } from '../../db/engine.ts'
import { system } from '../core/command-context.ts'
import { OperatorError } from '../core/errors.ts'
import { dayMs, dayOf } from '../lib/day.ts'
import { createProgress } from '../lib/progress.ts'
import { handleOf } from '../lib/search-terms.ts'
import { createBlog, listBlogs } from '../modules/catalog/blog/index.ts'
import { addPicture } from '../modules/catalog/media/index.ts'
import {
  createCollection,
  createProduct,
  findProductByHandle,
  findPublishedCollection,
  setCollectionProducts,
} from '../modules/catalog/products/index.ts'
import {
  createBookAddress,
  createCustomer,
  findCustomerByEmail,
  readCustomer,
  recordAddressProof,
  signUpCustomer,
} from '../modules/customers/customer/index.ts'
import { eraseCustomer } from '../modules/customers/erasure/index.ts'
import { createMerchant, createSuperAdmin, findUserByEmail, hasSuperAdmin, hasUsers } from '../modules/identity/merchant/index.ts'
import { type MailSettings, setMailSettings } from '../modules/messaging/mail/index.ts'
import { audit, countActions } from '../modules/operations/audit/index.ts'
import { changeAffiliate, createAffiliate, listAffiliates, recordClick } from '../modules/selling/affiliate/index.ts'
import { changeGiftCard, giftCardsByIds, issueGiftCard } from '../modules/selling/gift-card/index.ts'
import { changeShop, contextOf, findShopByName, type Shop, setShippingMethods, setTaxRates } from '../modules/shop/shop/index.ts'
import type { AppDeps } from '../providers.ts'
import { abandonCarts } from './abandoned-carts.ts'
import { sellThroughAgents } from './agents.ts'
import { demoOperator, demoShop } from './data.ts'
import { discountCodesOf, makeDiscounts } from './discounts.ts'
import { makeDraft } from './draft-orders.ts'
import { fillLending } from './lending.ts'
import { watchStock } from './low-stock.ts'
import { fillNewcomers } from './new-merchants.ts'
import { type Market, sell } from './orders.ts'
import { depsAt } from './past-clock.ts'
import { makePartnerships, setUpPayments } from './payment-methods.ts'
import { stillLife } from './pictures.ts'
import { daysInYear, type PlannedCustomer, planOf, type ShopPlan } from './plan.ts'
import { fillRates } from './rates.ts'
import { createTwoFactorOperator } from './second-factor.ts'
import { addressAt } from './shop.ts'
import { shopsAbroad } from './shops-abroad.ts'
import { hireStaff, inviteNewcomer } from './staff.ts'

/** All shops of the demo, the main one first. */
export const demoShops = [demoShop, ...shopsAbroad]

/** Concurrent orders share commits on SQLite. On PostgreSQL they would conflict. */
const ordersAtOnce = { embedded: 64, server: 1 } as const

const filled = 'demo.filled'

/**
 * Fills the demo once. An interrupted fill continues: the plan follows from the first merchant's creation day, and
 * existing records are skipped.
 * @throws OperatorError if the database contains other data
 */
export async function fillDemo(deps: AppDeps): Promise<void> {
  const merchant = await findUserByEmail(deps, demoShop.merchant.email)
  if (!merchant && (await hasUsers(deps)))
    throw new OperatorError('The database contains other data. `souk demo` needs an empty data directory: `DATA_DIR=./demo souk demo`')
  const until = deps.clock.now()
  const start = Date.parse(dayOf(merchant?.createdAt ?? until - (daysInYear - 1) * dayMs))
  if (merchant && (await isFilled(deps))) return
  await fillYear({ ...deps, log: warningsOf(deps.log) }, start, until)
  const { id } = await findShopByName(deps, demoShop.name)
  await forgetSomebody(deps, await findShopByName(deps, demoShop.name), until)
  await deps.db.write((tx) => audit(tx, deps, { actor: system, action: filled, subject: id, shopId: id }))
}

/** Events of the invented past are not logged, except problems. */
const warningsOf = (log: AppDeps['log']): AppDeps['log'] => ({ ...log, debug: () => undefined, info: () => undefined })

/** Creates and erases a customer who joined a month ago without an order, so that only an id remains. */
async function forgetSomebody(deps: AppDeps, shop: Shop, until: number): Promise<void> {
  const by = { shop, actor: { id: shop.merchantId } }
  const person = { email: 'forget.me@demo.example', name: 'Somebody Who Left', phone: null, acceptsMarketing: false }
  const joined = depsAt(deps, until - 30 * dayMs)
  const { id } = (await findCustomerByEmail(deps, shop, person.email)) ?? (await createCustomer(joined, by, person))
  await eraseCustomer(deps, by, id)
}

async function isFilled(deps: AppDeps): Promise<boolean> {
  const { id } = await findShopByName(deps, demoShop.name)
  return (await countActions(deps.db.read, { action: filled, subject: id, since: 0 })) > 0
}

async function fillYear(deps: AppDeps, start: number, until: number): Promise<void> {
  const main = planOf(demoShop, start)
  const plans = [main, ...shopsAbroad.map((shop) => planOf(shop, start))]
  const total = plans.reduce((sum, { products, customers, orders }) => sum + products.length + customers.length + orders.length, 0)
  const progress = createProgress({
    total,
    label: 'Sample data',
    stream: process.stderr,
    unit: 'records',
    monotonicMs: deps.clock.monotonic,
  })
  let count = 0
  const advance = () => progress.at(++count)
  // The first merchant identifies an interrupted demo, as opposed to a database with other data.
  await shopOf(deps, main)
  try {
    const [markets] = await Promise.all([
      Promise.all(plans.map((plan) => openMarket(deps, plan, until, advance))),
      fillRates(deps, start, until),
      makeOperator(deps, start),
      makeStaff(deps, main),
    ])
    await makePartnerships(deps, markets)
    const embedded = deps.config.databaseUrl.startsWith('file:')
    await Promise.all([
      sell(deps, markets, { until, sideBySide: ordersAtOnce[embedded ? 'embedded' : 'server'], done: advance }),
      fillLending(deps, markets, start, until),
      fillNewcomers(deps, start, until),
    ])
    await Promise.all(markets.map((market) => afterSales(deps, market, until)))
    for (const market of markets.slice(0, 1)) {
      await Promise.all([watchStock(deps, market), abandonCarts(deps, market, until)])
      await sellThroughAgents(deps, market, until)
      // Created last, so that its payment link has not expired.
      await makeDraft(deps, market)
    }
  } finally {
    progress.end()
  }
}

async function makeStaff(deps: AppDeps, plan: ShopPlan): Promise<void> {
  const shop = await shopOf(deps, plan)
  await hireStaff(deps, shop, plan.opensAt)
  await inviteNewcomer(deps, shop)
}

async function makeOperator(deps: AppDeps, start: number): Promise<void> {
  if (!(await hasSuperAdmin(deps))) await createSuperAdmin(depsAt(deps, start), demoOperator)
  await createTwoFactorOperator(deps, start)
}

/** Creates what a shop has before its first order. */
async function openMarket(deps: AppDeps, plan: ShopPlan, until: number, done: () => void): Promise<Market> {
  const shop = await shopOf(deps, plan)
  await setUp(deps, plan, shop)
  await setUpPayments(deps, plan, shop)
  const [customers] = await Promise.all([
    Promise.all(plan.customers.map((planned) => customerOf(deps, shop, planned).finally(done))),
    makeProducts(deps, shop, plan, until, done),
    makePartners(deps, shop, plan),
    makeDiscounts(depsAt(deps, plan.opensAt), shop, plan),
    issueCards(deps, shop, plan, until),
  ])
  await Promise.all([makeCollections(deps, shop, plan), makeBlogs(deps, shop, plan)])
  const variantIds = await variantIdsOf(deps, shop, plan)
  return { plan, shop, customerIds: new Map(customers), variantIds, discountCodes: discountCodesOf(plan) }
}

async function shopOf(deps: AppDeps, { shop, opensAt }: ShopPlan): Promise<Shop> {
  if (!(await findUserByEmail(deps, shop.merchant.email))) await createMerchant(depsAt(deps, opensAt), shop.merchant, shop, system)
  return findShopByName(deps, shop.name)
}

async function setUp(deps: AppDeps, { shop: plan, opensAt }: ShopPlan, shop: Shop): Promise<void> {
  const { title, description, timeZone, taxRates, shippingMethods } = plan
  if (shop.shippingMethods.length > 0) return
  const pastDeps = depsAt(deps, opensAt)
  const by = { shop, actor: system }
  await changeShop(pastDeps, by, { title, description, timeZone })
  await setTaxRates(pastDeps, by, taxRates)
  await setShippingMethods(pastDeps, by, shippingMethods)
  await setMailSettings(pastDeps, by, mailsOf(shop))
}

/** Returns the mail settings of a shop, in the language of its country. */
const mailsOf = ({ country }: Shop): MailSettings => ({
  ...{ senderName: null, replyTo: null, accentColour: '#b4532a', backgroundColour: '#faf7f2', orderMails: [] },
  abandonedCartMail: { enabled: true, afterHours: 4 },
  language: country === 'MN' ? 'mn' : /^(AE|SA|KW|BH|QA|OM)$/.test(country) ? 'ar' : 'en',
})

async function customerOf(
  deps: AppDeps,
  shop: Shop,
  { email, name, password, joinsAt, place }: PlannedCustomer,
): Promise<readonly [email: string, id: string]> {
  const pastDeps = depsAt(deps, joinsAt)
  const by = { shop, actor: system }
  const existing = await findCustomerByEmail(deps, shop, email)
  const { id } =
    existing ??
    (password === undefined
      ? await createCustomer(pastDeps, by, { email, name, phone: null, acceptsMarketing: name.length % 2 === 0 })
      : await signUpCustomer(pastDeps, { shopId: shop.id, email, name, password }, { limitKey: 'demo', requestId: undefined }))
  // The customer then sees guest orders with this email address after login.
  if (!existing && password !== undefined)
    await pastDeps.db.write((tx) => recordAddressProof(tx, pastDeps, { id, shopId: shop.id, email }, system))
  const { addressIds } = await readCustomer(pastDeps, shop, id)
  const asDefault = { isDefaultShipping: true, isDefaultBilling: true }
  if (addressIds.length === 0) await createBookAddress(pastDeps, by, id, { ...addressAt({ name, email }, place), ...asDefault })
  return [email, id]
}

/** Creates the products with enough stock for all planned orders. */
async function makeProducts(deps: AppDeps, shop: Shop, { products, orders }: ShopPlan, until: number, done: () => void): Promise<void> {
  const lines = orders.flatMap((order) => order.lines)
  for (const { at, ...product } of products) {
    done()
    if (at > until || (await findProductByHandle(deps, shop, product.handle))) continue
    const ofProduct = lines.filter(({ handle }) => handle === product.handle)
    const variants = product.variants.map((variant, nth) => {
      const ordered = ofProduct.reduce((sum, line) => (line.variant === nth ? sum + line.quantity : sum), 0)
      return { ...variant, onHand: variant.onHand + ordered }
    })
    const pastDeps = depsAt(deps, at)
    const images = shop.name === demoShop.name ? [{ url: await drawnFor(pastDeps, shop, product.title), alt: product.title }] : []
    await createProduct(pastDeps, { shop, actor: system }, { ...product, variants, images })
  }
}

/**
 * Uploads a generated picture of a product.
 * @returns its URL
 */
async function drawnFor(deps: AppDeps, shop: Shop, title: string): Promise<string> {
  const picture = stillLife(title)
  async function* chunks() {
    yield picture
  }
  return (await addPicture(deps, { shop, actor: system }, { length: picture.length, chunks })).url
}

async function variantIdsOf(deps: AppDeps, shop: Shop, plan: ShopPlan): Promise<Map<string, string[]>> {
  const found = await Promise.all(
    plan.products.map(async ({ handle }) => {
      const product = await findProductByHandle(deps, shop, handle)
      return [handle, idsOf(product?.variants ?? [])] as const
    }),
  )
  return new Map(found)
}

async function makeCollections(deps: AppDeps, shop: Shop, { shop: { collections = [] }, products, opensAt }: ShopPlan): Promise<void> {
  const pastDeps = depsAt(deps, opensAt + dayMs)
  const by = { shop, actor: system }
  for (const { title, type } of collections) {
    const handle = handleOf(title)
    const existing = await findPublishedCollection(deps, shop, handle)
    const { id } = existing ?? (await createCollection(pastDeps, by, { title, handle }))
    const members = products.filter((product) => product.type === type && product.status === 'ACTIVE')
    const found = await Promise.all(members.map((product) => findProductByHandle(deps, shop, product.handle)))
    await setCollectionProducts(pastDeps, by, id, idsOf(found.filter((product) => product !== undefined)))
  }
}

const daysBetweenBlogs = 110

async function makeBlogs(deps: AppDeps, shop: Shop, { shop: { blogs = [], title }, opensAt }: ShopPlan): Promise<void> {
  const { total } = await listBlogs(deps, { shop, seesDrafts: true }, [], { page: 1, limit: 1, offset: 0 })
  for (const [nth, blog] of blogs.entries()) {
    if (nth < total) continue
    const pastDeps = depsAt(deps, opensAt + (1 + nth * daysBetweenBlogs) * dayMs)
    await createBlog(pastDeps, { shop, actor: system }, { ...blog, status: 'PUBLISHED', author: title })
  }
}

const allPartners = { page: 1, limit: 100, offset: 0 }

async function makePartners(deps: AppDeps, shop: Shop, { shop: { partners = [] }, opensAt }: ShopPlan): Promise<void> {
  const pastDeps = depsAt(deps, opensAt + dayMs)
  const existing = await listAffiliates(pastDeps, shop, allPartners)
  for (const { name, code, rateBps } of partners) {
    if (existing.data.some((partner) => partner.code === code)) continue
    await createAffiliate(pastDeps, { shop, actor: { id: shop.merchantId } }, { name, code, rateBps })
  }
}

const idsOf = (records: readonly { id: string }[]) => records.map(({ id }) => id)

async function issueCards(deps: AppDeps, shop: Shop, { cards }: ShopPlan, until: number): Promise<void> {
  const existing = await giftCardsByIds(deps, idsOf(cards))
  for (const { id, chance, amount, note, issuedAt, expiresAt } of cards) {
    if (issuedAt > until || existing.some((card) => card.id === id)) continue
    const pastDeps = { ...depsAt(deps, issuedAt, { giftCard: id }), randomBytes: () => chance }
    const by = { shop, actor: { id: shop.merchantId } }
    await issueGiftCard(pastDeps, by, { amount: { amount, currency: shop.currency }, note, expiresAt })
  }
}

/** Creates what depends on the orders: recent clicks, disabled gift cards and affiliates who left. */
async function afterSales(deps: AppDeps, { shop, plan }: Market, until: number): Promise<void> {
  const actor = { id: shop.merchantId }
  const principal = { kind: 'key', id: 'demo', scopes: ['storefront'], shop: contextOf(shop) } as const
  await Promise.all(
    plan.clicks
      .filter(({ at }) => at <= until)
      .map(({ id, at, partner }) =>
        recordClick(depsAt(deps, at, { click: id }), { shop, principal }, { code: partner }).catch(ignoreDuplicate),
      ),
  )
  const existing = await giftCardsByIds(deps, idsOf(plan.cards))
  for (const { id, disabledAt } of plan.cards) {
    const isOn = existing.some((card) => card.id === id && card.status === 'ACTIVE')
    if (isOn && disabledAt !== undefined && disabledAt <= until)
      await changeGiftCard(depsAt(deps, disabledAt), { shop, actor }, id, { status: 'DISABLED' })
  }
  const { data: partners } = await listAffiliates(deps, shop, allPartners)
  for (const { code, leavesAt } of plan.partings) {
    const partner = partners.find((one) => one.code === code)
    if (partner?.active && leavesAt <= until) await changeAffiliate(depsAt(deps, leavesAt), { shop, actor }, partner.id, { active: false })
  }
}

/** Ignores a click that exists: its id follows from the plan. */
function ignoreDuplicate(error: unknown): void {
  if (!isUniqueViolation(error)) throw error
}
