import { AppError } from '../../../core/errors.ts'
import { type MailDeps, readAppearance, type WebPage, webPage } from '../../messaging/mail/index.ts'
import { readShop } from '../../shop/shop/index.ts'
import { type FullOrder, type OrderDeps, readFullOrder } from '../order/index.ts'
import { orderHtml, receiptHtml, type Seller } from './html-pages.ts'
import { type PublicOrder, publicOrderView } from './public-order.ts'

type Deps = OrderDeps & MailDeps

const notThere = () => new AppError('NOT_FOUND', 'There is no such order')

async function found(deps: Deps, token: string): Promise<{ whole: FullOrder; publicUrl: string }> {
  const links = await deps.orderLinks.ready()
  const orderId = links.orderIdOf(token)
  const whole = orderId === undefined ? undefined : await readFullOrder(deps, orderId)
  if (!whole) throw notThere()
  return { whole, publicUrl: links.urlOf(whole.order.id) }
}

async function shown(deps: Deps, token: string): Promise<{ order: PublicOrder; seller: Seller; shopId: string }> {
  const { whole, publicUrl } = await found(deps, token)
  const { shopId } = whole.order
  const { name, title, logoUrl, address, contact, timeZone } = await readShop(deps, shopId)
  return {
    order: publicOrderView(whole, { publicUrl, shop: { name, title, logoUrl } }),
    seller: { title, address, contact, timeZone },
    shopId,
  }
}

/**
 * Finds the order of a link.
 * @throws AppError NOT_FOUND for every invalid token
 */
export const orderByLink = async (deps: Deps, token: string): Promise<PublicOrder> => (await shown(deps, token)).order

/**
 * Renders the page of a link.
 * @throws AppError NOT_FOUND
 */
export async function orderPage(deps: Deps, token: string): Promise<WebPage> {
  const { order, seller, shopId } = await shown(deps, token)
  const { look } = await readAppearance(deps, shopId)
  return webPage(look, { title: look.words.say.orderTitle(order.number), body: orderHtml(order, seller, look.words) })
}

/**
 * Renders the receipt of a sale.
 * @throws AppError NOT_FOUND, also for an order that was never paid
 */
export async function receiptPage(deps: Deps, token: string): Promise<WebPage> {
  const { order, seller, shopId } = await shown(deps, token)
  if (order.receiptUrl === null) throw new AppError('NOT_FOUND', 'The order was not paid: it has no receipt')
  const { look } = await readAppearance(deps, shopId)
  return webPage(look, { title: look.words.say.receiptOf(order.number), body: receiptHtml(order, seller, look.words) })
}
