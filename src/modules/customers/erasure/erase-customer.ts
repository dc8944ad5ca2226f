import type { Writer } from '../../../../db/engine.ts'
import { type Change, locking, system, withLocks } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { isoTimes } from '../../../lib/objects.ts'
import { normalEmail } from '../../identity/auth/domain.ts'
import { mailsAbout } from '../../messaging/mail/index.ts'
import { enqueueMessage } from '../../messaging/webhook/index.ts'
import { audit, audited } from '../../operations/audit/index.ts'
import { eraseAnswers } from '../../operations/idempotency/index.ts'
import { recordErasure } from '../../operations/kpi/index.ts'
import { reindexOrder } from '../../selling/order/index.ts'
import { provinces } from '../../shop/countries/domain.ts'
import { customerWithId, customerWithin, joinAllWithin, reindexCustomer } from '../customer/index.ts'
import { type Erasure, erasedEmail, isErasedEmail, type Listed, openText, settlesMs } from './domain.ts'
import { listNow } from './erased-list.ts'
import type { ErasureDeps } from './providers.ts'
import { erasureStore as store } from './store.ts'
import { erasers, openOf, type Theirs } from './tables-store.ts'

export type Erased = { customerId: string; erasedAt: string }

const noSuchCustomer = () => new AppError('NOT_FOUND', 'No such customer')
const viewOf = (customerId: string, at: number): Erased => ({ customerId, ...isoTimes({ erasedAt: at }) })

/**
 * Erases the personal data of a customer and of what was bought in the shop as a guest with their e-mail address, in one write; what is sealed
 * elsewhere (kept answers of requests) is looked through behind it. Numbers, amounts, tax and the country stay. A second time changes nothing.
 * @throws AppError NOT_FOUND; CONFLICT, saying which, while an order, a payment, a refund or a dispute of theirs is open
 */
export async function eraseCustomer(deps: ErasureDeps, by: Change<Pick<ShopContext, 'id'>>, customerId: string): Promise<Erased> {
  const { shop, actor } = by
  const known = await customerWithId(deps, shop.id, customerId)
  if (!known) throw noSuchCustomer()
  if (known.erasedAt !== null) return viewOf(customerId, known.erasedAt)
  const around = await lookAround(deps, { customerId, shopId: shop.id }, { emails: [known.email], cartIds: [] })
  const table = await provinces()
  const entry = { action: 'customer.erased', subject: customerId }
  const at = await audited(deps, withLocks(deps, by), entry, async (tx, tell) => {
    // In the order in which everybody locks: carts, the customer, orders.
    await store.lockCarts(tx, around.cartIds)
    const customer = await customerWithin(tx, deps, customerId)
    if (!customer) throw noSuchCustomer()
    if (customer.erasedAt !== null) {
      tell({ before: null, after: null })
      return customer.erasedAt
    }
    await joinAllWithin(tx, deps, customer, actor)
    const orders = await store.lockOrders(tx, customerId, shop.id, [])
    const open = await openOf(tx, { orders })
    if (open.length > 0) throw new AppError('CONFLICT', openText(open))
    const now = deps.clock.now()
    const theirs = { customerId, shopId: shop.id, ...around, orders, now, provinces: table }
    await overwrite(tx, deps, theirs)
    await store.insert(tx, erasureOf(theirs, around))
    await enqueueMessage(tx, deps, {
      shopId: shop.id,
      event: 'customer.erased',
      key: `customer.erased:${customerId}`,
      data: { customerId },
    })
    tell({ after: { orders: orders.length } })
    return now
  })
  const erasure = await store.find(deps.db.read, customerId)
  if (erasure) {
    await listNow(deps, [erasure])
    await sweep(deps, erasure)
  }
  return viewOf(customerId, at)
}

/**
 * Erases them again in a database that is older than their erasure, whatever stands open in it. It may not know them yet: somebody who bought as
 * a guest gets an account only to be erased. Then their orders tell of the address, and of the carts that they were.
 */
export async function eraseAgain(deps: ErasureDeps, { customerId, shopId, at, orderIds }: Listed): Promise<void> {
  const known = await customerWithId(deps, shopId, customerId)
  const placed = await store.placedFrom(deps.db.read, shopId, orderIds)
  const asGuest = placed.filter((order) => order.customerId === null).map(({ email }) => normalEmail(email))
  const emails = [...new Set([...(known ? [known.email] : []), ...asGuest])].filter((email) => !isErasedEmail(email))
  const around = await lookAround(deps, { customerId, shopId }, { emails, cartIds: placed.map(({ cartId }) => cartId) })
  const table = await provinces()
  await deps.db.write(async (tx) => {
    await store.lockCarts(tx, around.cartIds)
    const customer = await customerWithin(tx, deps, customerId)
    if (customer?.shopId === shopId) await joinAllWithin(tx, deps, customer, system)
    const orders = await store.lockOrders(tx, customerId, shopId, orderIds)
    const theirs = { customerId, shopId, ...around, orders, now: deps.clock.now(), provinces: table }
    await overwrite(tx, deps, theirs)
    const erasure = erasureOf(theirs, around)
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

/** `moreIds`: of what else is theirs, and named by mails and answers: addresses, drafts. */
type Around = { cartIds: string[]; mailIds: string[]; moreIds: string[] }

/**
 * What is theirs and no index leads to, or what is sealed: looked for before the write, which then has only what it needs to lock.
 * @param known their addresses, in their one spelling, and carts of theirs that have no other sign of whose they are
 */
async function lookAround(
  deps: ErasureDeps,
  { customerId, shopId }: Pick<Listed, 'customerId' | 'shopId'>,
  known: { emails: readonly string[]; cartIds: readonly string[] },
): Promise<Around> {
  const { read } = deps.db
  const [own, addressIds] = await Promise.all([store.cartsOf(read, customerId), store.addressesOf(read, customerId)])
  const found = new Set([...own, ...known.cartIds])
  const aside = deps.db.aside()
  try {
    for (const email of known.emails) for (const id of await store.guestCarts(aside, shopId, email)) found.add(id)
  } finally {
    aside.close()
  }
  const cartIds = [...found]
  const moreIds = [...addressIds, ...(await store.draftsOf(read, cartIds))]
  if (known.emails.length === 0) return { cartIds, moreIds, mailIds: [] }
  const isTo = (content: string) => known.emails.includes(normalEmail((JSON.parse(content) as { to: string }).to))
  return { cartIds, moreIds, mailIds: await mailsAbout(deps, shopId, isTo) }
}

/** The write itself: every table, one after the other. */
async function overwrite(tx: Writer, deps: ErasureDeps, theirs: Theirs): Promise<void> {
  const { customerId } = theirs
  const customer = await customerWithin(tx, deps, customerId)
  if (customer && customer.passwordHash !== null) await recordErasure(tx, { id: customerId, role: 'CUSTOMER', at: customer.createdAt })
  for (const erase of Object.values(erasers)) await erase(tx, theirs)
  for (const { id } of theirs.orders) {
    deps.orderChanged(tx, id)
    await reindexOrder(tx, deps, id)
  }
  await reindexCustomer(tx, deps, customerId)
}

const erasureOf = ({ customerId, shopId, now, orders }: Theirs, { cartIds, moreIds }: Around): Erasure => ({
  customerId,
  shopId,
  at: now,
  orderIds: orders.map(({ id }) => id),
  // Never empty before the second look.
  otherIds: [customerId, ...cartIds, ...moreIds],
  finishedAt: null,
  listedAt: null,
})

const idPattern = /\b[a-z]{2,5}_[0-9a-z]{26}\b/g

/**
 * Looks for what an erasure could not see, because it was under way in another request or is sealed: kept answers, mails, a cart or an order that
 * was just being made. An order among these that is open keeps its own until it is not.
 * @returns whether nothing is left
 */
async function sweep(deps: ErasureDeps, { customerId, shopId, orderIds, otherIds }: Erasure): Promise<boolean> {
  const ids = new Set([customerId, ...orderIds, ...otherIds])
  const isAbout = (text: string) => text.match(idPattern)?.some((id) => ids.has(id)) === true
  const mailIds = await mailsAbout(deps, shopId, isAbout)
  const cartIds = await store.cartsOf(deps.db.read, customerId)
  const table = await provinces()
  const isClean = await deps.db.write(async (tx) => {
    await store.lockCarts(tx, cartIds)
    await customerWithin(tx, deps, customerId)
    const all = await store.lockOrders(tx, customerId, shopId, [])
    const strays = all.filter(({ email }) => email !== erasedEmail(customerId))
    for (const { id } of strays) ids.add(id)
    const orders: typeof strays = []
    for (const order of strays) if ((await openOf(tx, { orders: [order] })).length === 0) orders.push(order)
    await overwrite(tx, deps, { customerId, shopId, cartIds, mailIds, orders, now: deps.clock.now(), provinces: table })
    return orders.length === strays.length
  }, locking)
  await eraseAnswers(deps, shopId, isAbout)
  return isClean
}

const finishedAtOnce = 20
/** An index of words is rewritten whole: of the time of a process, no more than one part in so many. */
const purgeShare = 100

/**
 * Looks at erasures once more that were made a while ago, and goes on with what a crash left of one. One of which an order is still open waits for
 * that, and holds up no other.
 */
export async function finishErasures(deps: ErasureDeps): Promise<void> {
  const { db, clock, wordsPurged } = deps
  const clean: string[] = []
  let swept = 0
  let last: Erasure | undefined
  do {
    const found = await store.unfinished(db.read, 'finishedAt', finishedAtOnce, last)
    for (const erasure of found) {
      if (erasure.at + settlesMs > clock.now() || swept === finishedAtOnce) continue
      const { customerId } = erasure
      let standing = await standingOf(deps, erasure)
      if (standing === 'to be looked at') {
        swept++
        standing = (await sweep(deps, erasure)) ? 'clean' : 'waits'
        await db.write((tx) => store.change(tx, customerId, { otherIds: [] }), locking)
      }
      if (standing === 'clean') clean.push(customerId)
    }
    last = found[finishedAtOnce - 1]
  } while (last && swept < finishedAtOnce)
  if (clean.length === 0 || clock.monotonic() < wordsPurged.nextAt) return
  await purgeWords(deps)
  const finishedAt = clock.now()
  for (const customerId of clean) await db.write((tx) => store.change(tx, customerId, { finishedAt }), locking)
}

/** Whether the second look was had, and what it left to wait for: orders of theirs that were being placed in that moment, and are open. */
async function standingOf({ db }: ErasureDeps, erasure: Erasure): Promise<'to be looked at' | 'waits' | 'clean'> {
  if (erasure.otherIds.length > 0) return 'to be looked at'
  const strays = await store.straysOf(db.read, erasure)
  for (const order of strays) if ((await openOf(db.read, { orders: [order] })).length === 0) return 'to be looked at'
  return strays.length > 0 ? 'waits' : 'clean'
}

/** What they were found by stands in the indexes until these are rewritten: in pieces, between which others write. */
async function purgeWords({ db, clock, wordsPurged }: ErasureDeps): Promise<void> {
  const begun = clock.monotonic()
  for (const subject of ['orders', 'customers'] as const) {
    let isMore = await db.write((tx) => store.purge(tx, subject, true), locking)
    while (isMore) isMore = await db.write((tx) => store.purge(tx, subject, false), locking)
  }
  const now = clock.monotonic()
  wordsPurged.nextAt = now + (now - begun) * purgeShare
}
