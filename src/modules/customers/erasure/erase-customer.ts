import type { Writer } from '../../../../db/engine.ts'
import { type CommandContext, locking, system, withLocks } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { isoTimes } from '../../../lib/objects.ts'
import { normalEmail } from '../../identity/auth/domain.ts'
import { findPendingMailsAbout } from '../../messaging/mail/index.ts'
import { enqueueMessage } from '../../messaging/webhook/index.ts'
import { audit, audited } from '../../operations/audit/index.ts'
import { eraseAnswers } from '../../operations/idempotency/index.ts'
import { recordErasure } from '../../operations/kpi/index.ts'
import { reindexOrder } from '../../selling/order/index.ts'
import { loadProvinceTable } from '../../shop/countries/domain.ts'
import { findCustomerById, joinAllGuestOrders, lockCustomer, reindexCustomer } from '../customer/index.ts'
import { blockingText, type Erasure, erasedEmail, isErasedEmail, type ListedErasure, sweepAgainAfterMs } from './domain.ts'
import { appendToList } from './erased-list.ts'
import type { ErasureDeps } from './providers.ts'
import { erasureStore as store } from './store.ts'
import { type ErasureTarget, erasers, findBlockingRecords } from './tables-store.ts'

type ErasedView = { customerId: string; erasedAt: string }

const noSuchCustomer = () => new AppError('NOT_FOUND', 'No such customer')
const viewOf = (customerId: string, at: number): ErasedView => ({ customerId, ...isoTimes({ erasedAt: at }) })

/**
 * Erases the personal data of a customer and of guest orders with their e-mail address in one write. Sealed stored
 * responses are searched afterwards. Numbers, amounts, tax and country stay. Idempotent.
 * @throws AppError NOT_FOUND; CONFLICT while an order, payment, refund or dispute is open, naming it
 */
export async function eraseCustomer(
  deps: ErasureDeps,
  by: CommandContext<Pick<ShopContext, 'id'>>,
  customerId: string,
): Promise<ErasedView> {
  const { shop, actor } = by
  const customerBefore = await findCustomerById(deps, shop.id, customerId)
  if (!customerBefore) throw noSuchCustomer()
  if (customerBefore.erasedAt !== null) return viewOf(customerId, customerBefore.erasedAt)
  const related = await findRelatedRecords(deps, { customerId, shopId: shop.id }, { emails: [customerBefore.email], cartIds: [] })
  const table = await loadProvinceTable()
  const entry = { action: 'customer.erased', subject: customerId }
  const at = await audited(deps, withLocks(deps, by), entry, async (tx, setDifference) => {
    // In the lock order: carts before orders.
    await store.lockCarts(tx, related.cartIds)
    const customer = await lockCustomer(tx, deps, customerId)
    if (!customer) throw noSuchCustomer()
    if (customer.erasedAt !== null) {
      setDifference({ before: null, after: null })
      return customer.erasedAt
    }
    await joinAllGuestOrders(tx, deps, customer, actor)
    const orders = await store.lockOrders(tx, customerId, shop.id, [])
    const open = await findBlockingRecords(tx, { orders })
    if (open.length > 0) throw new AppError('CONFLICT', blockingText(open), { code: 'open_orders' })
    const now = deps.clock.now()
    const target = { customerId, shopId: shop.id, ...related, orders, now, provinces: table }
    await overwriteTables(tx, deps, target)
    await store.insert(tx, await erasureOf(tx, target, related))
    await enqueueMessage(tx, deps, {
      shopId: shop.id,
      event: 'customer.erased',
      key: `customer.erased:${customerId}`,
      data: { customerId },
    })
    setDifference({ after: { orders: orders.length } })
    return now
  })
  const erasure = await store.find(deps.db.read, customerId)
  if (erasure) {
    await appendToList(deps, [erasure])
    await sweep(deps, erasure)
  }
  return viewOf(customerId, at)
}

/**
 * Repeats an erasure in a restored older database, even with open orders. The customer may be unknown in it: a guest
 * gets an account only to be erased. Then the listed orders lead to address and carts.
 */
export async function repeatErasure(deps: ErasureDeps, { customerId, shopId, at, orderIds }: ListedErasure): Promise<void> {
  const customerBefore = await findCustomerById(deps, shopId, customerId)
  const placed = await store.placedFrom(deps.db.read, shopId, orderIds)
  const asGuest = placed.filter((order) => order.customerId === null).map(({ email }) => normalEmail(email))
  const emails = [...new Set([...(customerBefore ? [customerBefore.email] : []), ...asGuest])].filter((email) => !isErasedEmail(email))
  const related = await findRelatedRecords(deps, { customerId, shopId }, { emails, cartIds: placed.map(({ cartId }) => cartId) })
  const table = await loadProvinceTable()
  await deps.db.write(async (tx) => {
    await store.lockCarts(tx, related.cartIds)
    const customer = await lockCustomer(tx, deps, customerId)
    if (customer?.shopId === shopId) await joinAllGuestOrders(tx, deps, customer, system)
    const orders = await store.lockOrders(tx, customerId, shopId, orderIds)
    const target = { customerId, shopId, ...related, orders, now: deps.clock.now(), provinces: table }
    await overwriteTables(tx, deps, target)
    const erasure = await erasureOf(tx, target, related)
    await store.insert(tx, { ...erasure, at, orderIds: [...new Set([...orderIds, ...erasure.orderIds])] })
    await audit(tx, deps, {
      actor: system,
      action: 'customer.erased_again',
      subject: customerId,
      shopId,
      after: { orders: orders.length },
    })
  }, locking)
  const erasure = await store.find(deps.db.read, customerId)
  if (erasure) await sweep(deps, erasure)
}

/** `moreIds`: ids of other records that mails and responses mention, such as addresses and drafts. */
type RelatedRecords = { cartIds: string[]; mailIds: string[]; moreIds: string[] }

/**
 * Finds records without an index, or sealed ones, before the write, so that the write is short.
 * @param identifiers normalised e-mail addresses, and carts that nothing else identifies
 */
async function findRelatedRecords(
  deps: ErasureDeps,
  { customerId, shopId }: Pick<ListedErasure, 'customerId' | 'shopId'>,
  identifiers: { emails: readonly string[]; cartIds: readonly string[] },
): Promise<RelatedRecords> {
  const { read } = deps.db
  const [ownCartIds, addressIds] = await Promise.all([store.cartsOf(read, customerId), store.addressesOf(read, customerId)])
  const found = new Set([...ownCartIds, ...identifiers.cartIds])
  const reader = deps.db.backgroundReader()
  try {
    for (const email of identifiers.emails) for (const id of await store.guestCarts(reader, shopId, email)) found.add(id)
  } finally {
    reader.close()
  }
  const cartIds = [...found]
  const moreIds = [...addressIds, ...(await store.linkedTo(read, cartIds))]
  if (identifiers.emails.length === 0) return { cartIds, moreIds, mailIds: [] }
  const isTo = (content: string) => identifiers.emails.includes(normalEmail((JSON.parse(content) as { to: string }).to))
  return { cartIds, moreIds, mailIds: await findPendingMailsAbout(deps, shopId, isTo) }
}

/** Overwrites all tables, one after the other. */
async function overwriteTables(tx: Writer, deps: ErasureDeps, target: ErasureTarget): Promise<void> {
  const { customerId } = target
  const customer = await lockCustomer(tx, deps, customerId)
  if (customer && customer.passwordHash !== null) await recordErasure(tx, { id: customerId, role: 'CUSTOMER', at: customer.createdAt })
  for (const erase of Object.values(erasers)) await erase(tx, target)
  for (const { id } of target.orders) {
    deps.orderChanged(tx, id)
    await reindexOrder(tx, deps, id)
  }
  await reindexCustomer(tx, deps, customerId)
}

const erasureOf = async (
  tx: Writer,
  { customerId, shopId, now, orders }: ErasureTarget,
  { cartIds, moreIds }: RelatedRecords,
): Promise<Erasure> => ({
  customerId,
  shopId,
  at: now,
  orderIds: orders.map(({ id }) => id),
  // Not empty until the second sweep.
  otherIds: [
    customerId,
    ...cartIds,
    ...moreIds,
    // Answers about a session before its order name neither.
    ...(await store.linkedTo(
      tx,
      orders.map(({ cartId }) => cartId),
    )),
  ],
  finishedAt: null,
  listedAt: null,
})

const idPattern = /\b[a-z]{2,5}_[0-9a-z]{26}\b/g

/**
 * Erases what the erasure could not see because it was sealed or in progress in another request: stored responses,
 * mails, new carts and orders. Open orders keep their data until they are finished.
 * @returns whether nothing is left
 */
async function sweep(deps: ErasureDeps, { customerId, shopId, orderIds, otherIds }: Erasure): Promise<boolean> {
  const ids = new Set([customerId, ...orderIds, ...otherIds])
  const isAbout = (text: string) => text.match(idPattern)?.some((id) => ids.has(id)) === true
  const mailIds = await findPendingMailsAbout(deps, shopId, isAbout)
  const cartIds = await store.cartsOf(deps.db.read, customerId)
  const table = await loadProvinceTable()
  const isClean = await deps.db.write(async (tx) => {
    await store.lockCarts(tx, cartIds)
    await lockCustomer(tx, deps, customerId)
    const all = await store.lockOrders(tx, customerId, shopId, [])
    const uncleanOrders = all.filter(({ email }) => email !== erasedEmail(customerId))
    for (const { id } of uncleanOrders) ids.add(id)
    const orders: typeof uncleanOrders = []
    for (const order of uncleanOrders) if ((await findBlockingRecords(tx, { orders: [order] })).length === 0) orders.push(order)
    await overwriteTables(tx, deps, { customerId, shopId, cartIds, mailIds, orders, now: deps.clock.now(), provinces: table })
    return orders.length === uncleanOrders.length
  }, locking)
  await eraseAnswers(deps, shopId, isAbout)
  return isClean
}

const sweepsPerRun = 20
/** A process spends at most 1/100 of its time on rewriting the search indexes. */
const purgeShare = 100

/**
 * Sweeps recent erasures a second time, and continues those that a crash interrupted. One with an open order waits
 * without delaying others.
 */
export async function finishErasures(deps: ErasureDeps): Promise<void> {
  const { db, clock, wordsPurged } = deps
  const clean: string[] = []
  let swept = 0
  let last: Erasure | undefined
  do {
    const found = await store.unfinished(db.read, 'finishedAt', sweepsPerRun, last)
    for (const erasure of found) {
      if (erasure.at + sweepAgainAfterMs > clock.now() || swept === sweepsPerRun) continue
      const { customerId } = erasure
      let state = await sweepStateOf(deps, erasure)
      if (state === 'due') {
        swept++
        state = (await sweep(deps, erasure)) ? 'clean' : 'waits'
        await db.write((tx) => store.change(tx, customerId, { otherIds: [] }), locking)
      }
      if (state === 'clean') clean.push(customerId)
    }
    last = found[sweepsPerRun - 1]
  } while (last && swept < sweepsPerRun)
  if (clean.length === 0 || clock.monotonic() < wordsPurged.nextAt) return
  await purgeWords(deps)
  const finishedAt = clock.now()
  for (const customerId of clean) await db.write((tx) => store.change(tx, customerId, { finishedAt }), locking)
}

/** Returns whether an erasure needs a sweep, waits for open orders, or is clean. */
async function sweepStateOf({ db }: ErasureDeps, erasure: Erasure): Promise<'due' | 'waits' | 'clean'> {
  if (erasure.otherIds.length > 0) return 'due'
  const uncleanOrders = await store.uncleanOrders(db.read, erasure)
  for (const order of uncleanOrders) if ((await findBlockingRecords(db.read, { orders: [order] })).length === 0) return 'due'
  return uncleanOrders.length > 0 ? 'waits' : 'clean'
}

/** Rewrites the search indexes, which still contain erased words, in small writes. */
async function purgeWords({ db, clock, wordsPurged }: ErasureDeps): Promise<void> {
  const startedAt = clock.monotonic()
  for (const subject of ['orders', 'customers'] as const) {
    let isMore = await db.write((tx) => store.purge(tx, subject, true), locking)
    while (isMore) isMore = await db.write((tx) => store.purge(tx, subject, false), locking)
  }
  const now = clock.monotonic()
  wordsPurged.nextAt = now + (now - startedAt) * purgeShare
}
