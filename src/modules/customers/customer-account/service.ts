import type { Writer } from '../../../../db/engine.ts'
import { type Actor, locking } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { type Page, type PageSlice, pageOf } from '../../../lib/page.ts'
import { customerAccount, limitsByAddress, tokenByAddress } from '../../identity/auth/domain.ts'
import { checkPassword, countAttempt, countFailure } from '../../identity/auth/index.ts'
import type { OneTimeToken } from '../../identity/one-time-token/domain.ts'
import { findToken, isSentTo, issueToken, spendToken } from '../../identity/one-time-token/index.ts'
import { queueMail, sendsMail } from '../../messaging/mail/index.ts'
import { audit } from '../../operations/audit/index.ts'
import { type OrderView, readOrder } from '../../selling/order/index.ts'
import type { PageAction } from '../account-page/index.ts'
import { accountOf, findCustomerById, joinRemainingOrders, listOrderIds, lockCustomer, recordAddressProof } from '../customer/index.ts'
import type { CustomerAccountDeps } from './deps.ts'
import { verifyByAddress, verifyByCustomer, verifyByMail } from './domain.ts'

const noSuchCustomer = () => new AppError('NOT_FOUND', 'No such customer')
/** The same for every cause, and not 401, which a storefront would take for an expired access token. */
const invalidLink = () => new AppError('NOT_FOUND', 'The link is invalid or has expired. Request a new one', { code: 'invalid_link' })

/** Lists a customer's orders, newest first. The cost does not depend on the orders of earlier pages. */
export async function listOwnOrders(
  deps: CustomerAccountDeps,
  { id: shopId }: Pick<ShopContext, 'id'>,
  customerId: string,
  slice: PageSlice,
): Promise<Page<OrderView>> {
  const { orderIds, total } = await listOrderIds(deps, { id: shopId }, customerId, slice)
  const orders = await Promise.all(orderIds.map((id) => readOrder(deps, { shopId, customerId }, id)))
  return pageOf(orders, total, slice)
}

type CustomerActor = { readonly shopId: string; readonly actor: Actor }

/**
 * Mails a customer a link that proves their address. Does nothing if it is proven or no mail server is configured.
 * @param limitKey the rate-limit key of the caller
 * @throws AppError NOT_FOUND, RATE_LIMITED
 */
export async function sendVerification(deps: CustomerAccountDeps, { shopId, actor }: CustomerActor, limitKey: string): Promise<void> {
  const customer = await findCustomerById(deps, shopId, actor.id)
  if (!customer) throw noSuchCustomer()
  if (customer.emailProvenAt !== null) return
  // Limits both, because an account can change its address, and an address can have several accounts.
  const mailbox = customerAccount(shopId, customer.email)
  await countAttempt(deps, [[verifyByCustomer, customer.id], [verifyByMail, mailbox], ...limitsByAddress(verifyByAddress, limitKey)])
  if (!sendsMail(deps)) return
  await deps.db.write(async (tx) => {
    const { id: subjectId, email } = (await lockCustomer(tx, deps, customer.id)) ?? customer
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

const findVerifyToken = (deps: CustomerAccountDeps, token: string): Promise<OneTimeToken | undefined> =>
  findToken(deps.db.read, deps, 'EMAIL_VERIFY', token)

/**
 * Proves the caller's e-mail address with a mailed token, and joins their guest orders. A token of another account
 * proves nothing.
 * @throws AppError NOT_FOUND for an invalid token, for every cause; RATE_LIMITED
 */
export async function verifyOwnAddress(
  deps: CustomerAccountDeps,
  { shopId, actor }: CustomerActor,
  token: string,
  limitKey: string,
): Promise<void> {
  const found = await countFailure(deps, limitsByAddress(tokenByAddress, limitKey), async () => {
    const record = await findVerifyToken(deps, token)
    return record?.subjectId === actor.id && record.shopId === shopId ? record : undefined
  })
  if (!found) throw invalidLink()
  await proveAddress(deps, { shopId, actor }, token)
}

async function proveAddress(deps: CustomerAccountDeps, { shopId, actor }: CustomerActor, token: string): Promise<void> {
  const isMore = await deps.db.write(async (tx: Writer) => {
    const customer = await lockCustomer(tx, deps, actor.id)
    // Of two concurrent uses one succeeds, and none if the address changed meanwhile.
    const spent = customer && (await spendToken(tx, deps, 'EMAIL_VERIFY', token))
    if (!spent || !isSentTo(spent, customer.email)) throw invalidLink()
    await audit(tx, deps, {
      actor,
      action: 'customer.email_verified',
      subject: customer.id,
      shopId,
      before: { emailVerified: customer.emailProvenAt !== null },
      after: { emailVerified: true },
    })
    return recordAddressProof(tx, deps, customer, actor)
  }, locking)
  if (isMore) await joinRemainingOrders(deps, actor, actor)
}

/**
 * Returns the verification page, which asks for the password because the visitor is not logged in. A stranger may have
 * used another person's address: its owner does not know the password and cannot give the stranger their orders.
 */
export const createVerifyAction = (deps: CustomerAccountDeps): PageAction => ({
  findLink: (token) => findVerifyToken(deps, token),
  async act({ token, password }, { limitKey: address, ...from }) {
    const found = await countFailure(deps, limitsByAddress(tokenByAddress, address), () => findVerifyToken(deps, token))
    const shopId = found?.shopId
    if (!found || !shopId) return 'over'
    const customer = await findCustomerById(deps, shopId, found.subjectId)
    if (!customer || !isSentTo(found, customer.email)) return 'over'
    const actor = { ...from, id: customer.id }
    try {
      await checkPassword(
        deps,
        accountOf(shopId, customer.email, customer),
        { address, password },
        { accountId: customer.id, shopId, from: actor },
      )
      await proveAddress(deps, { shopId, actor }, token)
      return 'done'
    } catch (error) {
      if (error instanceof AppError && error.kind === 'UNAUTHENTICATED') return 'refused'
      if (error instanceof AppError && error.kind === 'NOT_FOUND') return 'over'
      throw error
    }
  },
})
