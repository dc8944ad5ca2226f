import type { Writer } from '../../../../db/engine.ts'
import { type CommandContext, withLocks } from '../../../core/command-context.ts'
import { assertVersion } from '../../../core/versions.ts'
import { isSameValue, type Optional, withoutUndefined } from '../../../lib/objects.ts'
import { distinctTags } from '../../../lib/search-terms.ts'
import { normalEmail } from '../../identity/auth/domain.ts'
import { invalidateTokens } from '../../identity/one-time-token/index.ts'
import { notifyAccountChange } from '../../messaging/mail/index.ts'
import { enqueueMessage } from '../../messaging/webhook/index.ts'
import { differenceOf } from '../../operations/audit/domain.ts'
import { audited } from '../../operations/audit/index.ts'
import { type Customer, type Profile, type StaffCustomerView, staffCustomerView } from './domain.ts'
import type { CustomerDeps } from './providers.ts'
import { assertNotErased, emailTaken, noSuchCustomer, type Shop } from './service.ts'

type CustomerChange = Optional<Profile & Pick<Customer, 'email' | 'note' | 'tags'>>
const auditedFields = ['acceptsMarketing', 'emailProvenAt'] as const
/** Fields whose names the message of a change lists. */
const messageFields = ['email', 'name', 'phone', 'acceptsMarketing', 'note', 'tags'] as const satisfies readonly (keyof Customer)[]

/**
 * Ends what a customer's former e-mail address could do: tokens mailed to it. Notifies the account's owner at that
 * address.
 */
export async function dropFormerEmail(tx: Writer, deps: CustomerDeps, { id, shopId, email, passwordHash }: Customer): Promise<void> {
  await invalidateTokens(tx, deps, 'EMAIL_VERIFY', id)
  await invalidateTokens(tx, deps, 'PASSWORD_RESET', id)
  if (passwordHash !== null) await notifyAccountChange(tx, deps, { shopId, to: email, what: 'email' })
}

/** Queues the webhook of a changed customer, with the names of the changed fields only. */
export const notifyCustomerChanged = (tx: Writer, deps: CustomerDeps, before: Customer, after: Customer): Promise<void> =>
  enqueueMessage(tx, deps, {
    shopId: after.shopId,
    event: 'customer.updated',
    key: `customer.updated:${after.id}:${after.version}`,
    data: { customerId: after.id, changed: messageFields.filter((field) => !isSameValue(before[field], after[field])) },
  })

/** Returns the audited difference of a customer; of personal values only that they changed. */
export const changedCustomerDifference = (before: Customer, after: Customer) => {
  const withoutPassword = ({ passwordHash: _, ...rest }: Customer) => rest
  return differenceOf(withoutPassword(before), withoutPassword(after), auditedFields)
}

/**
 * Changes a customer on the shop's behalf; undefined keeps a field. A new e-mail address is unproven. Writes nothing if
 * nothing changes.
 * @returns the customer with their version
 * @throws AppError NOT_FOUND, PRECONDITION_FAILED; CONFLICT for an erased customer or a taken address
 */
export function changeCustomer(
  deps: CustomerDeps,
  by: CommandContext<Shop>,
  id: string,
  { email, note, tags, ...profile }: CustomerChange,
): Promise<StaffCustomerView & { version: number }> {
  const { customerStore: store, clock } = deps
  const { shop, expected } = by
  return audited(deps, withLocks(deps, by), { action: 'customer.changed', subject: id }, async (tx, setDifference) => {
    const before = await store.lock(tx, id)
    if (before?.shopId !== shop.id) throw noSuchCustomer()
    assertVersion(expected, before.version)
    assertNotErased(before, shop)
    const wanted: Partial<Customer> = withoutUndefined({
      ...profile,
      email: email === undefined ? undefined : normalEmail(email),
      note: note === undefined ? undefined : note?.trim() || null,
      tags: tags && distinctTags(tags),
    })
    const viewOf = async (customer: Customer) => ({
      ...staffCustomerView(customer, shop.currency, await store.summaryOf(id, shop.mode, tx)),
      version: customer.version,
    })
    if (isSameValue({ ...before, ...wanted }, before)) {
      setDifference({ before: null, after: null })
      return viewOf(before)
    }
    const hasNewEmail = wanted.email !== undefined && wanted.email !== before.email
    if (hasNewEmail) await dropFormerEmail(tx, deps, before)
    const after = await store.change(tx, id, { ...wanted, ...(hasNewEmail ? { emailProvenAt: null } : {}), updatedAt: clock.now() })
    if (!after) throw noSuchCustomer()
    await notifyCustomerChanged(tx, deps, before, after)
    setDifference(changedCustomerDifference(before, after))
    return viewOf(after)
  }).catch(emailTaken)
}
