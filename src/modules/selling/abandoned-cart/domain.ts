import type { MailData } from '../../messaging/mail/domain.ts'
import type { Cart } from '../cart/domain.ts'

/** A cart counts as abandoned after this time without a change. */
export const abandonedAfterMs = 60 * 60 * 1000
/** Older carts get no mail, so that a shop that turns it on, or a restart, mails no carts of last week. */
export const mailWindowMs = 24 * 60 * 60 * 1000

/** Returns whether a cart may be mailed: open, not a draft, with an address and consent. Lines are checked apart. */
const acceptsMail = (
  cart: Pick<Cart, 'status' | 'expiresAt' | 'draft' | 'email' | 'acceptsMarketing'>,
  now: number,
): cart is typeof cart & { email: string } =>
  cart.status === 'OPEN' && cart.expiresAt > now && cart.draft === null && cart.email !== null && cart.acceptsMarketing

/**
 * Decides about a queued mail: `send`, `drop`, or `wait` until the cart has been unchanged again. A cart that changed
 * has a shopper who came back, and perhaps another address, which its own quota protects.
 * @param isFirst no earlier attempt can have reached the shopper
 */
export function decideMail(
  cart: Cart | undefined,
  { to, data, isFirst }: { to: string; data: Pick<MailData['abandoned-cart'], 'updatedAt'>; isFirst: boolean },
  now: number,
): 'send' | 'drop' | 'wait' {
  if (!cart || !acceptsMail(cart, now)) return 'drop'
  if (cart.updatedAt === data.updatedAt && cart.email === to) return 'send'
  return isFirst ? 'wait' : 'drop'
}
