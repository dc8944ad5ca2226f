import type { Writer } from '../../../db/engine.ts'
import { type Change, locking, system } from '../../core/change.ts'
import { AppError } from '../../core/errors.ts'
import type { ShopContext } from '../../core/principal.ts'
import { isoTimes } from '../../lib/records.ts'
import { audit, audited } from '../audit/index.ts'
import { provinces } from '../countries/domain.ts'
import { customerWithId, customerWithin, joinAllWithin, reindexCustomer } from '../customer/index.ts'
import { eraseAnswers } from '../idempotency/index.ts'
import { noteErasure } from '../kpi/index.ts'
import { mailsAbout } from '../mail/index.ts'
import { reindexOrder } from '../order/index.ts'
import { enqueueMessage } from '../webhook/index.ts'
import { type Erasure, erasedEmail, type Listed, openText, settlesMs } from './domain.ts'
import { listNow } from './keeping.ts'
import type { ErasureDeps } from './parts.ts'
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
  const around = await lookAround(deps, { customerId, shopId: shop.id }, known.email)
  const table = await provinces()
  const write: typeof deps.db.write = (work) => deps.db.write(work, locking)
  const entry = { action: 'customer.erased', subject: customerId }
  const at = await audited(deps, { actor, shop, write }, entry, async (tx, tell) => {
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

/** Erases them again in a database that is older than their erasure, whatever stands open in it; whether there was anything of theirs. */
export async function eraseAgain(deps: ErasureDeps, { customerId, shopId, at, orderIds }: Listed): Promise<void> {
  const known = await customerWithId(deps, shopId, customerId)
  const around = await lookAround(deps, { customerId, shopId }, known?.email)
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

type Around = { cartIds: string[]; mailIds: string[]; addressIds: string[] }

/** What is theirs and no index leads to, or what is sealed: looked for before the write, which then has only what it needs to lock. */
async function lookAround(
  deps: ErasureDeps,
  { customerId, shopId }: Pick<Listed, 'customerId' | 'shopId'>,
  email: string | undefined,
): Promise<Around> {
  const [own, addressIds] = await Promise.all([store.cartsOf(deps.db.read, customerId), store.addressesOf(deps.db.read, customerId)])
  if (email === undefined) return { cartIds: own, addressIds, mailIds: [] }
  const aside = deps.db.aside()
  try {
    const asGuest = await store.guestCarts(aside, shopId, email)
    const isTo = (content: string) => (JSON.parse(content) as { to: string }).to.toLowerCase() === email
    return { cartIds: [...own, ...asGuest], addressIds, mailIds: await mailsAbout(deps, shopId, isTo) }
  } finally {
    aside.close()
  }
}

/** The write itself: every table, one after the other. */
async function overwrite(tx: Writer, deps: ErasureDeps, theirs: Theirs): Promise<void> {
  const { customerId: id } = theirs
  const customer = await customerWithin(tx, deps, id)
  if (customer && customer.passwordHash !== null) await noteErasure(tx, { id, role: 'CUSTOMER', at: customer.createdAt })
  for (const erase of Object.values(erasers)) await erase(tx, theirs)
  for (const { id } of theirs.orders) {
    deps.orderChanged(tx, id)
    await reindexOrder(tx, deps, id)
  }
  await reindexCustomer(tx, deps, theirs.customerId)
}

const erasureOf = ({ customerId, shopId, now, orders }: Theirs, { cartIds, addressIds }: Around): Erasure => ({
  customerId,
  shopId,
  at: now,
  orderIds: orders.map(({ id }) => id),
  otherIds: [...cartIds, ...addressIds],
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
    const orders: typeof strays = []
    for (const order of strays) if ((await openOf(tx, { orders: [order] })).length === 0) orders.push(order)
    await overwrite(tx, deps, { customerId, shopId, cartIds, mailIds, orders, now: deps.clock.now(), provinces: table })
    return orders.length === strays.length
  }, locking)
  await eraseAnswers(deps, shopId, isAbout)
  return isClean
}

const finishedAtOnce = 20

/** Looks at erasures once more that were made a while ago, and goes on with what a crash left of one. */
export async function finishErasures(deps: ErasureDeps): Promise<void> {
  const found = await store.unfinished(deps.db.read, 'finishedAt', finishedAtOnce)
  const now = deps.clock.now()
  const clean: Erasure[] = []
  for (const erasure of found) if (erasure.at + settlesMs <= now && (await sweep(deps, erasure))) clean.push(erasure)
  if (clean.length === 0) return
  await sweepWords(deps)
  for (const { customerId } of clean) await deps.db.write((tx) => store.change(tx, customerId, { finishedAt: now, otherIds: [] }), locking)
}

/** Others write in between. */
async function sweepWords({ db }: Pick<ErasureDeps, 'db'>): Promise<void> {
  for (const words of store.words) for (let isFirst = true; await db.write((tx) => words.sweep(tx, isFirst), locking); ) isFirst = false
}
