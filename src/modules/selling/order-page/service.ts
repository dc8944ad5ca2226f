import type { Write } from '../../../core/command-context.ts'
import type { Deps as BaseDeps } from '../../../core/deps.ts'
import { AppError } from '../../../core/errors.ts'
import { pick } from '../../../lib/objects.ts'
import { type MailDeps, readAppearance, type WebPage, webPage } from '../../messaging/mail/index.ts'
import { readShop } from '../../shop/shop/index.ts'
import { type FullOrder, readFullOrder } from '../order/index.ts'
import { type PublicReturn, type ReturnLine, reasonMax } from '../order-return/domain.ts'
import { publicReturns, type ReturnDeps, requestReturn } from '../order-return/index.ts'
import { orderHtml, receiptHtml, type Seller } from './html-pages.ts'
import { type PublicOrder, publicOrderView } from './public-order.ts'

type Deps = ReturnDeps & MailDeps & Pick<BaseDeps, 'randomBytes'>
/** Random bytes of the idempotency key in a form. */
const keyBytes = 16

const noSuchOrder = () => new AppError('NOT_FOUND', 'No such order')

async function findLinkedOrder(deps: Deps, token: string): Promise<{ whole: FullOrder; publicUrl: string }> {
  const links = await deps.orderLinks.ready()
  const orderId = links.orderIdOf(token)
  const fullOrder = orderId === undefined ? undefined : await readFullOrder(deps, orderId)
  if (!fullOrder) throw noSuchOrder()
  return { whole: fullOrder, publicUrl: links.urlOf(fullOrder.order.id) }
}

async function loadPublicOrder(deps: Deps, token: string): Promise<{ order: PublicOrder; seller: Seller; shopId: string }> {
  const { whole, publicUrl } = await findLinkedOrder(deps, token)
  const { shopId } = whole.order
  const { name, title, logoUrl, address, contact, timeZone } = await readShop(deps, shopId)
  const ofReturns = await publicReturns(deps, whole)
  return {
    order: publicOrderView(whole, { publicUrl, shop: { name, title, logoUrl }, ...ofReturns }),
    seller: { title, address, contact, timeZone },
    shopId,
  }
}

/**
 * Finds the order of a link.
 * @throws AppError NOT_FOUND for every invalid token
 */
export const orderByLink = async (deps: Deps, token: string): Promise<PublicOrder> => (await loadPublicOrder(deps, token)).order

/**
 * Renders the page of a link.
 * @param refused whether it follows a return request that was refused
 * @throws AppError NOT_FOUND
 */
export async function orderPage(deps: Deps, token: string, refused = false): Promise<WebPage> {
  const { order, seller, shopId } = await loadPublicOrder(deps, token)
  const { look } = await readAppearance(deps, shopId)
  const form = { action: `../../../pages/returns/${token}`, key: Buffer.from(deps.randomBytes(keyBytes)).toString('base64url'), refused }
  const body = orderHtml(order, seller, look.words, form)
  return webPage(look, { title: look.words.say.orderTitle(order.number), body, posts: order.returnable.length > 0 })
}

/** The shopper as an actor, who is known by the order's link only. */
const shopper = { id: 'shopper' }

/**
 * Requests a return for the holder of a link.
 * @throws AppError as `requestReturn`
 */
export async function requestReturnByLink(deps: Deps, token: string, lines: readonly ReturnLine[], write: Write): Promise<PublicReturn> {
  const { order } = (await findLinkedOrder(deps, token)).whole
  const made = await requestReturn(deps, { shopId: order.shopId, orderId: order.id }, { by: 'SHOPPER', actor: shopper, write }, lines)
  return { ...pick(made, 'id', 'status', 'createdAt', 'updatedAt'), lines: made.lines.map((line) => pick(line, 'lineId', 'quantity')) }
}

/**
 * Handles the form of the page: a quantity for each line, and one reason.
 * @param once runs work once for the key of the form
 * @returns the page with a notice if the request is refused; undefined to reload the page
 * @throws AppError NOT_FOUND
 */
export async function requestReturnByForm(
  deps: Deps,
  token: string,
  fields: ReadonlyMap<string, string>,
  once: (key: string, work: (write: Write) => Promise<unknown>) => Promise<unknown>,
): Promise<WebPage | undefined> {
  const { lines: ordered } = (await findLinkedOrder(deps, token)).whole
  const reason = (fields.get('reason') ?? '').trim()
  const key = fields.get('key') ?? ''
  const lines = ordered.flatMap(({ id: lineId }) => {
    const quantity = Number(fields.get(`quantity.${lineId}`) ?? 0)
    return quantity === 0 ? [] : [{ lineId, quantity, reason }]
  })
  const isValid = lines.every(({ quantity }) => Number.isSafeInteger(quantity) && quantity > 0)
  if (!isValid || lines.length === 0 || key === '' || reason === '' || reason.length > reasonMax) return orderPage(deps, token, true)
  try {
    await once(key, (write) => requestReturnByLink(deps, token, lines, write))
    return undefined
  } catch (error) {
    if (error instanceof AppError && (error.kind === 'CONFLICT' || error.kind === 'INVALID')) return orderPage(deps, token, true)
    throw error
  }
}

/**
 * Renders the receipt of a sale.
 * @throws AppError NOT_FOUND, also for an order that was never paid
 */
export async function receiptPage(deps: Deps, token: string): Promise<WebPage> {
  const { order, seller, shopId } = await loadPublicOrder(deps, token)
  if (order.receiptUrl === null) throw new AppError('NOT_FOUND', 'The order has no receipt, because it was not paid')
  const { look } = await readAppearance(deps, shopId)
  return webPage(look, { title: look.words.say.receiptOf(order.number), body: receiptHtml(order, seller, look.words) })
}
