/** The page on which a shopper withdraws the consent to mails about abandoned carts. */
import { locking } from '../../../core/command-context.ts'
import { normalMailAddress } from '../../../lib/mail-address.ts'
import { escapeHtml } from '../../../lib/markup.ts'
import { changeCustomer, findCustomerByEmail, findCustomerById } from '../../customers/customer/index.ts'
import type { OneTimeToken } from '../../identity/one-time-token/domain.ts'
import { findToken, isSentTo } from '../../identity/one-time-token/index.ts'
import { readAppearance, type WebPage, webPage } from '../../messaging/mail/index.ts'
import { contextOf, readShop } from '../../shop/shop/index.ts'
import { findCart } from '../cart/index.ts'
import type { AbandonedCartDeps as Deps } from './service.ts'

async function pageOf(deps: Deps, token: string, isDone: boolean): Promise<WebPage> {
  const found = await findToken(deps.db.read, deps, 'CART_RECOVERY', token)
  const { look } = await readAppearance(deps, found?.shopId ?? null)
  const { say } = look.words
  if (!found) return webPage(look, { title: say.linkOver, body: `<p>${escapeHtml(say.linkOverText)}</p>` })
  if (isDone) {
    await withdrawConsent(deps, found)
    return webPage(look, { title: say.unsubscribe, body: `<p>${escapeHtml(say.unsubscribed)}</p>` })
  }
  const form = `<form method="post">\n<button>${escapeHtml(say.unsubscribe)}</button>\n</form>`
  const body = `<p>${escapeHtml(say.unsubscribeText(look.title))}</p>\n${form}`
  return webPage(look, { title: say.unsubscribe, body, posts: true })
}

/** Renders the page of a link. Opening it changes nothing, because mail scanners open every link. */
export const openUnsubscribePage = (deps: Deps, token: string): Promise<WebPage> => pageOf(deps, token, false)

/** Withdraws the consent of the person whom the link was mailed to. Repeats change nothing. */
export const unsubscribe = (deps: Deps, token: string): Promise<WebPage> => pageOf(deps, token, true)

/** Withdraws the consent at the cart, at other open carts of the same address, and at its customer account. */
async function withdrawConsent(deps: Deps, token: OneTimeToken): Promise<void> {
  const cart = await findCart(deps, token.subjectId)
  if (!cart) return
  const { shopId, customerId } = cart
  const addresses = cart.email === null ? await deps.abandonedCartStore.orderEmailsOf(cart.id) : [cart.email]
  const email = addresses.find((address) => isSentTo(token, address))
  await deps.db.write((tx) => deps.abandonedCartStore.withdraw(tx, cart, email && normalMailAddress(email)), locking)
  const ofAddress = email === undefined ? undefined : await findCustomerByEmail(deps, { id: shopId }, email)
  const customer = ofAddress ?? (customerId === null ? undefined : await findCustomerById(deps, shopId, customerId))
  if (!customer?.acceptsMarketing || !isSentTo(token, customer.email)) return
  const by = { shop: contextOf(await readShop(deps, shopId)), actor: { id: 'shopper' } }
  await changeCustomer(deps, by, customer.id, { acceptsMarketing: false })
}
