import type { Writer } from '../../../../db/engine.ts'
import { type Actor, locking } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { type Page, pageOf, type Slice } from '../../../lib/page.ts'
import { byAddress, customerAccount, tokenByAddress } from '../../identity/auth/domain.ts'
import { checkPassword, countAttempt, countFailure } from '../../identity/auth/index.ts'
import type { OneTimeToken } from '../../identity/one-time-token/domain.ts'
import { issueToken, lookAtToken, spendToken, wasSentTo } from '../../identity/one-time-token/index.ts'
import { queueMail, sendsMail } from '../../messaging/mail/index.ts'
import { audit } from '../../operations/audit/index.ts'
import { type OrderView, readOrder } from '../../selling/order/index.ts'
import type { PageAction } from '../account-page/index.ts'
import { accountOf, customerWithId, customerWithin, joinTheRest, noteAddressProven, orderIdsOf } from '../customer/index.ts'
import type { CustomerAccountDeps } from './deps.ts'
import { verifyByAddress, verifyByCustomer, verifyByMail } from './domain.ts'

const noSuchCustomer = () => new AppError('NOT_FOUND', 'No such customer')
/** One for every cause, and no 401: a storefront would take that for an access token that ran out. */
const linkOver = () => new AppError('NOT_FOUND', 'The link is not good (any more): ask for a new one')

/** A customer's own orders, newest first, as each of them is answered to them. What it costs does not grow with the orders before the page. */
export async function ownOrders(
  deps: CustomerAccountDeps,
  { id: shopId }: Pick<ShopContext, 'id'>,
  customerId: string,
  slice: Slice,
): Promise<Page<OrderView>> {
  const { orderIds, total } = await orderIdsOf(deps, { id: shopId }, customerId, slice)
  const orders = await Promise.all(orderIds.map((id) => readOrder(deps, { shopId, customerId }, id)))
  return pageOf(orders, total, slice)
}

type Own = { readonly shopId: string; readonly actor: Actor }

/**
 * Has a mail sent to a customer's own address, by whose link they show that they read it. Nothing where it is proven already, and where no
 * mails are sent.
 * @param limitKey what the caller is limited by
 * @throws AppError NOT_FOUND, RATE_LIMITED
 */
export async function sendVerification(deps: CustomerAccountDeps, { shopId, actor }: Own, limitKey: string): Promise<void> {
  const customer = await customerWithId(deps, shopId, actor.id)
  if (!customer) throw noSuchCustomer()
  if (customer.emailProvenAt !== null) return
  // An account may have many addresses one after the other, and an address many accounts: nobody is sent mails without end by either.
  const mailbox = customerAccount(shopId, customer.email)
  await countAttempt(deps, [[verifyByCustomer, customer.id], [verifyByMail, mailbox], ...byAddress(verifyByAddress, limitKey)])
  if (!sendsMail(deps)) return
  await deps.db.write(async (tx) => {
    const { id: subjectId, email } = (await customerWithin(tx, deps, customer.id)) ?? customer
    const token = await issueToken(tx, deps, { purpose: 'EMAIL_VERIFY', subjectId, shopId, email })
    await queueMail(tx, deps, {
      key: `email-verify:${deps.newId('mail')}`,
      shopId,
      to: email,
      template: 'email-verify',
      data: { token },
      cause: limitKey,
    })
  })
}

const tokenOf = (deps: CustomerAccountDeps, token: string): Promise<OneTimeToken | undefined> =>
  lookAtToken(deps.db.read, deps, 'EMAIL_VERIFY', token)

/**
 * Proves the e-mail address of the customer who asks, by a token that was sent there, and makes what they bought with it as a guest theirs.
 * Somebody else's token proves nothing: who clicks on a link in a mail that another has asked for gives that one nothing.
 * @throws AppError NOT_FOUND for a token that is not good, whatever the cause; RATE_LIMITED for too many of these
 */
export async function verifyOwn(deps: CustomerAccountDeps, { shopId, actor }: Own, token: string, limitKey: string): Promise<void> {
  const found = await countFailure(deps, byAddress(tokenByAddress, limitKey), async () => {
    const one = await tokenOf(deps, token)
    return one?.subjectId === actor.id && one.shopId === shopId ? one : undefined
  })
  if (!found) throw linkOver()
  await prove(deps, { shopId, actor }, token)
}

async function prove(deps: CustomerAccountDeps, { shopId, actor }: Own, token: string): Promise<void> {
  const isMore = await deps.db.write(async (tx: Writer) => {
    const customer = await customerWithin(tx, deps, actor.id)
    // Of two who have it one goes on, and none whose address is another by now.
    const spent = customer && (await spendToken(tx, deps, 'EMAIL_VERIFY', token))
    if (!spent || !wasSentTo(spent, customer.email)) throw linkOver()
    await audit(tx, deps, {
      actor,
      action: 'customer.email_verified',
      subject: customer.id,
      shopId,
      before: { emailVerified: customer.emailProvenAt !== null },
      after: { emailVerified: true },
    })
    return noteAddressProven(tx, deps, customer, actor)
  }, locking)
  if (isMore) await joinTheRest(deps, actor, actor)
}

/**
 * The same from our own page, where nobody is logged in: with the password of the account. A stranger may have opened an account with somebody
 * else's address: whoever gets its mail does not know the password, and cannot hand the stranger their orders.
 */
export const verifyAction = (deps: CustomerAccountDeps): PageAction => ({
  isGood: (token) => tokenOf(deps, token),
  async act({ token, password }, { limitKey: address, ...from }) {
    const found = await countFailure(deps, byAddress(tokenByAddress, address), () => tokenOf(deps, token))
    const shopId = found?.shopId
    if (!found || !shopId) return 'over'
    const customer = await customerWithId(deps, shopId, found.subjectId)
    if (!customer || !wasSentTo(found, customer.email)) return 'over'
    const actor = { ...from, id: customer.id }
    try {
      await checkPassword(
        deps,
        accountOf(shopId, customer.email, customer),
        { address, password },
        { accountId: customer.id, shopId, from: actor },
      )
      await prove(deps, { shopId, actor }, token)
      return 'done'
    } catch (error) {
      if (error instanceof AppError && error.code === 'UNAUTHENTICATED') return 'refused'
      if (error instanceof AppError && error.code === 'NOT_FOUND') return 'over'
      throw error
    }
  },
})
