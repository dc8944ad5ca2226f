import type { CommandContext } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { auditView } from '../../operations/audit/domain.ts'
import { audited } from '../../operations/audit/index.ts'
import { giftCardView } from '../../selling/gift-card/domain.ts'
import { type OrderDeps, readOrder, withoutTags } from '../../selling/order/index.ts'
import { addressView } from '../customer/domain.ts'
import { findCustomerById, readOwnCustomer } from '../customer/index.ts'
import { exportStore as store } from './store.ts'

const rowsPerPage = 200
/** Smaller, because orders are read with all their details. */
const ordersPerPage = 20

type Shop = Pick<ShopContext, 'id' | 'currency' | 'mode'>
type ExportedPerson = { readonly customerId: string; readonly shopId: string; readonly email: string }
type Cart = Awaited<ReturnType<typeof store.cartsById>>[number]

/**
 * Exports all data of a customer as pieces of one JSON text. The request is audited in its own commit before the first
 * piece.
 * Data is read while it is sent, so a change meanwhile may be in one part and not in another.
 * @throws AppError NOT_FOUND, also for another shop's
 */
export async function exportCustomer(deps: OrderDeps, by: CommandContext<Shop>, customerId: string): Promise<AsyncGenerator<string>> {
  const { shop } = by
  const customer = await findCustomerById(deps, shop.id, customerId)
  if (!customer) throw new AppError('NOT_FOUND', 'No such customer')
  await audited(deps, by, { action: 'customer.exported', subject: customerId }, async () => undefined)
  return exportJson(deps, shop, { customerId, shopId: shop.id, email: customer.email })
}

async function* exportJson(deps: OrderDeps, shop: Shop, person: ExportedPerson): AsyncGenerator<string> {
  const { read } = deps.db
  const ids: string[] = []
  const draftMails: string[] = []
  const ordersOf = (idsIn: typeof store.orderIds) =>
    pages(ordersPerPage, async (page) => {
      const found = await idsIn(read, person, page)
      ids.push(...found.map(({ id }) => id))
      return Promise.all(found.map(({ id }) => exportedOrder(deps, shop.id, id)))
    })
  const customer = await readOwnCustomer(deps, shop, person.customerId)
  yield `{"exportedAt":${JSON.stringify(new Date(deps.clock.now()).toISOString())},"customer":${JSON.stringify(customer)}`
  yield* jsonList(
    'addresses',
    mapPages(
      pages(rowsPerPage, (page) => store.addresses(read, person, page)),
      addressView,
    ),
  )
  yield* jsonList('orders', ordersOf(store.orderIds))
  yield* jsonList('guestOrders', ordersOf(store.guestOrderIds))
  yield* jsonList('carts', cartsOf(deps, person, draftMails))
  yield* jsonList(
    'giftCards',
    mapPages(
      pages(rowsPerPage, (page) => store.giftCards(read, person, page)),
      (card) => cardView(card, deps.clock.now()),
    ),
  )
  yield* jsonList(
    'discountsUsed',
    mapPages(
      pagesByOrders(ids, (chunk) => store.discountUses(read, chunk)),
      discountUseView,
    ),
  )
  yield* jsonList(
    'sessions',
    mapPages(
      pages(rowsPerPage, (page) => store.sessions(read, person, page)),
      sessionView,
    ),
  )
  yield* jsonList('mails', mapPages(mailsOf(deps, ids, draftMails), mailView))
  yield* jsonList('activity', mapPages(activityOf(deps, person), auditView))
  yield '}'
}

/** An order without the staff's tags, which are no data of the customer's. */
async function exportedOrder(deps: OrderDeps, shopId: string, id: string) {
  const { version: _, ...order } = await readOrder(deps, { shopId }, id)
  return withoutTags(order)
}

/** Yields a JSON list, one piece per page. */
async function* jsonList(name: string, pages: AsyncGenerator<readonly unknown[]>): AsyncGenerator<string> {
  yield `,${JSON.stringify(name)}:[`
  let isFirst = true
  for await (const rows of pages) {
    if (rows.length === 0) continue
    yield `${isFirst ? '' : ','}${rows.map((row) => JSON.stringify(row)).join(',')}`
    isFirst = false
  }
  yield ']'
}

/** Yields pages of rows by id. */
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

async function* mapPages<Row, View>(pages: AsyncGenerator<readonly Row[]>, view: (row: Row) => View): AsyncGenerator<View[]> {
  for await (const rows of pages) yield rows.map(view)
}

/** Yields rows that belong to orders, some orders at a time. */
async function* pagesByOrders<Row>(ids: readonly string[], next: (chunk: readonly string[]) => Promise<Row[]>): AsyncGenerator<Row[]> {
  for (let from = 0; from < ids.length; from += rowsPerPage) yield await next(ids.slice(from, from + rowsPerPage))
}

async function* mailsOf({ db: { read } }: OrderDeps, orderIds: readonly string[], draftMails: readonly string[]) {
  yield* pagesByOrders(orderIds, async (chunk) => store.mails(read, await store.mailKeys(read, chunk)))
  yield* pagesByOrders(draftMails, (chunk) => store.mails(read, chunk))
}

/** @param draftMails receives the keys of the mails about drafts */
async function* cartsOf({ db }: OrderDeps, person: ExportedPerson, draftMails: string[]): AsyncGenerator<unknown[]> {
  const renderCarts = async (rows: readonly Cart[]) => {
    if (rows.length === 0) return []
    const ids = rows.map(({ id }) => id)
    const [lines, drafts] = await Promise.all([store.lines(db.read, ids), store.draftsOf(db.read, ids)])
    for (const { id, sends } of drafts) for (let nth = 1; nth <= sends; nth++) draftMails.push(`order-draft:${id}:${nth}`)
    return rows.map((cart) => cartView(cart, lines, drafts))
  }
  for await (const rows of pages(rowsPerPage, (page) => store.carts(db.read, person, page))) yield await renderCarts(rows)
  const ids = await guestCartIds(db, person)
  for (let from = 0; from < ids.length; from += rowsPerPage)
    yield await renderCarts(await store.cartsById(db.read, ids.slice(from, from + rowsPerPage)))
}

/** Closes the reader before the rows are sent, so that a slow client does not hold one. */
async function guestCartIds(db: OrderDeps['db'], person: ExportedPerson): Promise<string[]> {
  const backgroundReader = db.backgroundReader()
  try {
    return await store.guestCartIds(backgroundReader, person)
  } finally {
    backgroundReader.close()
  }
}

async function* activityOf({ db }: OrderDeps, person: ExportedPerson) {
  for (const by of ['actor', 'subject'] as const) yield* pages(rowsPerPage, (page) => store.activity(db.read, person, by, page))
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
    'giftCardRecipient',
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

/** The version is only for `If-Match`. */
function cardView(card: Parameters<typeof giftCardView>[0], now: number) {
  const { version: _, ...view } = giftCardView(card, now)
  return view
}

const sessionView = (session: Awaited<ReturnType<typeof store.sessions>>[number]) => ({
  ...pick(session, 'id', 'address', 'agent'),
  ...isoTimes(pick(session, 'createdAt', 'lastUsedAt', 'expiresAt', 'revokedAt')),
})

const discountUseView = ({ discountId, orderId, mode, at }: Awaited<ReturnType<typeof store.discountUses>>[number]) => ({
  ...{ discountId, orderId, mode },
  ...isoTimes({ at }),
})

/** The key names the mail's subject. */
const mailView = (mail: Awaited<ReturnType<typeof store.mails>>[number]) => ({
  ...pick(mail, 'id', 'template', 'language', 'status'),
  about: mail.key.slice(mail.key.indexOf(':') + 1),
  ...isoTimes(pick(mail, 'createdAt', 'updatedAt')),
})
