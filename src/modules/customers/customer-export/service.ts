import type { Change } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { auditView } from '../../operations/audit/domain.ts'
import { audited } from '../../operations/audit/index.ts'
import { giftCardView } from '../../selling/gift-card/domain.ts'
import { type OrderDeps, readOrder } from '../../selling/order/index.ts'
import { addressView } from '../customer/domain.ts'
import { customerWithId, readCustomer } from '../customer/index.ts'
import { exportStore as store } from './store.ts'

const rowsAtOnce = 200
/** Orders are shown with all that hangs on them. */
const ordersAtOnce = 20

type Shop = Pick<ShopContext, 'id' | 'currency' | 'mode'>
type Whose = { readonly customerId: string; readonly shopId: string; readonly email: string }
type Cart = Awaited<ReturnType<typeof store.cartsById>>[number]

/**
 * All that is kept of a customer, as the pieces of one JSON text. That it was asked for is on record, in a commit of its own, before the first
 * piece is made. It is read while it is sent, a little at a time: a change made meanwhile may be in one part of it and not in another.
 * @throws AppError NOT_FOUND, also for another shop's
 */
export async function exportCustomer(deps: OrderDeps, by: Change<Shop>, customerId: string): Promise<AsyncGenerator<string>> {
  const { shop } = by
  const customer = await customerWithId(deps, shop.id, customerId)
  if (!customer) throw new AppError('NOT_FOUND', 'No such customer')
  await audited(deps, by, { action: 'customer.exported', subject: customerId }, async () => undefined)
  return jsonOf(deps, shop, { customerId, shopId: shop.id, email: customer.email })
}

async function* jsonOf(deps: OrderDeps, shop: Shop, whose: Whose): AsyncGenerator<string> {
  const { read } = deps.db
  const ids: string[] = []
  const draftMails: string[] = []
  const ordersOf = (idsIn: typeof store.orderIds) =>
    pages(ordersAtOnce, async (page) => {
      const found = await idsIn(read, whose, page)
      ids.push(...found.map(({ id }) => id))
      return Promise.all(found.map(({ id }) => readOrder(deps, { shopId: shop.id }, id)))
    })
  const customer = await readCustomer(deps, shop, whose.customerId)
  yield `{"exportedAt":${JSON.stringify(new Date(deps.clock.now()).toISOString())},"customer":${JSON.stringify(customer)}`
  yield* list(
    'addresses',
    mapped(
      pages(rowsAtOnce, (page) => store.addresses(read, whose, page)),
      addressView,
    ),
  )
  yield* list('orders', ordersOf(store.orderIds))
  yield* list('guestOrders', ordersOf(store.guestOrderIds))
  yield* list('carts', cartsOf(deps, whose, draftMails))
  yield* list(
    'giftCards',
    mapped(
      pages(rowsAtOnce, (page) => store.giftCards(read, whose, page)),
      (card) => cardView(card, deps.clock.now()),
    ),
  )
  yield* list(
    'discountsUsed',
    mapped(
      byOrders(ids, (some) => store.discountUses(read, some)),
      useView,
    ),
  )
  yield* list(
    'sessions',
    mapped(
      pages(rowsAtOnce, (page) => store.sessions(read, whose, page)),
      sessionView,
    ),
  )
  yield* list('mails', mapped(mailsOf(deps, ids, draftMails), mailView))
  yield* list('activity', mapped(activityOf(deps, whose), auditView))
  yield '}'
}

/** A list of the JSON text, a piece a page. */
async function* list(name: string, rows: AsyncGenerator<readonly unknown[]>): AsyncGenerator<string> {
  yield `,${JSON.stringify(name)}:[`
  let isFirst = true
  for await (const some of rows) {
    if (some.length === 0) continue
    yield `${isFirst ? '' : ','}${some.map((row) => JSON.stringify(row)).join(',')}`
    isFirst = false
  }
  yield ']'
}

/** Rows by their ids, page after page. */
async function* pages<Row extends { id: string }>(
  limit: number,
  next: (page: { after: string; limit: number }) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  let after: string | undefined = ''
  while (after !== undefined) {
    const rows: Row[] = await next({ after, limit })
    yield rows
    after = rows[limit - 1]?.id
  }
}

async function* mapped<Row, Shown>(rows: AsyncGenerator<readonly Row[]>, view: (row: Row) => Shown): AsyncGenerator<Shown[]> {
  for await (const some of rows) yield some.map(view)
}

/** What hangs on orders, a few of them at a time. */
async function* byOrders<Row>(ids: readonly string[], next: (some: readonly string[]) => Promise<Row[]>): AsyncGenerator<Row[]> {
  for (let from = 0; from < ids.length; from += rowsAtOnce) yield await next(ids.slice(from, from + rowsAtOnce))
}

async function* mailsOf({ db: { read } }: OrderDeps, orderIds: readonly string[], draftMails: readonly string[]) {
  yield* byOrders(orderIds, async (some) => store.mails(read, await store.mailKeys(read, some)))
  yield* byOrders(draftMails, (some) => store.mails(read, some))
}

/** @param draftMails takes what the mails of drafts among them are named by */
async function* cartsOf({ db }: OrderDeps, whose: Whose, draftMails: string[]): AsyncGenerator<unknown[]> {
  const shown = async (some: readonly Cart[]) => {
    if (some.length === 0) return []
    const ids = some.map(({ id }) => id)
    const [lines, drafts] = await Promise.all([store.lines(db.read, ids), store.draftsOf(db.read, ids)])
    for (const { id, sends } of drafts) for (let nth = 1; nth <= sends; nth++) draftMails.push(`order-draft:${id}:${nth}`)
    return some.map((cart) => cartView(cart, lines, drafts))
  }
  for await (const some of pages(rowsAtOnce, (page) => store.carts(db.read, whose, page))) yield await shown(some)
  const ids = await guestCartIds(db, whose)
  for (let from = 0; from < ids.length; from += rowsAtOnce)
    yield await shown(await store.cartsById(db.read, ids.slice(from, from + rowsAtOnce)))
}

/** The thread for it has ended when this resolves: whoever reads an export slowly holds none. */
async function guestCartIds(db: OrderDeps['db'], whose: Whose): Promise<string[]> {
  const aside = db.aside()
  try {
    return await store.guestCartIds(aside, whose)
  } finally {
    aside.close()
  }
}

async function* activityOf({ db }: OrderDeps, whose: Whose) {
  for (const by of ['actor', 'subject'] as const) yield* pages(rowsAtOnce, (page) => store.activity(db.read, whose, by, page))
}

type Drafts = Awaited<ReturnType<typeof store.draftsOf>>

const cartView = (cart: Cart, lines: Awaited<ReturnType<typeof store.lines>>, drafts: Drafts) => ({
  ...pick(
    cart,
    'id',
    'status',
    'currency',
    'email',
    'shippingAddress',
    'billingAddress',
    'shippingMethod',
    'affiliateCode',
    'discountCode',
  ),
  lines: lines
    .filter(({ cartId }) => cartId === cart.id)
    .map(({ id, variantId, quantity, unitPrice }) => ({
      id,
      variantId,
      quantity,
      unitPrice: { amount: unitPrice, currency: cart.currency },
    })),
  draft: draftView(drafts.find(({ cartId }) => cartId === cart.id)),
  ...isoTimes(pick(cart, 'expiresAt', 'createdAt', 'updatedAt')),
})

const draftView = (draft: Drafts[number] | undefined) =>
  draft ? { ...pick(draft, 'id', 'note', 'sends'), ...isoTimes(pick(draft, 'sentAt', 'createdAt', 'updatedAt')) } : null

/** What `If-Match` goes by is a header elsewhere. */
function cardView(card: Parameters<typeof giftCardView>[0], now: number) {
  const { version: _, ...shown } = giftCardView(card, now)
  return shown
}

const sessionView = (session: Awaited<ReturnType<typeof store.sessions>>[number]) => ({
  ...pick(session, 'id', 'address', 'agent'),
  ...isoTimes(pick(session, 'createdAt', 'lastUsedAt', 'expiresAt', 'revokedAt')),
})

const useView = ({ discountId, orderId, mode, at }: Awaited<ReturnType<typeof store.discountUses>>[number]) => ({
  ...{ discountId, orderId, mode },
  ...isoTimes({ at }),
})

/** The key names what it told of. */
const mailView = (mail: Awaited<ReturnType<typeof store.mails>>[number]) => ({
  ...pick(mail, 'id', 'template', 'language', 'status'),
  about: mail.key.slice(mail.key.indexOf(':') + 1),
  ...isoTimes(pick(mail, 'createdAt', 'updatedAt')),
})
